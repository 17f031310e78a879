"""Inputs of the kind that a problem's known calls have: to tell programs apart, not to break them.

What holds for every known call is kept: the types, the bounds of numbers and lengths, the letters
of strings, whether a list is sorted, without duplicates or a rectangle, whether a number stays
within the length of a list or is one of its items. So an input that the author would call invalid
is hardly drawn; what is drawn all the same and makes the reference raise is dropped by the oracle.

Covered: None, bool, int, float, str, and lists, tuples and dicts of them, as Hypothesis strategies;
a fixed number of values from a seed, without a database or a file left behind.
Not covered: relations between values that the known calls do not show; other types, which are only
reused; shrinking, as `unhack.audit.proving.grouping` shortens witnesses.
"""

from __future__ import annotations

import math
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from hypothesis import HealthCheck, Phase, Verbosity, configuration, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.internal.conjecture import providers

from unhack.audit.subject import Call

_NO_CHECKS = cast("list[HealthCheck]", list(HealthCheck))
_HOME_IS_ELSEWHERE = threading.Lock()
_READ, _FOUND = "_get_local_constants", "_local_constants"
"""Names in Hypothesis: the function that reads modules, and what it has found."""


def sample(strategy: st.SearchStrategy[Any], *, count: int, seed: int) -> list[Any]:
    """At most `count` values; the same for the same strategy and seed."""
    found: list[Any] = []
    with (
        _HOME_IS_ELSEWHERE,
        tempfile.TemporaryDirectory(prefix="unhack-") as folder,
        _without_constants(),
    ):
        before: Any = configuration.storage_directory(intent_to_write=False)
        before = getattr(before, "path", before)  # itself a path before Hypothesis 6.155
        configuration.set_hypothesis_home_dir(folder)
        try:
            _collect(strategy, found, count=count, number=seed)
        except HypothesisException:
            pass  # what was found until then counts
        finally:
            configuration.set_hypothesis_home_dir(before)
    return found


@contextmanager
def _without_constants() -> Generator[None]:
    """Keep Hypothesis from reading every loaded module for constants to draw: that takes seconds,
    and what is drawn would depend on the modules that a process happens to have loaded."""
    space = cast("dict[str, Any]", vars(providers))
    before, none = space.get(_READ), space.get(_FOUND)
    if before is not None and none is not None:  # other versions may not read at all
        space[_READ] = lambda: none
    try:
        yield
    finally:
        if before is not None:
            space[_READ] = before


def _collect(
    strategy: st.SearchStrategy[Any], found: list[Any], *, count: int, number: int
) -> None:
    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=_NO_CHECKS,
        verbosity=Verbosity.quiet,
        print_blob=False,
        backend="hypothesis",
    )
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()


Values = st.SearchStrategy[Any]
_LONGEST = 40
"""Items or letters of what is drawn; longer values are only used again."""
_PLACES = st.integers(0, 1000)
_SPARE = 4
"""A further one for so many is drawn, since some repeat what is known."""


