"""Tests whose every check may be passed by: each stands in a loop or a condition that may not run.

    python tests/quality/reach.py [FOLDER ...]

names them for the folders (default: all tests). A check is an `assert`, a block of `pytest.raises`
or `pytest.warns`, a call of something like `torch.testing.assert_close`, or one of a function of
the same file that asserts. It surely runs

- at the top of a test, and in a `with`, a `try` or a `finally` that surely runs, and where a `try`
  checks in its `else` and in every handler;
- in an `if` both of whose branches surely check, in a `match` with a case for anything whose cases
  all do, and in `while True`;
- in a `for` over what cannot be empty: a literal with an item, `range` of a positive number,
  `enumerate`, `zip` and the like of such (of one of them where it is strict), and a name that the
  file, the test or its parametrisation binds to nothing but such values.

Covered: functions that pytest collects, by their text. Not covered: tests without any check, and
loops of fixtures and of helpers in other files.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

if __package__:
    from .source_roots import ROOT, roots_of_tests
else:  # run as a program
    from source_roots import ROOT, roots_of_tests

Function = ast.FunctionDef | ast.AsyncFunctionDef
_CHECKING_BLOCKS = {"raises", "warns", "deprecated_call"}
_KEEP_ITEMS = {"enumerate", "reversed", "sorted", "list", "tuple", "set", "iter", "frozenset"}
_KEEP_ITEMS_OF_ALL = {"zip", "product"}
_VIEWS = {"items", "keys", "values"}


class Values:
    """The values that names of a file are bound to; None stands for any."""

    def __init__(self, tree: ast.Module) -> None:
        self.bound: dict[str, list[ast.expr | None]] = {}
        self.functions = {node.name: node for node in tree.body if isinstance(node, Function)}
        for node in tree.body:
            self._bind(node)

    def within(self, test: Function) -> Values:
        """The values inside a test: its parameters and its own names hide those of the file."""
        inner = Values(ast.Module([], []))
        inner.bound = dict(self.bound)
        inner.functions = self.functions
        spec = test.args
        for item in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            inner.bound[item.arg] = [None]
        for name, values in _parametrised(test):
            inner.bound[name] = values
        own = Values(ast.Module([], []))
        for node in ast.walk(test):
            own._bind(node)
        inner.bound |= own.bound
        return inner

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign) and all(isinstance(one, ast.Name) for one in node.targets):
            for one in node.targets:
                self.bound.setdefault(one.id, []).append(node.value)  # type: ignore[attr-defined]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            self.bound.setdefault(node.target.id, []).append(node.value)
        else:
            for name in _targets(node):
                self.bound.setdefault(name, []).append(None)

    def not_empty(self, node: ast.expr | None) -> bool:
        """True where an iteration over it has a first item, whatever else happens."""
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                return any(
                    self.not_empty(item.value) if isinstance(item, ast.Starred) else True
                    for item in items
                )
            case ast.Dict(keys=keys, values=values):
                return any(
                    key is not None or self.not_empty(value)
                    for key, value in zip(keys, values, strict=True)
                )
            case ast.Constant(value=str() | bytes() as text):
                return bool(text)
            case ast.Name(id=name):
                values = self.bound.get(name, [None])
                self_less = [value for value in values if value is not node]
                return all(self.not_empty(value) for value in self_less)
            case ast.Call(func=ast.Attribute(value=ast.Dict() | ast.Name() as held, attr=attr)):
                if attr in _VIEWS and not node.args:
                    return self.not_empty(held)
                return attr in _KEEP_ITEMS_OF_ALL and all(map(self.not_empty, node.args))
            case ast.Call(func=ast.Name(id="range"), args=arguments):
                return _is_long(arguments)
            case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _KEEP_ITEMS:
                return self.not_empty(first)
            case ast.Call(func=ast.Name(id=name), args=[_, *_]) if name in _KEEP_ITEMS_OF_ALL:
                strict = any(ast.unparse(one) == "strict=True" for one in node.keywords)
                return (any if strict else all)(map(self.not_empty, node.args))
            case ast.BinOp(left=left, op=ast.Add() | ast.BitOr(), right=right):
                return self.not_empty(left) or self.not_empty(right)
            case ast.ListComp(generators=[one]) | ast.DictComp(generators=[one]):
                return not one.ifs and self.not_empty(one.iter)
            case _:
                return False


def _targets(node: ast.AST) -> Iterator[str]:
    """Names that a statement other than a plain assignment binds, or changes in place."""
    holders: list[ast.AST] = []
    if isinstance(node, ast.Assign):
        holders = list(node.targets)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension, ast.AugAssign, ast.NamedExpr)):
        holders = [node.target]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        holders = [item.optional_vars for item in node.items if item.optional_vars is not None]
    elif isinstance(node, ast.Delete):
        holders = list(node.targets)
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("clear", "pop", "remove", "popitem", "discard")
    ):
        holders = [node.func.value]
    for holder in holders:
        for inner in ast.walk(holder):
            if isinstance(inner, ast.Name):
                yield inner.id


def _is_long(arguments: list[ast.expr]) -> bool:
    """True for the arguments of a `range` that begins below its end."""
    try:
        return len(range(*map(ast.literal_eval, arguments))) > 0
    except (ValueError, TypeError):
        return False


def _parametrised(test: Function) -> Iterator[tuple[str, list[ast.expr | None]]]:
    for mark in test.decorator_list:
        if not (isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("parametrize")):
            continue
        if len(mark.args) < 2 or not isinstance(mark.args[1], (ast.List, ast.Tuple)):
            continue
        names = _names(mark.args[0])
        rows = [_row(item, len(names)) for item in mark.args[1].elts]
        for place, name in enumerate(names):
            yield name, [None if row is None else row[place] for row in rows]


def _names(node: ast.expr) -> list[str]:
    try:
        told = ast.literal_eval(node)
    except ValueError:
        return []
    return [one.strip() for one in told.split(",")] if isinstance(told, str) else list(told)


def _row(node: ast.expr, count: int) -> list[ast.expr] | None:
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.param":
        return node.args if len(node.args) == count else None
    if count == 1:
        return [node]
    return node.elts if isinstance(node, ast.Tuple) and len(node.elts) == count else None


def checks(node: ast.AST, functions: dict[str, Function]) -> bool:
    """True for a statement that is a check by itself."""
    match node:
        case ast.Assert():
            return True
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return any(
                isinstance(item.context_expr, ast.Call)
                and ast.unparse(item.context_expr.func).rpartition(".")[2] in _CHECKING_BLOCKS
                for item in items
            )
        case ast.Expr() | ast.Assign() | ast.AnnAssign() | ast.Return():
            return any(
                isinstance(call, ast.Call) and _calls_a_check(ast.unparse(call.func), functions)
                for call in ast.walk(node)
            )
        case _:
            return False


def _calls_a_check(name: str, functions: dict[str, Function]) -> bool:
    body = functions[name].body if name in functions else []
    return name.rpartition(".")[2].startswith("assert_") or any(
        isinstance(one, ast.Assert) for one in body
    )


def surely_checks(body: Iterable[ast.stmt], values: Values) -> bool:
    """True where one of the statements is a check that runs."""
    return any(_surely(node, values) for node in body)


def _surely(node: ast.stmt, values: Values) -> bool:
    if checks(node, values.functions):
        return True
    match node:
        case ast.With() | ast.AsyncWith():
            return surely_checks(node.body, values)
        case ast.Try():
            ways = [node.orelse, *(handler.body for handler in node.handlers)]
            return surely_checks([*node.body, *node.finalbody], values) or all(
                surely_checks(way, values) for way in ways
            )
        case ast.For() | ast.AsyncFor():
            runs = values.not_empty(node.iter)
            return surely_checks(node.orelse, values) or (runs and surely_checks(node.body, values))
        case ast.While(test=ast.Constant(value=always)):
            return bool(always) and surely_checks(node.body, values)
        case ast.If():
            return surely_checks(node.body, values) and surely_checks(node.orelse, values)
        case ast.Match():
            last = node.cases[-1]
            whole = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
            return whole and all(surely_checks(case.body, values) for case in node.cases)
        case _:
            return False


def _inside(test: Function) -> Iterator[ast.AST]:
    """What stands in a test, but in no function of its own."""
    waiting: list[ast.AST] = list(test.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (Function, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)


def passed_by(source: str) -> list[str]:
    """`line: name` of the tests of a file that have checks, none of which surely runs."""
    tree = ast.parse(source)
    values = Values(tree)
    found: list[str] = []
    for top in tree.body:
        for test in top.body if isinstance(top, ast.ClassDef) else [top]:
            if not isinstance(test, Function) or not test.name.startswith("test"):
                continue
            if any(checks(node, values.functions) for node in _inside(test)) and not surely_checks(
                test.body, values.within(test)
            ):
                found.append(f"{test.lineno}: {test.name}")
    return found


def main() -> None:
    """Print them."""
    for folder in sys.argv[1:] or map(str, roots_of_tests()):
        for path in sorted(Path(folder).rglob("test_*.py")):
            for line in passed_by(path.read_text()):
                print(f"{path.relative_to(ROOT)}:{line}")


if __name__ == "__main__":
    main()
