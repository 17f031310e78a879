"""A derivation on the way: its facts, what was said, and which names are free.

    walk = Walk(Facts(), {})

Covered: cases of a name, expressions that words say before a name has its value.
Not covered: the judging of lines, which `steps` does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from unhack_suites.derivations.facts import Facts
from unhack_suites.derivations.reading import algebra
from unhack_suites.derivations.reading.algebra import Quotient
from unhack_suites.derivations.reading.bounds import Bounds
from unhack_suites.derivations.reading.expressions import Expression, read
from unhack_suites.derivations.report import LineStatus


@dataclass(frozen=True, slots=True)
class ClaimFinding:
    """The standing of one relation."""

    status: LineStatus
    reason: str = ""
    values: tuple[Fraction, ...] = ()
    classes: tuple[str, ...] = ()


@dataclass(slots=True)
class Walk:
    """A derivation on the way."""

    facts: Facts
    functions: dict[str, tuple[str, str]]
    seen: set[frozenset[str]] = field(default_factory=set[frozenset[str]])
    """Shapes of relations that were said."""
    written: list[tuple[Expression, Expression]] = field(
        default_factory=list[tuple[Expression, Expression]]
    )
    """Equations as they stand."""
    given: set[Fraction] = field(default_factory=set[Fraction])
    stated: frozenset[str] = frozenset()
    """Names that stand in equations of the statement."""
    free: frozenset[str] = frozenset()
    """Names of the statement that stand in no equation: relations hold for all their values."""
    last: str = ""
    spoken: list[Expression] = field(default_factory=list[Expression])
    """Expressions with names that stand in words: `the numbers are n and n + 2`."""
    tried: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Sides of equations that can be read only with a value for their name."""
    bounds: Bounds = field(default_factory=Bounds)
    in_case: bool = False
    """True in a line that takes one case of several."""
    remainders: bool = False
    """True where the problem asks for a rest or a digit."""
    expected: Fraction | None = None
    unread: set[Fraction] = field(default_factory=set[Fraction])
    """Numbers of lines that were not read."""
    worked: set[str] = field(default_factory=set[str])
    """Names of which a line that holds says a calculation."""
    defined: set[str] = field(default_factory=set[str])
    """Names that a line gave the value of a calculation; another line may use them anew."""

    def fits(self, held: str, value: Fraction) -> bool:
        """True where the value of a name makes an equation true that is not read without it."""
        for pair in self.tried[:_MOST_TRIED]:
            texts = [re.sub(rf"(?<![A-Za-z]){held}(?![A-Za-z])", f"({value})", one) for one in pair]
            try:
                left, right = (read(one, self.functions).value for one in texts)
            except algebra.Unreadable:
                continue
            if texts != [*pair] and not left.names() and algebra.equal(left, right):
                return True
        return False

    def hear(self, spoken: Sequence[Expression]) -> None:
        """Take what words say of a name that has no value yet."""
        self.spoken += [
            one for one in spoken
            if not one.value.names() & set(self.facts.values) and self.facts.supports(one.numbers)
        ]  # fmt: skip

    def said_values(self) -> list[Quotient]:
        """The values of what was said in words, where all names in it have become known."""
        found = [put_in(one.value, self.facts.values) for one in self.spoken[:_MOST_SPOKEN]]
        return [one for one in found if one is not None and not one.names()]

    def name_cases(self, held: str, values: Sequence[Quotient]) -> ClaimFinding:
        """`held` is one of `values`, and nothing else."""
        product = algebra.number(1)
        for value in values:
            factor = algebra.add(algebra.name(held), value, -1)
            product = algebra.multiply(product, factor)
            for poly in self.facts.equations:
                left = algebra.put_in(poly, {**self.facts.values, held: value})
                if left.top and not left.names():
                    return ClaimFinding(
                        LineStatus.WRONG, f"{held} cannot be {algebra.shown(value)}"
                    )
        poly = dict(product.top)
        if not self.facts.implies(poly) and not self.facts.leaves_open(poly):
            return ClaimFinding(LineStatus.WRONG, f"these are not all values of {held}")
        self.facts.cases[held] = list(values)
        self.facts.derived += values
        found = tuple(exact for value in values if (exact := value.rational()) is not None)
        for exact in found:
            self.facts.learn_number(exact)
        return ClaimFinding(LineStatus.VERIFIED, "", found, (f"cases of {held}",))


_MOST_SPOKEN, _MOST_TRIED = 40, 8


def put_in(value: Quotient, known: Mapping[str, Quotient]) -> Quotient | None:
    """The value with values for its names; None where that is not read."""
    try:
        top, below = (algebra.put_in(part, known) for part in (value.top, value.below))
        return algebra.divide(top, below)
    except algebra.Unreadable:
        return None


def learn_cases(walk: Walk, name: Expression, values: Sequence[Quotient], *, alone: bool) -> None:
    """A side that is one name has these values."""
    held = next(iter(name.value.names()), "")
    if name.shape != held or not held or any(value.names() for value in values):
        return
    if alone and held in walk.facts.cases:
        walk.facts.values[held] = values[0]
    elif alone:
        walk.facts.values.setdefault(held, values[0])
    else:
        walk.facts.cases[held] = list(values)
    walk.facts.derived += [] if alone else values
