"""Equations with names judged against what is known: values, roots, cases.

    judge_equation(walk, read("x"), read("3"), "=")

Covered: equations that follow or are open, values that steps lead to, the root above zero, rounded
values.
Not covered: calculations without names, which `equalities` compares.
"""

from __future__ import annotations

from collections import Counter

from unhack_suites.derivations.facts import is_only_positive_root, rounds_to
from unhack_suites.derivations.reading import algebra
from unhack_suites.derivations.reading.equalities import is_near
from unhack_suites.derivations.reading.expressions import Expression
from unhack_suites.derivations.report import LineStatus
from unhack_suites.derivations.walk import ClaimFinding, Walk


def judge_equation(walk: Walk, left: Expression, right: Expression, sign: str) -> ClaimFinding:
    """The standing of an equation with names."""
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
    if walk.in_case and (found := walk.facts.is_case(poly)):
        walk.facts.cases.setdefault(found[0], []).append(found[1])
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
        if exact is not None and facts.derived and walk.fits(held, exact):
            facts.derived.append(value.value)
            return ClaimFinding(LineStatus.VERIFIED, "", (), (algebra.class_of(poly),))
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
