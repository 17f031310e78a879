"""Intervals of real numbers: `[2, 5)`, `2 <= x < 5`, `from 2 (included) to 5 (excluded)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from unhack_contests.reward_hacking.harden.drawn.truth.numbers import number, plainer

Interval = tuple[Fraction | None, bool, Fraction | None, bool]
"""Lower end and whether it belongs, upper end and whether it belongs; None for no end."""
_ENDLESS = {"-∞", "∞", "+∞", "-oo", "oo", "+oo", "-inf", "inf", "+inf", "-infinity", "infinity"}
_SIDES = (
    (r"(?:x|it|which) (?:is )?(?:at least|no less than|not less than|not below) (.+)", ">="),
    (r"(?:x|it|which) (?:is )?(?:at most|no more than|not more than|not above) (.+)", "<="),
    (r"(?:x|it|which) (?:is )?(?:greater|more|larger|bigger) than (.+)", ">"),
    (r"(?:x|it|which) (?:is )?(?:above|over) (.+)", ">"),
    (r"(?:x|it|which) (?:is )?(?:less|smaller|fewer) than (.+)", "<"),
    (r"(?:x|it|which) (?:is )?(?:below|under) (.+)", "<"),
    (r"x ?(<=|>=|<|>) ?(.+)", ""),
)


def interval(text: str) -> Interval | None:
    """The interval that a text gives and nothing else; None for any other, and for empty ones."""
    raw = re.sub(r"\\(?:left|right)(?=[\[\]()])", "", text)
    text = plainer(raw).lower()
    for sign, plain in (("≤", "<="), ("≥", ">="), ("=<", "<="), ("\\leqslant", "<="),
                        ("\\geqslant", ">="), ("\\leq", "<="), ("\\geq", ">="), ("\\le", "<="),
                        ("\\ge", ">="), ("\\lt", "<"), ("\\gt", ">"), ("\\infty",
                        "∞")):  # fmt: skip
        text = text.replace(sign, plain)
    text = re.sub(r"^(?:x|all x|every x) ?(?:∈|\\in|in|is in|lies in) ?", "", text)
    text = re.sub(r"^\{ ?x ?(?:\\?\||:|\\mid) ?(.*?) ?\}$", r"\1", text).strip()
    made = _brackets(text) or _chain(text) or _spoken(text) or _two_sides(text)
    if made is None:
        return None
    low, _, high, _ = made
    return made if low is None or high is None or low < high else None


def _brackets(text: str) -> Interval | None:
    found = re.fullmatch(r"([\[\]()]) ?([^\[\]()]+?) ?[,;] ?([^\[\]()]+?) ?([\[\]()])", text)
    if found is None or found.group(1) == ")" or found.group(4) == "(":
        return None
    low, high = _end(found.group(2)), _end(found.group(3))
    if low is None or high is None:
        return None
    return _made(low, found.group(1) == "[", high, found.group(4) == "]")


@dataclass(frozen=True)
class _End:
    """One end of an interval."""

    value: Fraction | None
    """None for no end."""


def _made(low: _End, low_in: bool, high: _End, high_in: bool) -> Interval:
    bottom, top = low.value, high.value
    return bottom, low_in and bottom is not None, top, high_in and top is not None


def _end(text: str) -> _End | None:
    """None for what is no end of an interval."""
    if text.strip().replace(" ", "") in _ENDLESS:
        return _End(None)
    value = number(text)
    return None if value is None else _End(value)


def _chain(text: str) -> Interval | None:
    found = re.fullmatch(r"(.+?) ?(<=|<|>=|>) ?x ?(<=|<|>=|>) ?(.+)", text)
    if found is None or found.group(2)[0] != found.group(3)[0]:
        return None
    one, other = _end(found.group(1)), _end(found.group(4))
    if one is None or other is None:
        return None
    first, second = "=" in found.group(2), "=" in found.group(3)
    if found.group(2)[0] == "<":
        return _made(one, first, other, second)
    return _made(other, second, one, first)


def _spoken(text: str) -> Interval | None:
    belongs = r"(?:,? ?\(?(included|inclusive|excluded|exclusive)\)?)"
    for shape in (rf"(?:x )?(?:from|between) (.+?){belongs},? (?:to|and|up to) (.+?){belongs}",):
        found = re.fullmatch(shape, text)
        if found:
            low, high = _end(found.group(1)), _end(found.group(3))
            if low is None or high is None:
                return None
            ins = [found.group(at).startswith("inc") for at in (2, 4)]
            return _made(low, ins[0], high, ins[1])
    return None


def _two_sides(text: str) -> Interval | None:
    parts = re.split(r" (?:and|but) |, ", text)
    if not 1 <= len(parts) <= 2:
        return None
    ends: dict[str, tuple[Fraction, bool]] = {}
    for part in parts:
        spoken = part if re.match(r"(?:x|it|which)\b", part) else f"x {part}"
        side = _side(spoken)
        if side is None or side[0] in ends:
            return None
        ends[side[0]] = side[1:]
    low, low_in = ends.get(">", (None, False))
    high, high_in = ends.get("<", (None, False))
    return _made(_End(low), low_in, _End(high), high_in)


def _side(text: str) -> tuple[str, Fraction, bool] | None:
    for shape, sign in _SIDES:
        found = re.fullmatch(shape, text)
        if found:
            told, value = sign or found.group(1), number(found.groups()[-1])
            return None if value is None else (told[0], value, "=" in told)
    flipped = re.fullmatch(r"x (.+?) ?(<=|>=|<|>) ?x", text)
    if flipped:
        value = number(flipped.group(1))
        turned = "<" if flipped.group(2)[0] == ">" else ">"
        return None if value is None else (turned, value, "=" in flipped.group(2))
    return None
