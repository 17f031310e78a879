"""Inequalities with one name, as the bound that they set.

    bound_of(read("5 - 3x"), read("20"), "<")     # x > -5

Covered: linear ones; a number compared with a number; the whole number next to a bound.
Not covered: quadratic ones, products of names, systems; they claim nothing that is read here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from unhack_suites.derivations.reading import algebra
from unhack_suites.derivations.reading.expressions import Expression
from unhack_suites.derivations.report import LineStatus

_TURNED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤"}
INEQUALITIES = "<>≤≥"


@dataclass(frozen=True, slots=True)
class Bound:
    """`name sign value`; without a name it is true or false by itself."""

    name: str
    sign: str
    value: Fraction
    numbers: tuple[Fraction, ...]
    alone: bool = False
    """True where it is solved for its name."""


def bound_of(left: Expression, right: Expression, sign: str) -> Bound | None:
    """The bound that an inequality sets; None for one that is not linear in at most one name."""
    poly = algebra.difference(left.value, right.value)
    if set(left.value.below) | set(right.value.below) != {()}:
        return None
    names = {term for term in poly if term}
    rest, numbers = poly.get((), Fraction(0)), (*left.numbers, *right.numbers)
    if not names:
        return Bound("", sign, rest, numbers)
    [term, *others] = names
    if others or len(term) != 1 or term[0][1] != 1 or algebra.is_constant(term[0][0]):
        return None
    factor = poly[term]
    turned = sign if factor > 0 else _TURNED[sign]
    alone = term[0][0] in (left.shape, right.shape)
    return Bound(term[0][0], turned, -rest / factor, numbers, alone)


@dataclass(slots=True)
class Bounds:
    """The bounds that are known so far."""

    held: dict[str, list[Bound]] = field(default_factory=dict[str, list[Bound]])

    def judge(self, new: Bound) -> tuple[LineStatus, str]:
        """The standing of a bound; it is learnt unless it is wrong."""
        if not new.name:
            true = new.value > 0 if new.sign in ">≥" else new.value < 0
            true = true or (new.value == 0 and new.sign in "≤≥")
            return (LineStatus.VERIFIED, "") if true else (LineStatus.WRONG, "it is the other way")
        known = self.held.setdefault(new.name, [])
        if any(_same(one, new) for one in known):
            return LineStatus.VERIFIED, ""
        if known and (new.value not in _NATURAL or any(_up(one) == _up(new) for one in known)):
            shown = f"{known[0].sign} {algebra.shown_number(known[0].value)}"
            return LineStatus.WRONG, f"{new.name} {shown} is what is known"
        known.append(new)
        return LineStatus.ASSUMED, ""

    def learn(self, new: Bound) -> None:
        """Take a bound that is given."""
        self.held.setdefault(new.name, []).append(new)


_NATURAL = (0, 1)
"""Bounds of counts and lengths, that go without saying."""


def _up(bound: Bound) -> bool:
    return bound.sign in ">≥"


def _same(one: Bound, other: Bound) -> bool:
    """True for the same bound, rounded or for whole numbers."""
    if _up(one) != _up(other):
        return False
    if one.value == other.value:
        return one.sign == other.sign
    return other.value in whole_numbers_at(one) or (
        other.value.denominator > 1 and abs(one.value - other.value) < Fraction(1, 100)
    )


def whole_numbers_at(bound: Bound) -> tuple[Fraction, ...]:
    """The whole number that is the last to meet a bound."""
    up = _up(bound)
    near = math.ceil(bound.value) if up else math.floor(bound.value)
    if near == bound.value and bound.sign in "<>":
        near += 1 if up else -1
    return (Fraction(near),)
