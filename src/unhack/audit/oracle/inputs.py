"""The calls, and sequences of steps, on which a problem's programs are compared.

In this order: the known calls; calls of the user's own generator, where there is one; otherwise
calls inferred from the known ones or from the examples of the prompt; without any, values of the
reference's type hints.

A sequence uses objects and functions one after the other. It is run by a function that is added to
the program; each step gives what its call gave, or that it raised: the kind of exception is a
matter of taste.

Covered: functions with positional arguments; generators of our task format, run sealed; one object
a sequence, made and used in order, and single calls of further functions; iterators, as their
first items.
Not covered: inputs that nothing describes: then only the known calls are used; several objects that
meet, and attributes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, cast

from hypothesis import strategies as st

from unhack.audit.oracle.domain import draw_calls, sample, values_like
from unhack.audit.oracle.entry_points import definition_of
from unhack.audit.oracle.examples import examples_of
from unhack.audit.subject import AuditProblem, Call, Step
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


REPLAY = "unhack_replay"
_SOURCE = """


def unhack_replay(steps):
    from itertools import islice

    def shown(value, depth=0):
        if value is None or type(value) in (bool, int, float, str, bytes):
            return value
        if depth > 20:
            return ["deep"]
        if isinstance(value, (set, frozenset)):
            return {"set": sorted((shown(item, depth + 1) for item in value), key=repr)}
        if isinstance(value, dict):
            return {"dict": [[shown(k, depth + 1), shown(v, depth + 1)] for k, v in value.items()]}
        if isinstance(value, (list, tuple)):
            return [shown(item, depth + 1) for item in value]
        if hasattr(value, "__next__"):
            return [shown(item, depth + 1) for item in islice(value, 1000)]
        for kind in (bool, int, float, str, bytes):
            if isinstance(value, kind):
                return kind(value)
        return {"other": True}

    made, results = None, {}
    for number, (kind, name, args, kwargs) in enumerate(steps):
        try:
            if kind == "do":
                given = getattr(made, name)(*args, **kwargs)
            else:
                owner, _, last = name.rpartition(".")
                found = globals()[owner or last]
                found = getattr(found, last) if owner else found
                given = found(*args, **kwargs)
            if kind == "new":
                made, given = given, None
            results[str(number)] = {"gave": {"other": True} if given is made else shown(given)}
        except Exception:
            results[str(number)] = {"raised": True}
            if kind == "new":
                break
    return results
"""
_CALLS = 20
"""Further calls of one function that is not the entry point."""


def with_replay(source: str) -> str:
    """The program with the function `REPLAY`, which takes steps as `as_data` gives them and returns
    what each gave, by its number."""
    return source.rstrip() + _SOURCE


def as_data(steps: Sequence[Step]) -> list[Any]:
    """Steps as plain data."""
    return [[step.kind, step.name, list(step.args), dict(step.kwargs)] for step in steps]


def has_raised(results: Any) -> bool:
    """Tell whether a step raised."""
    return any("raised" in result for result in results.values())


def without_unasked(results: Any, wanted: Any) -> Any:
    """The results, with None for what a step gave where right programs give None: a caller asks for
    no result there."""
    if not isinstance(results, dict):
        return results
    given = cast("dict[str, Any]", results)
    return {
        key: wanted[key] if wanted.get(key) == {"gave": None} and "gave" in value else value
        for key, value in given.items()
    }


def step_text(step: Step) -> str:
    """A step as people write it."""
    named = [f"{key}={value!r}" for key, value in step.kwargs.items()]
    dot = "." if step.kind == "do" else ""
    return f"{dot}{step.name}({', '.join([*map(repr, step.args), *named])})"


def draw_sequences(
    known: Sequence[Sequence[Step]], *, count: int, seed: int
) -> list[tuple[Step, ...]]:
    """At most `count` further sequences like the known ones. Deterministic."""
    by_class: dict[str, list[Sequence[Step]]] = {}
    calls: dict[str, list[Call]] = {}
    for steps in known:
        if steps[0].kind == "new":
            by_class.setdefault(steps[0].name, []).append(steps)
        else:
            calls.setdefault(steps[0].name, []).append(Call(steps[0].args, steps[0].kwargs))
    found: dict[str, tuple[Step, ...]] = {}
    for sequences in by_class.values():
        strategy = _like(sequences)
        for steps in sample(strategy, count=max(1, count // len(by_class)), seed=seed):
            found.setdefault(repr(steps), steps)
    for name, some in calls.items():
        for call in draw_calls(some, count=_CALLS, seed=seed):
            found.setdefault(repr((name, call)), (Step("call", name, call.args),))
    seen = {repr(tuple(steps)) for steps in known}
    return [steps for key, steps in found.items() if key not in seen]


def _like(sequences: Sequence[Sequence[Step]]) -> st.SearchStrategy[tuple[Step, ...]]:
    """A strategy for sequences of one class: the known constructors and methods, as often as they
    are known, with arguments like the known ones."""
    first = _steps_like([steps[0] for steps in sequences])
    later = [step for steps in sequences for step in steps[1:]]
    if not later:
        return first.map(lambda step: (step,))
    longest = max(len(steps) for steps in sequences) - 1
    rest = st.lists(_steps_like(later), min_size=1, max_size=longest)
    return st.tuples(first, rest).map(lambda parts: (parts[0], *parts[1]))


def _steps_like(steps: Sequence[Step]) -> st.SearchStrategy[Step]:
    shapes: dict[tuple[str, int, tuple[str, ...]], list[Step]] = {}
    for step in steps:
        shapes.setdefault((step.name, len(step.args), tuple(step.kwargs)), []).append(step)
    made: dict[tuple[str, int, tuple[str, ...]], st.SearchStrategy[Step]] = {}
    for shape, some in shapes.items():
        columns = [values_like(list(one)) for one in zip(*(s.args for s in some), strict=True)]
        made[shape] = _one_step(some, columns)
    return st.sampled_from([made[_shape(step)] for step in steps]).flatmap(lambda one: one)


def _shape(step: Step) -> tuple[str, int, tuple[str, ...]]:
    return (step.name, len(step.args), tuple(step.kwargs))


def _one_step(
    some: Sequence[Step], columns: Sequence[st.SearchStrategy[Any]]
) -> st.SearchStrategy[Step]:
    known = st.sampled_from(list(some))
    if not columns or some[0].kwargs:
        return known
    kind, name = some[0].kind, some[0].name
    drawn = st.tuples(*columns).map(lambda args: Step(kind, name, args))
    return st.one_of(known, drawn, drawn)
