"""The given numbers that an answer rests on.

    ground = ground_of(rows, Fraction(400))
    unused(("24", "17", "8"), ground)

A true calculation may come out at the answer by chance (`30 + 7.5 = 37.5`). A derivation that
leaves a number out that the answer depends on is no derivation of it.

Covered: numbers as they stand, as parts of a hundred, as what they leave of a whole (`0.65` for
35%), doubled, and in fractions.
Not covered: a number that is used for something else than it means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """The numbers of one line that is not bad."""

    values: frozenset[Fraction]
    """Those that it calculates."""
    mentioned: frozenset[Fraction]
    links: bool
    """True for a line with names, which rests on others without their numbers."""


def ground_of(rows: Sequence[DerivedRow], answer: Fraction) -> frozenset[Fraction]:
    """Every number of the lines that lead to `answer`."""
    wanted, found = {answer}, set[Fraction]()
    for row in reversed(rows):
        if row.links or any(_is_wanted(value, wanted) for value in row.values):
            found |= row.mentioned
            wanted |= row.mentioned
    return frozenset(found)


def _is_wanted(value: Fraction, wanted: set[Fraction]) -> bool:
    """True for a number that stands there, or whose two parts do, as in `2/5`."""
    parts = {abs(Fraction(value.numerator)), Fraction(value.denominator)}
    return value in wanted or abs(value) in wanted or (value.denominator > 1 and parts <= wanted)


def unused(needed: Iterable[str], ground: frozenset[Fraction]) -> tuple[str, ...]:
    """Those of `needed`, numbers such as `24`, `3/5` or `15%`, that are not in the ground."""
    return tuple(one for one in needed if not _forms(one) & ground)


def _forms(text: str) -> frozenset[Fraction]:
    value = Fraction(text.rstrip("%"))
    part = value / 100 if text.endswith("%") else value
    found = {value, part, -value, 1 - part, 1 + part, 2 * value}
    if text.endswith("%"):
        found |= {100 - value, 100 + value}
    if value.denominator > 1:
        found |= {Fraction(value.denominator), value * 100, 100 - value * 100}
    return frozenset(found)
