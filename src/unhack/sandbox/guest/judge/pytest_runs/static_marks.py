"""Skips and expected failures that a suite's own text decides, before any solution is asked.

    @pytest.mark.skip(reason=...)                 decided
    @pytest.mark.skipif(sys.version_info < ...)   decided: it names `sys`, `os`, `platform` alone
    @pytest.mark.skipif(not hasattr(solution, "f"))   left to the solution: not decided
    pytest.skip() in a test                       not decided

Covered: decorators of functions and classes, `pytestmark`, marks in `pytest.param`, the decorators
of `unittest`.
Not covered: marks that code adds, under an `if`, in a loop or in a hook; they decide nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

_MARKS = {
    "skip": "skip",
    "skipif": "skip",
    "skipIf": "skip",
    "skipUnless": "skip",
    "xfail": "xfail",
    "expectedFailure": "xfail",
}
_CONDITION_NAMES = frozenset({"sys", "os", "platform", "pytest", "unittest", "True", "False"})
_UNFIXED = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp)
_UNFIXED_TOO = (ast.GeneratorExp, ast.NamedExpr, ast.Starred, ast.Await, ast.JoinedStr)


def static_marks(source: str) -> dict[str, frozenset[str]]:
    """`function` or `Class.function` of a test file -> which of `skip` and `xfail` its text
    decides. An empty mapping for a text that is no Python."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return dict(_marks_in(body, "", frozenset()))


def _marks_in(
    body: list[ast.stmt], prefix: str, outer: frozenset[str]
) -> Iterator[tuple[str, frozenset[str]]]:
    for item in body:
        if isinstance(item, ast.Assign) and [
            target.id for target in item.targets if isinstance(target, ast.Name)
        ] == ["pytestmark"]:
            listed = isinstance(item.value, (ast.List, ast.Tuple))
            outer |= _decided(item.value.elts if listed else [item.value])  # type: ignore[union-attr]
    for item in body:
        if isinstance(item, ast.ClassDef):
            found = outer | _decided(item.decorator_list)
            yield from _marks_in(item.body, f"{prefix}{item.name}.", found)
        elif isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + item.name, outer | _decided(item.decorator_list)


def _decided(expressions: Iterable[ast.expr]) -> frozenset[str]:
    """The marks among some decorators, of which every one is fixed by the text."""
    found: set[str] = set()
    left: set[str] = set()
    for expression in expressions:
        fixed = not any(isinstance(n, _UNFIXED + _UNFIXED_TOO) for n in ast.walk(expression))
        for node in ast.walk(expression):
            name = node.attr if isinstance(node, ast.Attribute) else ""
            kind = _MARKS.get(name)
            if kind is not None:
                (found if fixed and _is_fixed(expression, node) else left).add(kind)
    return frozenset(found - left)


def _is_fixed(expression: ast.expr, mark: Any) -> bool:
    """True for a mark without a condition, or with one that names nothing of the solution."""
    call = next(
        (n for n in ast.walk(expression) if isinstance(n, ast.Call) and n.func is mark), None
    )
    if call is None:
        return True
    conditions = [] if mark.attr in ("skip", "expectedFailure") else [*call.args]
    conditions += [item.value for item in call.keywords if item.arg in ("condition", None)]
    return all(map(_is_fixed_condition, conditions))


def _is_fixed_condition(condition: ast.expr) -> bool:
    for node in ast.walk(condition):
        if isinstance(node, ast.Name) and node.id not in _CONDITION_NAMES:
            return False
        if isinstance(node, ast.Attribute) and node.attr == "modules":
            return False
        if condition is node and isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                inner = ast.parse(node.value, mode="eval").body
            except (SyntaxError, ValueError):
                return True  # a reason; as a condition pytest refuses it
            if isinstance(inner, ast.Name) or not _is_fixed_condition(inner):
                return False
    return True