def draw_calls(
    known: Sequence[Call], *, count: int, seed: int = 0, free: bool = False
) -> list[Call]:
    """At most `count` further calls: first those at the bounds of the known ones, then drawn ones.

    All known calls must have the same number of positional arguments; those that differ are left
    out. With `free`, lists need not be sorted or without duplicates, as the known ones may be.
    Deterministic.
    """
    plain = [call for call in known if not call.kwargs]
    if not plain:
        return []
    arity = len(plain[0].args)
    rows = [call.args for call in plain if len(call.args) == arity]
    if arity == 0 or not rows:
        return []
    relations = list(_relations(rows))
    drawn = sample(_rows_like(rows, free), count=count + count // _SPARE, seed=seed)
    found: dict[str, Call] = {}
    seen = {repr(row) for row in rows}
    for args in (*_at_bounds(rows), *drawn):
        fitted = _fit(args, relations)
        if fitted is not None and repr(fitted) not in seen:
            found.setdefault(repr(fitted), Call(fitted))
    return list(found.values())[:count]


def _rows_like(rows: Sequence[tuple[Any, ...]], free: bool) -> Values:
    """Rows of arguments, some of which are taken from a known call."""
    columns = [values_like(list(column), free=free) for column in zip(*rows, strict=True)]

    @st.composite
    def row(draw: st.DrawFn) -> tuple[Any, ...]:
        base = draw(st.sampled_from(rows))
        keeps = len(columns) > 1
        return tuple(
            old if keeps and draw(st.integers(0, 9)) < 3 else draw(column)
            for old, column in zip(base, columns, strict=True)
        )

    return row()


def _at_bounds(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Rows with arguments that are the least or the greatest of the known ones."""
    bounds: list[tuple[Any, Any]] = []
    for column in zip(*rows, strict=True):
        ordered = sorted(column, key=_size)
        bounds.append((ordered[0], ordered[-1]))
    yield tuple(low for low, _ in bounds)
    yield tuple(high for _, high in bounds)
    for index, pair in enumerate(bounds):
        for value in pair:
            yield (*rows[0][:index], value, *rows[0][index + 1 :])


def _size(value: Any) -> float:
    if isinstance(value, (int, float)):
        try:
            return 0.0 if math.isnan(value) else float(value)
        except OverflowError:
            return math.copysign(math.inf, value)
    return float(len(value)) if hasattr(value, "__len__") else 0.0


def values_like(values: Sequence[Any], *, free: bool = False) -> Values:
    """A strategy for values like these, of which there is at least one; `free` as in
    `draw_calls`."""
    kinds = dict.fromkeys(cast("list[type[Any]]", [type(value) for value in values]))
    if len(kinds) > 1:
        parts = [[value for value in values if type(value) is kind] for kind in kinds]
        return st.one_of([values_like(part, free=free) for part in parts])
    [kind] = kinds
    if kind is int:
        return _ints_like([int(value) for value in values])
    if kind is float:
        return _floats_like([float(value) for value in values])
    if kind is str:
        return _texts_like([str(value) for value in values])
    if kind is list or kind is tuple:
        return _sequences_like([list(value) for value in values], kind, free=free)
    if kind is dict:
        return _dicts_like([cast("dict[Any, Any]", value) for value in values], free=free)
    return st.booleans() if kind is bool else st.sampled_from(list(values))


def _ints_like(values: list[int]) -> Values:
    low, high = min(values), max(values)
    half = max(high - low, 3) // 2
    low -= half if low < 0 else 0
    high += half if len(set(values)) > 1 else 0
    wide = st.integers(low, high)
    return st.one_of(st.sampled_from(values), wide, wide)


def _floats_like(values: list[float]) -> Values:
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    if max(abs(low), abs(high)) > 1e12 or low == high:
        return st.sampled_from(values)
    # Thousandths: a value that no author thought of proves nothing.
    wide = st.integers(math.ceil(low * 1000), math.floor(high * 1000)).map(lambda n: n / 1000)
    return st.one_of(st.sampled_from(values), wide, wide) if high - low > 0.002 else wide


def _texts_like(values: list[str]) -> Values:
    letters = sorted({letter for value in values for letter in value}) or ["a"]
    low, high = min(map(len, values)), max(map(len, values))
    known = st.sampled_from(values)
    short = [value for value in values if 1 < len(value) <= _LONGEST]
    ways: list[Values] = [known]
    if any(values):
        changed = st.tuples(
            st.sampled_from([v for v in values if v]), _PLACES, st.sampled_from(letters)
        )
        ways.append(changed.map(lambda parts: _with_letter(*parts)))
    if short:
        mixed = st.sampled_from(short).flatmap(lambda v: st.permutations(list(v)))
        ways.append(mixed.map("".join))
    if low <= _LONGEST:
        ways.append(st.text(letters, min_size=low, max_size=min(high, _LONGEST)))
    return st.one_of(ways)


def _with_letter(text: str, place: int, letter: str) -> str:
    at = place % len(text)
    return text[:at] + letter + text[at + 1 :]


def _sequences_like(values: list[list[Any]], kind: type[Any], *, free: bool) -> Values:
    known = st.sampled_from(values).map(kind)
    items = [item for value in values for item in value]
    low, high = min(map(len, values)), max(map(len, values))
    if not items or low > _LONGEST:
        return known
    fixed = low == high
    nested = all(type(item) is list for item in items)
    level = nested and all(len({len(row) for row in value}) <= 1 for value in values)
    rises = not free and _all_sorted(values)
    apart = not free and all(len({repr(item) for item in value}) == len(value) for value in values)
    most = high if fixed else min(high + 1, _LONGEST)
    drawn = st.tuples(
        st.lists(values_like(items, free=free), min_size=low, max_size=most),
        st.integers(0, 9),
        _PLACES,
    )

    def reshape(parts: tuple[list[Any], int, int]) -> Any:
        found, chance, place = parts
        if level and found:
            width = len(found[0])
            found = [(row * (width + 1))[:width] if row else row for row in found]
        if apart:
            found = list({repr(item): item for item in found}.values())
        elif len(found) > 2 and chance < 3:
            found = [*found[:-1], found[place % (len(found) - 1)]]
        if len(found) < low:
            found = values[place % len(values)]
        return kind(_in_order(found) if rises else found)

    return st.one_of(known, drawn.map(reshape), drawn.map(reshape), drawn.map(reshape))


def _in_order(found: list[Any]) -> list[Any]:
    try:
        return sorted(found)
    except TypeError:  # an int beside a str: there is no order between them
        return found


def _all_sorted(values: list[list[Any]]) -> bool:
    long = [value for value in values if len(value) > 2]
    try:
        return bool(long) and all(value == sorted(value) for value in values)
    except TypeError:
        return False


def _dicts_like(values: list[dict[Any, Any]], *, free: bool) -> Values:
    shapes = {tuple(value) for value in values}
    if len(shapes) == 1:
        columns = {key: [value[key] for value in values] for key in values[0]}
        each = {key: values_like(column, free=free) for key, column in columns.items()}
        return st.fixed_dictionaries(each)
    keys = list({repr(key): key for value in values for key in value}.values())
    inside = [item for value in values for item in value.values()] or [None]
    items = values_like(inside, free=free)
    low, high = min(map(len, values)), min(max(map(len, values)), _LONGEST)
    if low > _LONGEST:
        return st.sampled_from(values)
    return st.dictionaries(st.sampled_from(keys), items, min_size=low, max_size=high)


# What holds between two arguments in every known call, and how to make it hold.

_Fit = Callable[[Any, Any], tuple[Any, Any]]


def _relations(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, int, _Fit]]:
    for one in range(len(rows[0])):
        for two in range(len(rows[0])):
            for fit in (_as_index, _as_count, _as_item, _as_long, _no_more):
                if one != two and all(_holds(fit, row[one], row[two]) for row in rows):
                    yield one, two, fit


def _holds(fit: _Fit, left: Any, right: Any) -> bool:
    try:
        return repr(fit(left, right)) == repr((left, right))
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        return False


def _fit(
    args: tuple[Any, ...], relations: Sequence[tuple[int, int, _Fit]]
) -> tuple[Any, ...] | None:
    """The arguments, changed so that every relation holds; None where that fails."""
    found = list(args)
    try:
        for one, two, fit in relations:
            found[one], found[two] = fit(found[one], found[two])
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        return None
    kept = all(_holds(fit, found[one], found[two]) for one, two, fit in relations)
    return tuple(found) if kept else None


def _size_of(value: Any) -> int:
    if type(value) not in (list, str):
        raise TypeError
    return len(value)


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError
    return value


def _as_index(left: Any, right: Any) -> tuple[Any, Any]:
    return _whole(left) % _size_of(right), right


def _as_count(left: Any, right: Any) -> tuple[Any, Any]:
    return _whole(left) % (_size_of(right) + 1), right


def _as_item(left: Any, right: Any) -> tuple[Any, Any]:
    if type(right) is not list:
        raise TypeError
    items = cast("list[Any]", right)
    return (left if left in items else items[0]), items


def _as_long(left: Any, right: Any) -> tuple[Any, Any]:
    if type(left) is not list or type(right) is not list:
        raise TypeError
    ours, theirs = cast("list[Any]", left), cast("list[Any]", right)
    count = min(len(ours), len(theirs))
    return ours[:count], theirs[:count]


def _no_more(left: Any, right: Any) -> tuple[Any, Any]:
    if type(left) not in (int, float) or type(right) not in (int, float):
        raise TypeError
    return (left, right) if left <= right else (right, left)
