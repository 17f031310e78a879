"""The facts that a derivation has reached: numbers, values of names, equations; what they imply.

Covered: an equation that follows from known ones by any linear combination, or in one name from a
polynomial whose every root it keeps; values put in; cases that were listed in full.
Not covered: systems that are not linear; they imply only what they hold as they stand.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from unhack_suites.derivations.reading import algebra
from unhack_suites.derivations.reading.algebra import Monomial, Poly, Quotient, Unreadable

_SMALL = range(13)
_USUAL = (16, 20, 24, 25, 30, 32, 50, 52, 60, 64, 90, 100, 128, 180, 256, 273, 360, 365, 1000, 1024,
          3600, 10_000, 1_000_000)  # fmt: skip
_PARTS = (
    "0.5",
    "1.5",
    "1.8",
    "0.2",
    "0.75",
    "3.6",
    "0.1",
    "0.01",
    "0.25",
    "3.14",
    "3.1416",
    "3.14159",
)
CONSTANTS = frozenset(map(Fraction, (*_SMALL, *_USUAL, *_PARTS)))
"""Numbers that need no reason."""
_MAX_KNOWN, _MAX_EQUATIONS, _MAX_DEGREE = 400, 16, 8
_MAX_MULTIPLIED, _MOST_RAISED = 6, 10**6
_MAX_TERMS, _MAX_BITS = 12, 128
"""Of an equation that is compared with others: a hostile one costs little."""


@dataclass(slots=True)
class Facts:
    """The knowledge after some lines."""

    numbers: set[Fraction] = field(default_factory=set[Fraction])
    """Given ones, and those that stand in verified lines."""
    derived: list[Quotient] = field(default_factory=list[Quotient])
    """Values that verified lines calculated."""
    values: dict[str, Quotient] = field(default_factory=dict[str, Quotient])
    cases: dict[str, list[Quotient]] = field(default_factory=dict[str, list[Quotient]])
    """Name -> its values, where they were listed in full."""
    equations: list[Poly] = field(default_factory=list[Poly])

    def knows(self, wanted: Sequence[Fraction]) -> bool:
        """True where every number was given, or stands in a verified line."""
        return all(one in self.numbers or -one in self.numbers for one in wanted)

    def supports(self, wanted: Sequence[Fraction]) -> bool:
        """True where every number is known, or one operation away from known ones."""
        missing = [one for one in wanted if not self._is_known(abs(one))]
        return all(self._is_near(abs(one)) for one in missing)

    def _is_known(self, value: Fraction) -> bool:
        same = (value, value / 100, value * 100, -value)
        return value in CONSTANTS or any(one in self.numbers for one in same)

    def _is_near(self, value: Fraction) -> bool:
        """Reached in the head: a sum, difference, product or quotient of two known numbers."""
        known = {abs(one) for one in sorted(self.numbers)[:_MAX_KNOWN]}
        for one in known:
            partners = {value - one, one - value, value + one}
            if one:
                partners |= {value / one, value * one}
            if partners & known:
                return True
        if any(value in (one**2, one**3) for one in known if one < _MOST_RAISED):
            return True
        near = {value - 1, value + 1, 1 - value, 100 - value, value - 100}
        for factor in (2, 10, 60, 100, 1000):
            near |= {value * factor, value / factor}
        return not near.isdisjoint(known)

    def is_derived(self, value: Fraction) -> bool:
        """True for a number that was calculated, or is one rounded to its places."""
        return any(rounds_to(held, value) for held in self.derived)

    def learn_number(self, value: Fraction | None) -> None:
        """Add a number that stands in a verified line."""
        if value is not None and len(self.numbers) < _MAX_KNOWN:
            self.numbers.add(value)

    def learn_equation(self, poly: Poly) -> None:
        """Add an equation `poly = 0`."""
        kinds = {algebra.class_of(one) for one in self.equations}
        if (
            poly
            and len(self.equations) < _MAX_EQUATIONS
            and not _is_large(poly)
            and algebra.class_of(poly) not in kinds
        ):
            self.equations.append(poly)

    def names(self) -> frozenset[str]:
        """Every name that stands in an equation."""
        return frozenset(name for poly in self.equations for name in _names(poly))

    def forget(self, name: str) -> None:
        """Free a name for another value."""
        self.values.pop(name, None)
        self.cases.pop(name, None)
        self.equations = [poly for poly in self.equations if _names(poly) != {name}]

    def leaves_open(self, poly: Poly) -> bool:
        """True where the names of an equation are not yet fixed by known ones, so that it may be a
        step of modelling."""
        if _is_large(poly):
            raise Unreadable("an equation is too large")
        reduced = self._reduced(poly)
        open_names, linked = _names(reduced), 0
        found = [part for part in map(self._reduced, self.equations) if part]
        rest = list({algebra.class_of(part): part for part in found}.values())
        grown = True
        while grown:
            near = [part for part in rest if _names(part) & open_names]
            grown = bool(near)
            rest = [part for part in rest if not _names(part) & open_names]
            linked += len(near)
            open_names = open_names.union(*(_names(part) for part in near))
        return linked < len(open_names)

    def implies(self, poly: Poly) -> bool:
        """True where `poly = 0` follows. Raises Unreadable where that is too large to tell."""
        if not poly:
            return True
        if _is_large(poly):
            raise Unreadable("an equation is too large")
        reduced = self._reduced(poly)
        if not reduced:
            return True
        known = [part for part in map(self._reduced, self.equations) if part]
        return (
            _in_span(reduced, known)
            or _keeps_roots(reduced, known)
            or _in_span(reduced, _multiples(reduced, known))
        )

    def is_case(self, poly: Poly) -> tuple[str, Quotient] | None:
        """The name and its value, where an equation keeps one root of a known one."""
        names, alone = _names(poly), Facts(equations=[poly])
        for name in names if len(names) == 1 else ():
            value = alone.solved(name)
            for known in self.equations:
                if (
                    value is not None
                    and _names(known) == names
                    and not algebra.put_in(known, {name: value}).top
                ):
                    return name, value
        return None

    def solved(self, name: str) -> Quotient | None:
        """The value of a name, where a known equation leaves one, or one that is positive."""
        for poly in map(self._reduced, self.equations):
            powers = {count for term in poly for held, count in term if held == name}
            if _names(poly) != {name} or len(powers) != 1:
                continue
            power = powers.pop()
            top = algebra.Quotient({t: f for t, f in poly.items() if (name, power) not in t}, _ONE)
            factor = {
                tuple(one for one in term if one[0] != name): held
                for term, held in poly.items() if (name, power) in term
            }  # fmt: skip
            value = algebra.divide(algebra.multiply(algebra.number(-1), top),
                                   algebra.Quotient(factor, _ONE))  # fmt: skip
            exact = value.rational()
            if power == 1:
                return value
            if power == 2 and exact is not None and exact > 0:
                return algebra.root(value)
            if exact is not None and exact > 0 and (root := _whole_root(exact, power)) is not None:
                return algebra.number(root)
        return None

    def _reduced(self, poly: Mapping[Monomial, Fraction]) -> Poly:
        return dict(algebra.put_in(poly, self.values).top)


def _is_large(poly: Mapping[Monomial, Fraction]) -> bool:
    return len(poly) > _MAX_TERMS or any(
        sum(count for _, count in term) > _MAX_DEGREE
        or factor.numerator.bit_length() + factor.denominator.bit_length() > _MAX_BITS
        for term, factor in poly.items()
    )


def rounds_to(value: Quotient, shown: Fraction, *, places: int | None = None) -> bool:
    """True where a number is `shown`, or rounds to it at the places that `shown` has."""
    real = value.real()
    if real is None:
        return False
    exact = value.rational()
    if exact is not None and (exact == shown or (abs(exact) < 1 and exact * 100 == shown)):
        return True
    count = _places(shown) if places is None else places
    if count == 0 and places is None and exact is not None and exact.denominator < 100:
        return False
    return abs(real - float(shown)) <= 0.5 * 10**-count * (1 + 1e-9)


def _places(value: Fraction) -> int:
    return next((count for count in range(12) if (value * 10**count).denominator == 1), 12)


def _names(poly: Mapping[Monomial, Fraction]) -> set[str]:
    held = {name for monomial in poly for name, _ in monomial}
    return {name for name in held if not algebra.is_constant(name)}


def is_only_positive_root(poly: Poly, value: Fraction) -> bool:
    """True for the one root above zero of a polynomial in one name (by Descartes' rule)."""
    row = _row(poly) if len(_names(poly)) == 1 else None
    if row is None or value <= 0 or sum(held * value**at for at, held in enumerate(row)):
        return False
    signs = [held > 0 for held in row if held]
    return sum(one != other for one, other in itertools.pairwise(signs)) == 1


_ONE: Mapping[Monomial, Fraction] = {(): Fraction(1)}


def _whole_root(value: Fraction, power: int) -> Fraction | None:
    near = round(float(value) ** (1 / power))
    return Fraction(near) if Fraction(near) ** power == value else None


def _multiples(poly: Poly, known: list[Poly]) -> list[Poly]:
    """The known equations, each also times every name of `poly`; none where they are many."""
    names = sorted(_names(poly))
    if not 2 <= len(names) <= 3 or len(known) > _MAX_MULTIPLIED:
        return []
    made = [algebra.multiply(algebra.Quotient(one, _ONE), algebra.name(name))
            for one in known for name in names]  # fmt: skip
    return [*known, *(dict(one.top) for one in made)]


def _in_span(poly: Poly, known: list[Poly]) -> bool:
    """True where the equation is a sum of multiples of known ones (terms as unknowns)."""
    terms = sorted({term for part in (poly, *known) for term in part})
    rows = [[part.get(term, Fraction(0)) for term in terms] for part in known]
    wanted = [poly.get(term, Fraction(0)) for term in terms]
    for column in range(len(terms)):
        pivot = next((row for row in rows if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        for row in (*rows, wanted):
            factor = row[column] / pivot[column]
            if factor:
                row[:] = [held - factor * other for held, other in zip(row, pivot, strict=True)]
    return not any(wanted)


def _keeps_roots(poly: Poly, known: list[Poly]) -> bool:
    """True where a known equation in one name has no root that the new one loses."""
    names = _names(poly)
    if len(names) != 1 or any(algebra.is_constant(name) for part in poly for name, _ in part):
        return False
    for part in known:
        if _names(part) != names:
            continue
        old, new = _row(part), _row(poly)
        if old is None or new is None:
            continue
        simple = _quotient(old, _common(old, _slope(old)))
        if not any(_rest(new, simple)):
            return True
    return False


def _row(poly: Poly) -> list[Fraction] | None:
    """The factors of a polynomial in one name, the lowest first; None where it is too large."""
    found = [Fraction(0)] * (_MAX_DEGREE + 1)
    for monomial, factor in poly.items():
        count = monomial[0][1] if monomial else 0
        if len(monomial) > 1 or count > _MAX_DEGREE:
            return None
        found[count] += factor
    return _trimmed(found)


def _trimmed(row: list[Fraction]) -> list[Fraction]:
    return row[: next((at for at in range(len(row), 0, -1) if row[at - 1]), 0)]


def _slope(row: list[Fraction]) -> list[Fraction]:
    return _trimmed([held * at for at, held in enumerate(row)][1:])


def _divided(row: list[Fraction], by: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    if not by:
        raise Unreadable("a division by zero")
    rest, found = list(row), [Fraction(0)] * max(1, len(row) - len(by) + 1)
    for at in range(len(row) - len(by), -1, -1):
        factor = rest[at + len(by) - 1] / by[-1]
        found[at] = factor
        for step, held in enumerate(by):
            rest[at + step] -= factor * held
    return _trimmed(found), _trimmed(rest)


def _quotient(row: list[Fraction], by: list[Fraction]) -> list[Fraction]:
    return _divided(row, by)[0]


def _rest(row: list[Fraction], by: list[Fraction]) -> list[Fraction]:
    return _divided(row, by)[1]


def _common(one: list[Fraction], other: list[Fraction]) -> list[Fraction]:
    """The greatest common divisor."""
    for _ in itertools.repeat(None, 2 * _MAX_DEGREE):
        if not other:
            return one
        one, other = other, _rest(one, other)
    return one
