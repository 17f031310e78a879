"""Sequences of steps: objects and functions, used one after the other and compared step by step.

A sequence is run by a function that is added to the program. Each step gives what its call gave,
or that it raised; the kind of exception is a matter of taste.

Covered: one object a sequence, made and used in order, and single calls of further functions;
iterators, as their first items.
Not covered: several objects that meet, and attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hypothesis import strategies as st

from unhack.audit.oracle.domain import draw_calls, sample, values_like
from unhack.audit.subject import Call, Step

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
