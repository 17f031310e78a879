"""The calls on which a problem's programs are compared.

In this order: the known calls; calls of the user's own generator, where there is one; otherwise
calls inferred from the known ones or from the examples of the prompt; without any, values of the
reference's type hints.

Covered: functions with positional arguments; generators of our task format, run sealed.
Not covered: inputs that nothing describes: then only the known calls are used.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from unhack.audit.oracle.domain import draw_calls, sample
from unhack.audit.oracle.entry_points import definition_of
from unhack.audit.oracle.examples import examples_of
from unhack.audit.subject import AuditProblem, Call
from unhack.sandbox.job import Backend, Kind, Profile, Role
from unhack.sandbox.limits import Limits
from unhack.tasks.fresh import call_all
from unhack.tasks.rows import RowError, call_of, stdin_of
from unhack.verifiers.jobs import Answer

_DRAW = """

def _unhack_draw(seed):
    import random
    return generate(random.Random(seed))
"""
_SMALL, _MAX_ITEMS = 20, 6


def inputs_of(
    problem: AuditProblem,
    *,
    count: int,
    seed: int,
    limits: Limits,
    backend: Backend,
    free: bool = False,
) -> list[Call]:
    """The known calls, then at most `count` others. What others expect is not known.
    `free` as in `domain.draw_calls`.

    Raises SandboxError, SandboxUnavailableError.
    """
    known = list(problem.calls)
    drawn: list[Call] = []
    if problem.generator:
        drawn = _from_generator(problem, count=count, seed=seed, limits=limits, backend=backend)
    if not drawn and problem.entry_point is not None:
        shown = known or list(examples_of(problem))
        drawn = draw_calls(shown, count=count, seed=seed, free=free)
        drawn = drawn or ([] if shown else _from_hints(problem, count=count, seed=seed))
    seen = {repr((call.args, call.kwargs)) for call in known}
    return known + [call for call in drawn if repr((call.args, call.kwargs)) not in seen]


def _from_generator(
    problem: AuditProblem, *, count: int, seed: int, limits: Limits, backend: Backend
) -> list[Call]:
    """Calls drawn by the user's generator; malformed rows are left out."""
    answers = call_all(
        problem.generator + _DRAW,
        "_unhack_draw",
        calls=[((f"{seed}/{number}",), {}) for number in range(count)],
        limits=limits,
        profile=Profile(kind=Kind.FUNCTION, role=Role.JUDGE),
        backend=backend,
    )
    found: dict[str, Call] = {}
    for answer in answers:
        if not isinstance(answer, Answer) or answer.raised is not None:
            continue
        try:
            if problem.entry_point is None:
                call = Call((stdin_of(answer.value),))
            else:
                args, kwargs = call_of(answer.value)
                call = Call(args, kwargs)
        except RowError:
            continue
        found.setdefault(repr((call.args, call.kwargs)), call)
    return list(found.values())


# Type hints: small, ordinary values, since nothing says what else is allowed.

_PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(1, _SMALL),
    "float": st.integers(1, 10 * _SMALL).map(lambda n: n / 8),
    "str": st.text("abcdexyz", min_size=1, max_size=_MAX_ITEMS),
    "bool": st.booleans(),
    "None": st.none(),
}
_LISTS = {"list", "List", "Sequence", "Iterable"}
_TUPLES, _DICTS = {"tuple", "Tuple"}, {"dict", "Dict", "Mapping"}


def _from_hints(problem: AuditProblem, *, count: int, seed: int) -> list[Call]:
    """Calls with values of the hinted types; none where a parameter has no hint that is known."""
    assert problem.entry_point is not None
    node = definition_of(problem.correct[0], problem.entry_point) if problem.correct else None
    if node is None:
        return []
    names = [*node.args.posonlyargs, *node.args.args]
    columns = [hint_strategy(item.annotation) for item in names if item.arg != "self"]
    known = [column for column in columns if column is not None]
    if not known or len(known) < len(columns):
        return []
    rows = sample(st.tuples(*known), count=count, seed=seed)
    return [Call(row) for row in {repr(row): row for row in rows}.values()]


def hint_strategy(node: ast.expr | None) -> st.SearchStrategy[Any] | None:
    """A strategy for what an annotation says; None for one that is not understood."""
    match node:
        case ast.Constant(value=None):
            return _PLAIN["None"]
        case ast.Constant(value=str() as text):
            return _quoted_hint(text)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _PLAIN.get(name)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _either([left, right])
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inside):
            parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            return _subscript_hint(name, parts)
        case _:
            return None


def _quoted_hint(text: str) -> st.SearchStrategy[Any] | None:
    try:
        return hint_strategy(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        return None


def _either(parts: Sequence[ast.expr]) -> st.SearchStrategy[Any] | None:
    found = [hint_strategy(part) for part in parts]
    known = [part for part in found if part is not None]
    return st.one_of(known) if len(known) == len(found) else None


def _subscript_hint(name: str, parts: Sequence[ast.expr]) -> st.SearchStrategy[Any] | None:
    if name == "Optional":
        return _either([*parts, ast.Constant(None)])
    if name == "Union":
        return _either(parts)
    endless = isinstance(parts[-1], ast.Constant) and parts[-1].value is Ellipsis
    inner = [hint_strategy(part) for part in (parts[:1] if endless else parts)]
    known = [part for part in inner if part is not None]
    if len(known) < len(inner):
        return None
    if name in _LISTS or (name in _TUPLES and endless):
        items = st.lists(known[0], min_size=1, max_size=_MAX_ITEMS)
        return items.map(tuple) if name in _TUPLES else items
    if name in _TUPLES:
        return st.tuples(*known)
    if name in _DICTS and len(known) == 2:
        return st.dictionaries(known[0], known[1], min_size=1, max_size=_MAX_ITEMS)
    return None
