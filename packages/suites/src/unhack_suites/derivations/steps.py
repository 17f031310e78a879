"""One relation judged against what is known.

Covered: calculations, roundings, equations that follow or lose a root, values of names, cases.
Not covered: words; `conclusions` resolves those at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from unhack_suites.derivations.facts import CONSTANTS
from unhack_suites.derivations.names import judge_equation
from unhack_suites.derivations.reading import algebra
from unhack_suites.derivations.reading.algebra import Quotient
from unhack_suites.derivations.reading.bounds import Bound, whole_numbers_at
from unhack_suites.derivations.reading.equalities import holds
from unhack_suites.derivations.reading.expressions import Expression
from unhack_suites.derivations.reading.relations import Relation
from unhack_suites.derivations.report import LineStatus
from unhack_suites.derivations.walk import ClaimFinding, Walk, learn_cases, put_in


def judge_bound(walk: Walk, bound: Bound) -> ClaimFinding:
    """The standing of an inequality; its bound, and the whole number at it, are derived."""
    status, reason = walk.bounds.judge(bound)
    if status is LineStatus.ASSUMED and not walk.facts.supports(bound.numbers):
        return ClaimFinding(LineStatus.UNJUSTIFIED, "it is assumed with numbers from nowhere")
    if status is LineStatus.WRONG or not bound.name:
        return ClaimFinding(status, reason)
    found = (bound.value, *whole_numbers_at(bound)) if bound.alone else ()
    for value in (*bound.numbers, *found):
        walk.facts.learn_number(value)
    if status is LineStatus.VERIFIED:
        walk.facts.derived += map(algebra.number, found)
    return ClaimFinding(status, "", found, (f"{bound.name} {bound.sign} {bound.value}",))


def judge_relation(walk: Walk, relation: Relation) -> ClaimFinding:
    """The standing of a chain; what it shows is learnt, unless it is bad."""
    pairs = list(zip(relation.sides, relation.sides[1:], relation.signs, strict=False))
    findings = [_pair(walk, one, other, sign) for one, other, sign in pairs]
    for finding in findings:
        if finding.status is LineStatus.WRONG:
            return finding
    sides = [side[0] for side in relation.sides]
    new = [
        frozenset((one[0].shape, other[0].shape))
        for one, other, _ in pairs
        if one[0].shape != other[0].shape or one[0].scale != other[0].scale
    ]
    if all(shapes in walk.seen for shapes in new):
        return ClaimFinding(LineStatus.PADDING, "said before, or the same on both sides")
    closed = [side for side in sides if not side.value.names()]
    for (one, other, _), finding in zip(pairs, findings, strict=True):
        numbers = (*one[0].numbers, *other[0].numbers)
        if finding.status is LineStatus.ASSUMED and not walk.facts.supports(numbers):
            return ClaimFinding(LineStatus.UNJUSTIFIED, "it is assumed with numbers from nowhere")
    if _begs(walk, sides):
        return ClaimFinding(LineStatus.UNJUSTIFIED, "it takes the answer for granted")
    if not _supported(walk, closed):
        if _rests_on_unread(walk, closed):
            return ClaimFinding(LineStatus.UNREAD, "it rests on a line that is not read here")
        if _restates(walk, sides):
            walk.seen.update(new)
            return _learnt(walk, relation, findings)
        numbers = [value for side in closed for value in side.numbers]
        odd = next((one for one in numbers if not walk.facts.supports([one])), numbers[0])
        return ClaimFinding(
            LineStatus.UNJUSTIFIED, f"numbers from nowhere, as {algebra.shown_number(odd)}"
        )
    for finding in findings:
        if finding.status is LineStatus.UNJUSTIFIED:
            return finding
    walk.seen.update(new)
    return _learnt(walk, relation, findings)


def _learnt(walk: Walk, relation: Relation, findings: Sequence[ClaimFinding]) -> ClaimFinding:
    values: list[Fraction] = []
    classes: list[str] = []
    sides = [side[0] for side in relation.sides]
    calculated = any(held.operations for side in relation.sides for held in side)
    calculated = calculated or any(one.classes for one in findings)
    calculated = calculated or len({side[0].scale for side in relation.sides} - {None}) > 1
    for side in relation.sides:
        for held in side:
            for value in held.numbers:
                walk.facts.learn_number(value)
            if not held.value.names():
                walk.facts.learn_number(held.value.rational())
                if calculated and _is_result(held):
                    walk.facts.derived.append(held.value)
                    exact = held.value.rational()
                    if held.percent and exact is not None:
                        walk.facts.derived.append(algebra.number(exact * 100))
                    values += [] if exact is None else [exact]
            elif calculated:
                walk.facts.derived.append(held.value)
    walk.facts.derived += _remainders(sides) if walk.remainders else []
    pairs = zip(relation.sides, relation.sides[1:], findings, strict=False)
    for one, other, finding in pairs:
        classes += finding.classes
        left, right = one[0], other[0]
        names = left.value.names() | right.value.names()
        if names and not names & set(walk.facts.cases) and len(one) == len(other) == 1:
            walk.facts.learn_equation(algebra.difference(left.value, right.value))
            walk.written.append((left, right))
    first = relation.sides[0]
    if len(first) == 1 and any(side[0].operations for side in relation.sides[1:]):
        walk.worked |= {name for name in first[0].value.names() if name == first[0].shape}
    if len(first) == 1:
        for side in relation.sides[1:]:
            learn_cases(walk, first[0], [one.value for one in side], alone=len(side) == 1)
        learn_cases(walk, relation.sides[-1][0], [first[0].value], alone=True)
    assumed = all(one.status in (LineStatus.ASSUMED, LineStatus.PADDING) for one in findings)
    status = LineStatus.ASSUMED if assumed else LineStatus.VERIFIED
    return ClaimFinding(status, "", tuple(values), tuple(classes))


def _remainder(side: Expression) -> list[Fraction]:
    """The rest of a division: 3 in `5 · 7 + 3`."""
    if len(side.numbers) != len(("quotient", "divisor", "rest")):
        return []
    one, other, rest = side.numbers
    held = one * other + rest == side.value.rational() and 0 <= rest < max(one, other)
    return [rest] if held and rest.denominator == 1 else []


def _remainders(sides: Sequence[Expression]) -> list[Quotient]:
    """The rests of divisions, and the last digit of a whole number."""
    found = [rest for side in sides for rest in _remainder(side)]
    whole = [side.value.rational() for side in sides if not side.operations]
    found += [abs(value) % 10 for value in whole if value is not None and value.denominator == 1]
    return [algebra.number(value) for value in found]


_MOST_OF_A_RESULT = 2
"""Numbers and operations that a side may hold and be a result: `1/9`, `5√2`, `20.25π`."""


def _is_result(side: Expression) -> bool:
    """True for a side that is worked out, as far as it will be."""
    scientific = "10^" in side.shape and len(side.numbers) == _MOST_OF_A_RESULT + 1
    short = max(side.operations, len(side.numbers)) <= _MOST_OF_A_RESULT
    if scientific:
        return True
    return short and (not side.operations or side.value.rational() is None or "/" in side.shape)


def _begs(walk: Walk, sides: Sequence[Expression]) -> bool:
    """True where the expected answer, which nothing has led to, is put in, or comes out of numbers
    that are all from nowhere."""
    wanted = walk.expected
    if wanted is None or wanted in walk.facts.numbers or walk.facts.is_derived(wanted):
        return False
    calculated = [side for side in sides if side.operations]
    closed = [side for side in calculated if not side.value.names()]
    if any(wanted in side.numbers for side in closed) and wanted not in CONSTANTS:
        divided = any(_remainder(side) and walk.facts.knows(side.numbers[1:2]) for side in closed)
        return not divided and not any(walk.facts.knows(side.numbers) for side in calculated)
    names = frozenset[str]().union(*(side.value.names() for side in sides))
    if names:
        lone = all(
            not side.operations and side.value.rational() in (None, wanted) for side in sides
        )
        return lone and not names & walk.facts.names()
    comes_out = any(side.value.rational() == wanted for side in calculated)
    numbers = {abs(value) for side in calculated for value in side.numbers}
    if not walk.given and closed and CONSTANTS.issuperset(map(abs, closed[0].numbers)):
        return False  # nothing is given that it could rest on
    return comes_out and not numbers <= CONSTANTS and not numbers & walk.facts.numbers


def _restates(walk: Walk, sides: Sequence[Expression]) -> bool:
    """True where a name that has a value is said to be another calculation of the same value."""
    for side in sides[:-1]:
        found = put_in(side.value, walk.facts.values) if side.value.names() else None
        if found is not None and side.operations and algebra.equal(found, sides[-1].value):
            return True  # a formula of known names comes to it
    held = sides[0].shape
    value = walk.facts.values.get(held)
    return (
        value is not None
        and value.rational() is not None
        and sides[0].value.names() == frozenset({held})
        and all(algebra.equal(value, side.value) for side in sides[1:])
    )


def _rests_on_unread(walk: Walk, closed: Sequence[Expression]) -> bool:
    """True where the numbers that nothing supports stand in lines that were not read; what comes
    out of them is then no better known."""
    for side in closed:
        odd = [value for value in side.numbers if not walk.facts.supports([value])]
        if side.operations and all(abs(value) in walk.unread for value in odd):
            walk.unread.update(abs(value) for one in closed for value in one.numbers)
            return True
    return False


def _supported(walk: Walk, closed: Sequence[Expression]) -> bool:
    """True where a side of a calculation stands on known numbers."""
    calculated = [side for side in closed if side.operations]
    if not calculated:
        return True
    return any(
        walk.facts.supports(side.numbers) if side.operations else walk.facts.knows(side.numbers)
        for side in closed
    )


def _calculation(
    one: tuple[Expression, ...], other: tuple[Expression, ...], sign: str
) -> ClaimFinding:
    if len(one) != len(other):
        return ClaimFinding(LineStatus.UNREAD, "two signs on one side only")
    for left, right in zip(one, other, strict=True):
        if not holds(left, right, sign):
            reason = f"{algebra.shown(left.value)} is not {algebra.shown(right.value)}"
            return ClaimFinding(LineStatus.WRONG, reason)
    if one[0].shape == other[0].shape and one[0].scale == other[0].scale:
        return ClaimFinding(LineStatus.PADDING)
    return ClaimFinding(LineStatus.VERIFIED)


def _pair(
    walk: Walk, one: tuple[Expression, ...], other: tuple[Expression, ...], sign: str
) -> ClaimFinding:
    """Two neighbours of a chain."""
    left, right = one[0], other[0]
    names = left.value.names() | right.value.names()
    if not names:
        return _calculation(one, other, sign)
    if len(one) != len(other) and min(len(one), len(other)) == 1:
        return _name_with_signs(walk, one, other)
    if all(algebra.equal(held.value, near.value) for held, near in zip(one, other, strict=False)):
        same = left.shape == right.shape
        return ClaimFinding(LineStatus.PADDING if same else LineStatus.VERIFIED)
    if names <= walk.free:
        return ClaimFinding(LineStatus.WRONG, "the two sides are not the same for all values")
    return judge_equation(walk, left, right, sign)


def _name_with_signs(
    walk: Walk, one: tuple[Expression, ...], other: tuple[Expression, ...]
) -> ClaimFinding:
    """A name that is `±`: both values together."""
    lone, several = (one[0], other) if len(one) == 1 else (other[0], one)
    held = next(iter(lone.value.names()), "")
    if lone.shape != held or any(side.value.names() for side in several):
        return ClaimFinding(LineStatus.UNREAD, "two signs in an equation")
    return walk.name_cases(held, [side.value for side in several])
