"""Inputs of the kind that a problem's known calls have: to tell programs apart, not to break them.

What holds for every known call is kept: the types, the bounds of numbers and lengths, the letters
of strings, whether a list is sorted, without duplicates or a rectangle, whether a number stays
within the length of a list or is one of its items. So an input that the author would call invalid
is hardly drawn; what is drawn all the same and makes the reference raise is dropped by the oracle.

Covered: None, bool, int, float, str, and lists, tuples and dicts of them.
Not covered: relations between values that the known calls do not show; other types are only reused.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any, cast

from unhack.audit.subject import Call

Draw = Callable[[random.Random], Any]
_MOST_TRIES = 40


def draw_calls(known: Sequence[Call], *, count: int, seed: int = 0) -> list[Call]:
    """`count` further calls, or fewer where the known ones show too little variety.

    All known calls must have the same number of positional arguments; those that differ are left
    out. Deterministic.
    """
    plain = [call for call in known if not call.kwargs]
    if not plain:
        return []
    arity = len(plain[0].args)
    same = [call for call in plain if len(call.args) == arity]
    if arity == 0 or not same:
        return []
    columns = [[call.args[index] for call in same] for index in range(arity)]
    draws = [_draw_like(column) for column in columns]
    relations = _relations(columns)
    rng = random.Random(seed)
    found: list[Call] = []
    seen = {repr(call.args) for call in same}
    for _ in range(count * _MOST_TRIES):
        if len(found) == count:
            break
        args = _mixed(columns, draws, rng)
        if all(holds(args) for holds in relations) and repr(args) not in seen:
            seen.add(repr(args))
            found.append(Call(args))
    return found


def _mixed(columns: list[list[Any]], draws: list[Draw], rng: random.Random) -> tuple[Any, ...]:
    """Some arguments drawn, some taken from a known call."""
    base = rng.randrange(len(columns[0]))
    keep = 0.0 if len(columns) == 1 else 0.3
    return tuple(
        column[base] if rng.random() < keep else draw(rng)
        for column, draw in zip(columns, draws, strict=True)
    )


def _draw_like(values: Sequence[Any]) -> Draw:
    """A source of values like these."""
    kinds: set[type[Any]] = {type(value) for value in values}
    if len(kinds) > 1:
        parts = [[value for value in values if type(value) is kind] for kind in kinds]
        draws = [_draw_like(part) for part in sorted(parts, key=repr)]
        return lambda rng: rng.choice(draws)(rng)
    [kind] = kinds or {type(None)}
    if kind is int:
        return _draw_int([int(value) for value in values])
    if kind is float:
        return _draw_float([float(value) for value in values])
    if kind is str:
        return _draw_text([str(value) for value in values])
    if kind is list or kind is tuple:
        return _draw_sequence([list(value) for value in values], kind)
    if kind is dict:
        return _draw_dict([cast("dict[Any, Any]", value) for value in values])
    pool = [False, True] if kind is bool else list(values)
    return lambda rng: rng.choice(pool)


def _draw_int(values: list[int]) -> Draw:
    low, high = min(values), max(values)
    span = max(high - low, 3)
    low = low - (span // 2 if low < 0 else 0)

    def draw(rng: random.Random) -> int:
        if rng.random() < 0.3:
            return rng.choice(values)
        return rng.randint(low, high + (span // 2 if len(set(values)) > 1 else 0))

    return draw


def _draw_float(values: list[float]) -> Draw:
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    return lambda rng: (
        rng.choice(values) if rng.random() < 0.3 else round(rng.uniform(low, high), 3)
    )


def _draw_text(values: list[str]) -> Draw:
    letters = sorted({letter for value in values for letter in value}) or ["a"]
    low, high = min(map(len, values)), max(map(len, values))

    def draw(rng: random.Random) -> str:
        base = rng.choice(values)
        way = rng.random()
        if way < 0.25:
            return base
        if way < 0.5 and base:
            at = rng.randrange(len(base))
            return base[:at] + rng.choice(letters) + base[at + 1 :]
        if way < 0.65 and len(base) > 1:
            mixed = list(base)
            rng.shuffle(mixed)
            return "".join(mixed)
        return "".join(rng.choice(letters) for _ in range(rng.randint(low, high)))

    return draw


def _draw_sequence(values: list[list[Any]], kind: type[Any]) -> Draw:
    items = [item for value in values for item in value]
    if not items:
        return lambda rng: kind(rng.choice(values))
    widths = {len(value) for value in values}
    nested = all(type(item) is list for item in items)
    level = nested and all(len({len(row) for row in value}) <= 1 for value in values)
    draw_item = _draw_like(items)
    rises = _all_sorted(values)
    apart = all(len({repr(item) for item in value}) == len(value) for value in values)
    low, high = min(widths), max(widths)

    def draw(rng: random.Random) -> Any:
        length = rng.choice(sorted(widths)) if len(widths) == 1 else rng.randint(low, high + 1)
        if rng.random() < 0.15:
            length = rng.choice(sorted(widths))
        found = [draw_item(rng) for _ in range(length)]
        if level and found:
            width = len(found[0])
            found = [(row * (width + 1))[:width] if row else row for row in found]
        if apart:
            found = list({repr(item): item for item in found}.values())
            if len(widths) == 1 and len(found) != length:
                return kind(rng.choice(values))
        elif len(found) > 2 and rng.random() < 0.3:
            found[rng.randrange(len(found))] = rng.choice(found)
        if rises:
            found.sort()
        return kind(found)

    return draw


def _all_sorted(values: list[list[Any]]) -> bool:
    long = [value for value in values if len(value) > 2]
    try:
        return bool(long) and all(value == sorted(value) for value in values)
    except TypeError:
        return False


def _draw_dict(values: list[dict[Any, Any]]) -> Draw:
    fixed = {tuple(value) for value in values}
    items = [item for value in values for item in value.values()]
    draw_item = _draw_like(items or [None])
    pool = sorted({repr(key): key for value in values for key in value}.items())

    def draw(rng: random.Random) -> dict[Any, Any]:
        if len(fixed) == 1:
            keys = next(iter(fixed))
        else:
            count = rng.randint(min(map(len, fixed)), max(map(len, fixed)))
            keys = tuple(key for _, key in rng.sample(pool, min(count, len(pool))))
        if len(fixed) == 1 and len(values) > 1:
            return {key: rng.choice(values)[key] for key in keys}
        return {key: draw_item(rng) for key in keys}

    return draw


def _relations(columns: list[list[Any]]) -> list[Callable[[tuple[Any, ...]], bool]]:
    """What holds between the arguments in every known call."""
    found: list[Callable[[tuple[Any, ...]], bool]] = []
    rows = list(zip(*columns, strict=True))
    for one in range(len(columns)):
        for two in range(len(columns)):
            if one == two:
                continue
            for relation in (_is_index, _is_count, _is_item, _as_long, _no_more):
                if all(relation(row[one], row[two]) for row in rows):
                    found.append(lambda row, r=relation, a=one, b=two: r(row[a], row[b]))
    return found


def _is_index(left: Any, right: Any) -> bool:
    return type(left) is int and type(right) in (list, str) and 0 <= left < len(right)


def _is_count(left: Any, right: Any) -> bool:
    return type(left) is int and type(right) in (list, str) and 0 <= left <= len(right)


def _is_item(left: Any, right: Any) -> bool:
    return type(right) is list and left in right


def _as_long(left: Any, right: Any) -> bool:
    both = isinstance(left, list) and isinstance(right, list)
    return both and len(cast("list[Any]", left)) == len(cast("list[Any]", right))


def _no_more(left: Any, right: Any) -> bool:
    numbers = (int, float)
    return type(left) in numbers and type(right) in numbers and left <= right
