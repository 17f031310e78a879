"""One relation judged against what is known.

Covered: calculations, roundings, equations that follow or lose a root, values of names, cases.
Not covered: words; `checker` resolves those at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from unhack_suites.derivations import algebra
from unhack_suites.derivations.algebra import Quotient
from unhack_suites.derivations.equalities import holds, is_near
from unhack_suites.derivations.expressions import Expression
from unhack_suites.derivations.facts import CONSTANTS, Facts, is_only_positive_root, rounds_to
from unhack_suites.derivations.inequalities import Bound, Bounds, whole_numbers_at
from unhack_suites.derivations.relations import Relation
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
    bounds: Bounds = field(default_factory=Bounds)
    remainders: bool = False
    """True where the problem asks for a rest or a digit."""
    expected: Fraction | None = None
    unread: set[Fraction] = field(default_factory=set[Fraction])
    """Numbers of lines that were not read."""
    worked: set[str] = field(default_factory=set[str])
    """Names of which a line that holds says a calculation."""
    defined: set[str] = field(default_factory=set[str])
    """Names that a line gave the value of a calculation; another line may use them anew."""

    def hear(self, spoken: Sequence[Expression]) -> None:
        """Take what words say of a name that has no value yet."""
        self.spoken += [
            one for one in spoken
            if not one.value.names() & set(self.facts.values) and self.facts.supports(one.numbers)
        ]  # fmt: skip

    def said_values(self) -> list[Quotient]:
        """The values of what was said in words, where all names in it have become known."""
        found = [_put_in(one.value, self.facts.values) for one in self.spoken[:_MOST_SPOKEN]]
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


_MOST_SPOKEN = 40


def _put_in(value: Quotient, known: Mapping[str, Quotient]) -> Quotient | None:
    try:
        top, below = (algebra.put_in(part, known) for part in (value.top, value.below))
        return algebra.divide(top, below)
    except algebra.Unreadable:
        return None


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
    """What a division with rest leaves: 3 in `5 · 7 + 3`."""
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


def _restates(walk: Walk, sides: Sequence[Expression]) -> bool:
    """True where a name that has a value is said to be another calculation of the same value."""
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
    return _equation(walk, left, right, sign)


def _equation(walk: Walk, left: Expression, right: Expression, sign: str) -> ClaimFinding:
    poly = algebra.difference(left.value, right.value)
    kind = algebra.class_of(poly)
    for held in {held for part in poly for held, _ in part} & set(walk.facts.cases):
        for value in walk.facts.cases[held]:
            if not algebra.put_in(poly, {**walk.facts.values, held: value}).top:
                return ClaimFinding(LineStatus.VERIFIED, "", (), (kind,))
    for name, value in ((left, right), (right, left)):
        held = next(iter(name.value.names()), "")
        if name.shape == held and not value.value.names():
            return _value_of(walk, held, value, sign)
    if walk.facts.implies(poly):
        return ClaimFinding(LineStatus.VERIFIED, "", (), (kind,))
    if walk.facts.leaves_open(poly):
        return ClaimFinding(LineStatus.ASSUMED)
    return ClaimFinding(LineStatus.WRONG, "it does not follow from what is known")


def _value_of(walk: Walk, held: str, value: Expression, sign: str) -> ClaimFinding:
    """A name with a value that is a number."""
    facts = walk.facts
    poly = algebra.difference(algebra.name(held), value.value)
    if held in facts.values:
        if algebra.equal(facts.values[held], value.value):
            if held in walk.worked and not value.operations:
                facts.derived.append(value.value)
            return ClaimFinding(LineStatus.VERIFIED)
        real = value.value.rational()
        if real is not None and rounds_to(facts.values[held], real) and value.places:
            return ClaimFinding(LineStatus.VERIFIED)
        if is_near(facts.values[held], value, sign):
            facts.values[held] = value.value  # the lines after it go on with the rounded one
            return ClaimFinding(LineStatus.VERIFIED)
        if held in walk.defined and value.operations:
            facts.forget(held)
            return ClaimFinding(LineStatus.ASSUMED)
        return ClaimFinding(LineStatus.WRONG, f"{held} is {algebra.shown(facts.values[held])}")
    if held in facts.cases:
        if any(algebra.equal(one, value.value) for one in facts.cases[held]):
            return ClaimFinding(LineStatus.VERIFIED)
        return ClaimFinding(LineStatus.WRONG, f"{algebra.shown(value.value)} is none of its cases")
    if facts.implies(poly):
        if _may_be_read_off(walk, held) or _is_solved(walk, value):
            return ClaimFinding(LineStatus.VERIFIED, "", (), (algebra.class_of(poly),))
        return ClaimFinding(
            LineStatus.UNJUSTIFIED, f"no step leads to {held} = {algebra.shown(value.value)}"
        )
    known = facts.solved(held)
    if _is_positive_root(walk, held, value) or (known is not None and is_near(known, value, sign)):
        return ClaimFinding(LineStatus.VERIFIED, "", (), (algebra.class_of(poly),))
    if _is_root(walk, held, value):
        return ClaimFinding(LineStatus.VERIFIED, "", (), (algebra.class_of(poly),))
    if facts.leaves_open(poly):
        exact = value.value.rational()
        if value.operations or exact is None or facts.supports([exact]) or facts.is_derived(exact):
            if value.operations:
                walk.defined.add(held)
            return ClaimFinding(LineStatus.ASSUMED)
        return ClaimFinding(
            LineStatus.UNJUSTIFIED, f"nothing before leads to {algebra.shown(value.value)}"
        )
    return ClaimFinding(LineStatus.WRONG, f"{held} = {algebra.shown(value.value)} does not follow")


_COLLECTED = 2
"""Times that an unknown may stand on one side, the other being a number: `5x - 3x = 14`."""


def _may_be_read_off(walk: Walk, held: str) -> bool:
    """True where an equation as it stands has the name once, or on one side only, and nothing else
    that is unknown."""
    for left, right in walk.written:
        names = (left.value.names() | right.value.names()) - set(walk.facts.values)
        shapes = left.shape + " " + right.shape
        count = sum(sign == held for sign in shapes)
        collected = not (left.value.names() and right.value.names())
        if names <= {held} and count <= (_COLLECTED if collected else 1):
            return True
        if (
            names
            and names <= {held}
            and count == _COLLECTED
            and "(" not in shapes.strip("()").replace(") (", " ")
        ):
            poly = algebra.difference(left.value, right.value)
            if abs(poly.get(((held, 1),), 0)) == 1 and len(poly) <= _COLLECTED:
                return True  # one move to each side, and nothing to divide: `2x + 6 = x + 12`
    return False


def _is_solved(walk: Walk, value: Expression) -> bool:
    """True for a calculation with every number of an equation as it stands."""
    used = Counter(map(abs, value.numbers))
    return bool(value.operations) and any(
        not Counter(map(abs, (*left.numbers, *right.numbers))) - used
        for left, right in walk.written
    )


def _is_positive_root(walk: Walk, held: str, value: Expression) -> bool:
    """True for the root above zero, of a name that the derivation brought in: the problem asks for
    lengths, counts and the like."""
    known, exact = walk.facts.solved(held), value.value.rational()
    if held in walk.stated:
        return False
    return (known is not None and algebra.equal(known, value.value)) or (
        exact is not None
        and any(is_only_positive_root(dict(algebra.put_in(poly, walk.facts.values).top), exact)
                for poly in walk.facts.equations if any(held == n for t in poly for n, _ in t))
    )  # fmt: skip


def _is_root(walk: Walk, held: str, value: Expression) -> bool:
    """True for a root that is written as one, of an equation in squares."""
    real = value.value.real()
    if not value.rooted or real is None or real < 0:
        return False
    for poly in walk.facts.equations:
        left = algebra.put_in(poly, {**walk.facts.values, held: value.value})
        if any(name == held for part in poly for name, _ in part) and not left.top:
            return True
    return False


def _name_with_signs(
    walk: Walk, one: tuple[Expression, ...], other: tuple[Expression, ...]
) -> ClaimFinding:
    """A name that is `±`: both values together."""
    lone, several = (one[0], other) if len(one) == 1 else (other[0], one)
    held = next(iter(lone.value.names()), "")
    if lone.shape != held or any(side.value.names() for side in several):
        return ClaimFinding(LineStatus.UNREAD, "two signs in an equation")
    return walk.name_cases(held, [side.value for side in several])
