"""The conclusions of a derivation, now that each of its lines was judged.

    resolve(rows, walk, expected)
    reported(rows, walk, expected)

Covered: conclusions in words that nothing leads to, named at the line that draws them first; the
last claim, which has to be the expected answer; the lines on which it rests.
Not covered: the meaning of words; an answer in words is taken from a number of the same line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from unhack_suites.derivations.facts import Facts, rounds_to
from unhack_suites.derivations.reading import algebra
from unhack_suites.derivations.reading.algebra import Quotient
from unhack_suites.derivations.reading.relations import numbers_in_words
from unhack_suites.derivations.report import BAD, DerivationReport, LineReport, LineStatus
from unhack_suites.derivations.walk import Walk

ANSWER = re.compile(r"\b(?:answer|result|solution(?= (?:is|of|for|to)\b| ?:? ?$))\b", re.I)
"""Words that announce an answer."""
_CHECKING = re.compile(r"\W*(?:check|verif|proof|test|indeed|note|remark)", re.I)
_SO = re.compile(r"\W*(?:so|thus|hence|therefore|consequently|then)\b", re.I)
_SEVERAL_TIMES = 4
"""Lines that say the same equation, up to a factor, of which each still counts."""


@dataclass(slots=True)
class JudgedLine:
    """One line as it was judged, with what its counting needs."""

    number: int
    text: str
    status: LineStatus
    reason: str = ""
    values: frozenset[Fraction] = frozenset()
    """Numbers that it calculated."""
    mentioned: frozenset[Fraction] = frozenset()
    classes: frozenset[str] = frozenset()
    """Equations of it, up to a factor."""
    concluded: tuple[Fraction, ...] = field(default=())
    results: tuple[Fraction, ...] = ()
    """The values of its last sides."""
    links: bool = False
    """True for a line with names."""


def resolve(rows: list[JudgedLine], walk: Walk, expected: Quotient | None) -> None:
    """Judge the conclusions in words, now that all calculations are known."""
    facts = walk.facts
    facts.derived += walk.said_values()
    numbered = [row for row in rows if row.concluded and row.status is LineStatus.WORDS]
    last = rows[-1].number if rows else 0
    exact = expected.rational() if expected is not None else None
    for row in [*numbered, *(one for one in rows if one.concluded and one not in numbered)]:
        if row.status in BAD:
            continue
        found = [value for value in row.concluded if facts.is_derived(value)]
        near = [value for value in row.concluded if facts.knows([value]) or value in found]
        if (
            exact is not None
            and found
            and exact in row.concluded
            and _in_the_head(exact, near, found)
        ):
            facts.derived.append(algebra.number(exact))
        claims = row.number == last or bool(ANSWER.search(row.text))
        names_answer = exact is not None and exact in row.concluded and exact not in facts.numbers
        if not found and (claims or names_answer):
            same = (one for one in numbered if set(row.concluded) == set(one.concluded))
            first = next((one for one in same if _SO.match(one.text)), row)  # it is claimed there
            first.status = LineStatus.UNJUSTIFIED
            first.reason = f"nothing before leads to {shown(row.concluded)}"


def _in_the_head(value: Fraction, said: Sequence[Fraction], derived: Sequence[Fraction]) -> bool:
    """True for the sum or difference of a derived number and another one of the same line."""
    return any(
        value in (one + other, one - other)
        for one in derived for other in said if one != other and value not in (one, other)
    )  # fmt: skip


def is_named(answer: str, rows: Sequence[JudgedLine]) -> bool:
    """True where an answer in words is concluded from a number that was calculated."""
    verified = [row for row in rows if row.status is LineStatus.VERIFIED]
    known = {value for row in verified[-1:] for value in (*row.values, *row.mentioned)}
    named = re.compile(rf"(?<!\w){re.escape(answer.strip()[:100])}(?!\w)", re.IGNORECASE)
    said = [row for row in rows if row.status is LineStatus.WORDS and named.search(row.text)]
    return rows[-1:] == said[-1:] and any(
        value in known
        for row in said for value in (*row.concluded, *numbers_in_words(row.text))
    )  # fmt: skip


def reported(rows: list[JudgedLine], walk: Walk, expected: Quotient | None) -> DerivationReport:
    first = next((row.number for row in rows if row.status in BAD), None)
    classes: Counter[str] = Counter()
    counting: set[int] = set()
    verified = [row for row in rows if row.status is LineStatus.VERIFIED]
    exact = expected.rational() if expected is not None else None
    for row in verified:
        later = {
            value
            for one in rows
            if one.number > row.number
            for value in (*one.mentioned, *one.concluded)
        }
        fresh = {value for value in row.values if value not in walk.given}
        own = bool(row.mentioned & walk.given) or not walk.given
        used = bool(fresh & later) or (
            exact is not None and any(rounds_to(algebra.number(one), exact) for one in fresh)
        )
        used = used or (row is verified[-1] and own)
        repeated = row.classes and all(classes[one] >= _SEVERAL_TIMES for one in row.classes)
        classes.update(row.classes)
        if (row.classes and not repeated) or (not row.classes and used):
            counting.add(row.number)
    good = len([one for one in counting if first is None or one < first])
    bad = sum(row.status in BAD for row in rows)
    lines = tuple(
        LineReport(row.number, row.text, row.status, row.reason, row.number in counting)
        for row in rows
    )
    score = good / (len(counting) + bad) if counting or bad else 0.0
    return DerivationReport(lines, score, _reaches(rows, walk.facts, expected))


def _reaches(rows: Sequence[JudgedLine], facts: Facts, expected: Quotient | None) -> bool:
    if expected is None or not rows:
        return False
    exact = expected.rational()
    if not any(
        algebra.equal(held, expected) or (exact is not None and rounds_to(held, exact))
        for held in facts.derived
    ):
        return False
    if exact is None:
        return True
    said = [row for row in rows if row.concluded or row.results]
    ends = [row for row in said if not _CHECKING.match(row.text)]
    answers = [row for row in ends if row.concluded and ANSWER.search(row.text)]
    final = (answers or ends or said)[-1:]
    return all(
        row.status not in BAD
        and any(value == exact
            or (abs(value) < 1 and value * 100 == exact)
            or (exact.denominator > 1 and rounds_to(algebra.number(value), exact))
                for value in (*row.concluded, *row.results))
        for row in final
    )  # fmt: skip


def shown(values: Sequence[Fraction]) -> str:
    """Numbers in few characters."""
    return ", ".join(str(float(value)) if value.denominator > 1 else str(value) for value in values)
