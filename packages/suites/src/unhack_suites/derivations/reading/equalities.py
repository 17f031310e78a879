"""Two numbers that are said to be equal: exactly, rounded, or as amounts in two units.

    holds(read("22/7"), read("3.14"), "≈")

Covered: places that a number shows, dots behind it, percent, a factor that stands for a change of
units (`120 min / 60 = 2 h`), usual values for π.
Not covered: significant digits, error bars.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from unhack_suites.derivations.reading import algebra
from unhack_suites.derivations.reading.algebra import PI, Quotient
from unhack_suites.derivations.reading.expressions import Expression

_USUAL_PI = frozenset(map(Fraction, ("3.14", "3.142", "3.1416", "3.14159", "22/7")))
_ROUNDED_UNITS, _ROUNDED_PI = 0.01, 0.0006
"""How far conversions to imperial units, and calculations with a short π, may be off."""


def holds(left: Expression, right: Expression, sign: str) -> bool:
    """True where two sides without names are equal, or with `≈` near to it."""
    plainly = _numbers_hold(left, right, sign)
    one, other = left.amount, right.amount
    if one is None or other is None or one.dimensions != other.dimensions:
        return plainly
    scale, own = right.scale, left.scale
    if scale is None or own is None:
        return plainly
    if _numbers_hold(replace(left, value=algebra.number(one.factor / scale)), right, sign):
        return True
    if (one.imperial != other.imperial) and other.factor:
        return abs(float(one.factor / other.factor) - 1) <= _ROUNDED_UNITS
    return plainly and _stands_in(scale / own, (*left.numbers, *right.numbers))


def _stands_in(factor: Fraction, numbers: tuple[Fraction, ...]) -> bool:
    """True where a calculation changes the unit by a number, or several, of its own."""
    found = {abs(value) for value in numbers} | {abs(math.prod(numbers[1:-1], start=Fraction(1)))}
    return factor in found or (factor != 0 and 1 / factor in found)


def _numbers_hold(left: Expression, right: Expression, sign: str) -> bool:
    if algebra.equal(left.value, right.value):
        return True
    if right.percent and Fraction(100) in left.numbers:  # `3/4 · 100 = 75%`
        right = replace(
            right, value=algebra.multiply(right.value, algebra.number(100)), percent=False,
            places=None if right.places is None else max(0, right.places - 2),
        )  # fmt: skip
        if algebra.equal(left.value, right.value):
            return True
    one, other = left.value.real(), right.value.real()
    if one is None or other is None:
        return False
    for held in (right, left):
        if held.open_ended and held.places is not None:
            return abs(one - other) <= 10.0**-held.places
    if sign == "=":
        return False
    places = right.places if right.places is not None else left.places
    if places is None:
        return abs(one - other) <= 1e-3 * max(abs(one), abs(other))
    exact = (right if right.places is not None else left).value.rational()
    if places == 0 and exact is not None and exact and exact % 10 == 0:
        places = -next(n for n in range(1, 40) if exact % 10 ** (n + 1))
    return abs(one - other) <= 0.5 * 10.0**-places * (1 + 1e-9)


def is_near(known: Quotient, value: Expression, sign: str) -> bool:
    """True where a value may be written for a known one: rounded, or with a usual π."""
    one, other = known.real(), value.value.real()
    if one is None or other is None:
        return False
    short = bool(_USUAL_PI & set(value.numbers))
    round_known = any(held == PI for term in known.top for held, _ in term)
    if round_known and (short or sign == "≈"):
        return abs(one - other) <= _ROUNDED_PI * abs(one)
    if sign != "≈":
        return False
    if value.places is None:
        return abs(one - other) <= 1e-3 * abs(one)
    return abs(one - other) <= 0.5 * 10.0**-value.places * (1 + 1e-9)
