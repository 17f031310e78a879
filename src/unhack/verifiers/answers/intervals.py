r"""Inequalities as intervals: the shapes of two answers, of which one may be an interval.

    a < x \le b, \{x \mid x > a\}           (a, b], (a, \infty)
    x < a \text{ or } x > b, |x| > 2         (-\infty, a)\cup (b, \infty)
    x \neq 1, x \neq 2                       \mathbb{R}\setminus \{1, 2\}

Not covered: inequalities in two names, and those that have to be solved.
"""

from __future__ import annotations

import re
from dataclasses import replace

from unhack.verifiers.answers.shape import AND, LETTER, SCAN, Shape, read_shape, split

_ORDERS = frozenset(["<", ">", "\\leq", "\\geq"])
_CALLED = rf"{LETTER}(?:\([a-z\d]\))?"
_NAME = re.compile(_CALLED)
_BUILDER = re.compile(rf"\\\{{({LETTER})(?:\\in ?\\mathbb\{{R\}})?[|:](.*)\\\}}", re.DOTALL)


def as_interval(text: str) -> tuple[str, str]:
    """The name that a spelled inequality bounds and the interval; two blanks for other texts."""
    built = _BUILDER.fullmatch(text)
    if built:
        text = built[2]
    left_out = [_LEFT_OUT.fullmatch(piece) for piece in split(text, AND)]
    names = {at[1] for at in left_out if at and at[1]}
    if len(left_out) > 1 and all(left_out) and len(names) == 1 and left_out[0] and left_out[0][1]:
        points = ",".join(at[2] for at in left_out if at)
        return names.pop(), f"\\mathbb{{R}}\\setminus \\{{{points}\\}}"
    pieces = split(text, frozenset(["\\text{or}", "\\vee", "\\cup"]))
    found = [_bounds(piece) for piece in pieces]
    points = [_POINT.fullmatch(piece) for piece in pieces]
    if any(name for name, _ in found):
        found = [
            (at[1], f"\\{{{at[2]}\\}}") if at else one
            for one, at in zip(found, points, strict=True)
        ]
    names = {name for name, _ in found}
    if len(names) != 1 or "" in names or (built and built[1] not in names):
        return "", ""
    return names.pop(), "\\cup ".join(interval for _, interval in found)


_POINT = re.compile(rf"({_CALLED})=([^=<>]{{1,100}})")
_LEFT_OUT = re.compile(rf"(?:({LETTER})\\neq ?)?([^\s|<>=]{{1,60}})")
_AROUND = re.compile(
    rf"({LETTER})\\neq ?([^\s|<>=]{{1,60}})|\|({LETTER})\|(<|>|\\[lg]eq ?)([\d./]{{1,40}})"
)


def _is_name(side: str) -> bool:
    return _NAME.fullmatch(side) is not None and side not in {"\\pi", "\\infty"}


def _bounds(text: str) -> tuple[str, str]:
    around = _AROUND.fullmatch(text)
    if around and around[1]:
        return around[1], f"(-\\infty,{around[2]})\\cup ({around[2]},\\infty)"
    if around:
        left, right = "[]" if "eq" in around[4] else "()"
        low, high = f"-{around[5]}", around[5]
        if around[4] == "<" or "leq" in around[4]:
            return around[3], f"{left}{low},{high}{right}"
        right, left = ("]", "[") if "eq" in around[4] else (")", "(")
        return around[3], f"(-\\infty,{low}{right}\\cup {left}{high},\\infty)"
    sides: list[str] = [""]
    orders: list[str] = []
    for token in SCAN.findall(text):
        if token.rstrip() in _ORDERS:
            orders.append(token.rstrip())
            sides.append("")
        else:
            sides[-1] += token
    sides = [side.strip() for side in sides]
    if not orders or len(orders) > 2 or not all(sides) or "=" in text or "," in text:
        return "", ""
    at = next((at for at, side in enumerate(sides) if _is_name(side)), -1)
    if at < 0 or (len(orders) == 2 and at != 1):
        return "", ""
    name = sides[at]
    if any(_is_name(side) for side in sides if side != name):
        return "", ""
    if len(orders) == 2 and (orders[0] in {"<", "\\leq"}) != (orders[1] in {"<", "\\leq"}):
        return "", ""
    low, high, left, right = "-\\infty", "\\infty", "(", ")"
    for index, order in enumerate(orders):
        before = at > index
        value = sides[index] if before else sides[index + 1]
        if (order in {"<", "\\leq"}) == before:
            low, left = value, "[" if order.startswith("\\") else "("
        else:
            high, right = value, "]" if order.startswith("\\") else ")"
    return name, f"{left}{low},{high}{right}"


def read_both(gold: str, answer: str) -> tuple[Shape, Shape]:
    """The shapes of both, an inequality as an interval where the other one is an interval."""
    shapes = [read_shape(text) for text in (gold, answer)]
    bounds = [as_interval(text) for text in (gold, answer)]
    if bool(bounds[0][0]) == bool(bounds[1][0]):
        both_built = _BUILDER.fullmatch(gold) and _BUILDER.fullmatch(answer)
        if bounds[0][0] and (both_built or bounds[0][0] == bounds[1][0]):
            shapes = [read_shape(interval) for _, interval in bounds]
    else:
        at = 0 if bounds[0][0] else 1
        name, interval = bounds[at]
        other = shapes[1 - at]
        if _INTERVAL.search(other.text) and other.name in {"", name}:
            shapes[at] = read_shape(interval)
            shapes[1 - at] = replace(other, name="")
    return shapes[0], shapes[1]


def read_again(gold: Shape, answer: Shape) -> tuple[Shape, Shape]:
    """Members of a list, the inequalities among them as intervals."""
    if gold.name or answer.name or gold.unit or answer.unit:
        return gold, answer
    return read_both(gold.text, answer.text)


_INTERVAL = re.compile(r"\A[(\[].*[)\]]\Z|\\infty|\\cup", re.DOTALL)
