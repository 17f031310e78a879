"""Exact arithmetic with names: quotients of polynomials over the rationals, roots and π as names.

Everything is bounded (bits of a number, terms, degree), so a hostile text costs little and ends in
`Unreadable`.

Covered: sums, products, quotients, whole powers, square roots of numbers, π.
Not covered: roots of expressions with names, other functions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

MAX_BITS, MAX_TERMS, MAX_DEGREE = 2048, 200, 24
_MAX_ROOT = 10**12
PI = "π"

Monomial = tuple[tuple[str, int], ...]
"""(name, power) pairs, sorted, powers above 0."""
Poly = dict[Monomial, Fraction]
"""Without zero coefficients."""


class Unreadable(Exception):
    """An expression that is outside of what is read here."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """A quotient of two polynomials; the lower one is not zero."""

    top: Mapping[Monomial, Fraction]
    below: Mapping[Monomial, Fraction]

    def names(self) -> frozenset[str]:
        """The variables that it holds; π and roots are numbers."""
        held = {name for part in (self.top, self.below) for one in part for name, _ in one}
        return frozenset(name for name in held if not is_constant(name))

    def rational(self) -> Fraction | None:
        """Its value where it is a rational number."""
        if set(self.top) <= {()} and set(self.below) == {()}:
            return self.top.get((), Fraction(0)) / self.below[()]
        return None

    def real(self) -> float | None:
        """Its value where it is a number."""
        if self.names():
            return None
        exact = self.rational()
        if exact is not None:
            return _float(exact)
        below = _value(self.below)
        return _value(self.top) / below if below else None


def number(value: Fraction | int) -> Quotient:
    """A rational number."""
    exact = Fraction(value)
    if exact.numerator.bit_length() + exact.denominator.bit_length() > MAX_BITS:
        raise Unreadable("a number is too large")
    return Quotient({(): exact} if exact else {}, {(): Fraction(1)})


def constant(value: float) -> Quotient:
    """A number that is known by its digits only, as `sin 35°`."""
    return name(f"~{value!r}")


def is_constant(name: str) -> bool:
    """True for a name that is a number: π, a root, digits."""
    return name == PI or name[0] in "√~"


def name(text: str) -> Quotient:
    """A variable, or π."""
    return Quotient({((text, 1),): Fraction(1)}, {(): Fraction(1)})


def add(one: Quotient, other: Quotient, sign: int = 1) -> Quotient:
    """The sum, or with `sign` -1 the difference."""
    if one.below == other.below:
        return _made(_sum(one.top, other.top, sign), dict(one.below))
    top = _sum(_times(one.top, other.below), _times(other.top, one.below), sign)
    return _made(top, _times(one.below, other.below))


def multiply(one: Quotient, other: Quotient) -> Quotient:
    """The product."""
    return _made(_times(one.top, other.top), _times(one.below, other.below))


def divide(one: Quotient, other: Quotient) -> Quotient:
    """The quotient. Raises Unreadable for a division by zero."""
    if not other.top:
        raise Unreadable("a division by zero")
    return _made(_times(one.top, other.below), _times(one.below, other.top))


def power(base: Quotient, exponent: Quotient) -> Quotient:
    """A whole power, or a half one."""
    exact = exponent.rational()
    if exact is None:
        raise Unreadable("a power that is no number")
    if exact.denominator == 2:
        base, exact = root(base), exact * 2
    if exact.denominator != 1 or abs(exact) > MAX_BITS:
        raise Unreadable("a power that is not whole")
    count = abs(int(exact))
    held = base.rational()
    if held is not None:
        if (held.numerator.bit_length() + held.denominator.bit_length()) * count > 2 * MAX_BITS:
            raise Unreadable("a number is too large")
        if held == 0 and exact < 0:
            raise Unreadable("a division by zero")
        return number(held ** int(exact))
    if count > MAX_DEGREE:
        raise Unreadable("a power is too large")
    result = number(1)
    for _ in range(count):
        result = multiply(result, base)
    return divide(number(1), result) if exact < 0 else result


def root(value: Quotient) -> Quotient:
    """The square root of a number that is not negative."""
    exact = value.rational()
    if exact is None or exact < 0:
        raise Unreadable("a root of what is no number, or negative")
    inside = exact.numerator * exact.denominator
    if inside > _MAX_ROOT:
        whole = math.isqrt(inside)
        if whole * whole != inside:
            raise Unreadable("a root of a large number")
        return number(Fraction(whole, exact.denominator))
    outside, rest = 1, inside
    step = 2
    while step * step <= rest and step < 10**4:
        while rest % (step * step) == 0:
            rest //= step * step
            outside *= step
        step += 1
    whole = math.isqrt(rest)
    if whole * whole == rest:
        return number(Fraction(outside * whole, exact.denominator))
    return multiply(number(Fraction(outside, exact.denominator)), name(f"√{rest}"))


def equal(one: Quotient, other: Quotient) -> bool:
    """True where both are the same for all values of their names."""
    return not _sum(_times(one.top, other.below), _times(other.top, one.below), -1)


def difference(one: Quotient, other: Quotient) -> Poly:
    """A polynomial that is zero where both sides are equal."""
    return _sum(_times(one.top, other.below), _times(other.top, one.below), -1)


def put_in(poly: Mapping[Monomial, Fraction], values: Mapping[str, Quotient]) -> Quotient:
    """The polynomial with values for some of its names."""
    total = number(0)
    for monomial, factor in poly.items():
        part = number(factor)
        for held, count in monomial:
            part = multiply(part, power(values.get(held, name(held)), number(count)))
        total = add(total, part)
    return total


def _made(top: Poly, below: Poly) -> Quotient:
    if not below:
        raise Unreadable("a division by zero")
    if set(below) == {()}:
        factor = below[()]
        return Quotient({one: held / factor for one, held in top.items()}, {(): Fraction(1)})
    return Quotient(top, below)


def _sum(one: Mapping[Monomial, Fraction], other: Mapping[Monomial, Fraction], sign: int) -> Poly:
    result = dict(one)
    for monomial, factor in other.items():
        result[monomial] = result.get(monomial, Fraction(0)) + sign * factor
    return _bounded((held, factor) for held, factor in result.items())


def _times(one: Mapping[Monomial, Fraction], other: Mapping[Monomial, Fraction]) -> Poly:
    if len(one) * len(other) > MAX_TERMS * 8:
        raise Unreadable("too many terms")
    result: Poly = {}
    for left, factor in one.items():
        for right, second in other.items():
            monomial, inner = _joined(left, right)
            result[monomial] = result.get(monomial, Fraction(0)) + factor * second * inner
    return _bounded(result.items())


def _joined(left: Monomial, right: Monomial) -> tuple[Monomial, int]:
    powers = dict(left)
    for held, count in right:
        powers[held] = powers.get(held, 0) + count
    factor = 1
    for held in [one for one in powers if one.startswith("√")]:
        twice, powers[held] = divmod(powers[held], 2)
        factor *= int(held[1:]) ** twice
    return tuple(sorted((held, count) for held, count in powers.items() if count)), factor


def _bounded(items: Iterable[tuple[Monomial, Fraction]]) -> Poly:
    found = {monomial: factor for monomial, factor in items if factor}
    if len(found) > MAX_TERMS:
        raise Unreadable("too many terms")
    for monomial, factor in found.items():
        if sum(count for _, count in monomial) > MAX_DEGREE:
            raise Unreadable("a power is too large")
        if factor.numerator.bit_length() + factor.denominator.bit_length() > MAX_BITS:
            raise Unreadable("a number is too large")
    return found


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        raise Unreadable("a number is too large") from None


def _real(constant: str) -> float:
    if constant == PI:
        return math.pi
    return math.sqrt(int(constant[1:])) if constant[0] == "√" else float(constant[1:])


def _value(poly: Mapping[Monomial, Fraction]) -> float:
    total = 0.0
    for monomial, factor in poly.items():
        part = _float(factor)
        for held, count in monomial:
            part *= _real(held) ** count
        total += part
    return total


def class_of(poly: Mapping[Monomial, Fraction]) -> str:
    """An equation up to a factor."""
    if not poly:
        return "0"
    first = poly[max(poly)]
    return str(sorted((term, str(factor / first)) for term, factor in poly.items()))


def shown(value: Quotient) -> str:
    """The value in few characters."""
    exact, real = value.rational(), value.real()
    if exact is not None:
        return shown_number(exact)
    return f"{real:.6g}" if real is not None else "an expression"


def shown_number(value: Fraction) -> str:
    """The number in few characters."""
    whole = value.denominator == 1
    return str(value.numerator)[:40] if whole else f"{float(value):.6g}"
