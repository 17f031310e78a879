"""Derivations checked line by line.

    report = check_derivation(statement, text, answer="40")

A line may calculate (`3 · 12 = 36`), go on with an equation (`2x = 8`), name a value (`A = 24`), or
conclude in words ("so there are 40 left"). Whatever it calculates must be true exactly, or within
the places shown where it says `≈`; its numbers must be known or near; an equation must follow from
what is known, without losing a root; a bare value must have been calculated.

Covered: errors that cancel later, jumps to the answer, padding (tautologies, repeats, the question
again), numbers from nowhere, names with two values; right work in many spellings (`notation`).
Not covered: a wrong model that is calculated rightly, which the outcome shows; notation that is not
read, which earns nothing and is no error; proofs in words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from unhack_suites.derivations.conclusions import (
    ANSWER,
    JudgedLine,
    is_named,
    reported,
    resolve,
    shown,
)
from unhack_suites.derivations.coverage import DerivedRow, ground_of, unused
from unhack_suites.derivations.facts import Facts
from unhack_suites.derivations.reading import algebra
from unhack_suites.derivations.reading.algebra import Quotient, Unreadable
from unhack_suites.derivations.reading.expressions import FUNCTIONS, read
from unhack_suites.derivations.reading.notation import (
    Spelling,
    may_have_decimal_commas,
    plain,
    spelling_of,
)
from unhack_suites.derivations.reading.relations import (
    ReadLine,
    Relation,
    numbers_in_words,
    numbers_of,
    read_line,
)
from unhack_suites.derivations.reading.units import without_marks
from unhack_suites.derivations.report import BAD, DerivationReport, LineStatus
from unhack_suites.derivations.steps import judge_bound, judge_relation
from unhack_suites.derivations.undecided import (
    Equality,
    chain_holds,
    numbers_in,
    sides_of,
)
from unhack_suites.derivations.walk import ClaimFinding, Walk, learn_cases

MAX_LINES, MAX_TEXT = 200, 200_000
"""Later lines and characters are not read."""
_LONG_WORD = re.compile(r"(?<![A-Za-z])(?!sqrt)[A-Za-z]{3,}")
_IN_FORMULA = re.compile(
    r"(?<![A-Za-z])[^\W\d_A-Z](?=\)? ?[-+*/^=])|(?<=[-+*/^=\d(])[^\W\d_A-Z]"
    r"|(?<=[-+*/^=] )[^\W\d_A-Z](?![A-Za-z])"
)
_HENCE = re.compile(r"\b(?:so|thus|hence|therefore)\b", re.I)
_CASE = re.compile(r"\W*(?:(?:first|second) )?(?:case|if|either|suppose)\b", re.I)
_IDENTITY = re.compile(
    r"simplif|expand|factor|multiply out|identit|show|prove|express|write|in terms of|complet", re.I
)
"""Words of a problem that is about expressions, not about the values of their names."""
_LOSS = re.compile(r"\b(?:los[est]+|loss|below|under|fewer|less|drops?|falls?|minus)\b", re.I)
_ASKED = re.compile(r"\b(?:[Ww]hat is|[Ff]ind) ([a-z])\s*[?.]")
_RESTS = re.compile(r"\b(?:remainder|left over|digits?|mod|divided|day of)\b|weekday")
_RAW = re.compile(r"(?<![\d.,])\d{1,6}(?:\.\d{1,6})?(?![\d,/]|\.\d)")
_UNKNOWN = re.compile(
    r"\b(?:what is|what are|find|which|value of|solve for|let|solutions?|roots?|integer|number) "
    r"(?:the )?([a-z])\b(?:,? (?:and )?([a-z])\b)?",
    re.IGNORECASE,
)
"""Names that the problem looks for."""
_DEFINED = re.compile(rf"\b([{''.join(FUNCTIONS)}])\(([a-z])\)\s*=\s*((?:(?! and\b)[^,;.?]|\.\d)+)")


def check_derivation(
    statement: str,
    text: str,
    *,
    answer: str = "",
    needed: Sequence[str] = (),
    equality: Equality | None = None,
) -> DerivationReport:
    """Check a derivation against the problem's statement. `answer` is the expected one where it is
    known, `needed` the given numbers (`24`, `3/5`, `15%`) that it has to rest on. `equality`
    decides what is not read here (`undecided.MathEquality`); without it such lines stay unread. A
    hostile text costs bounded time and raises nothing."""
    text = text[:MAX_TEXT]
    commas = may_have_decimal_commas(f"{statement}\n{text}")
    reports = [
        _check(statement, text, _Asked(answer, tuple(needed), equality), decimal_comma=comma)
        for comma in ((False, True) if commas else (False,))
    ]
    return max(reports, key=lambda one: (one.first_wrong is None, one.score))


@dataclass(frozen=True, slots=True)
class _Asked:
    """The parts of a question beside the statement."""

    answer: str
    needed: tuple[str, ...]
    equality: Equality | None


def _check(statement: str, text: str, asked: _Asked, *, decimal_comma: bool) -> DerivationReport:
    spelling = spelling_of(statement, text, decimal_comma=decimal_comma)
    walk = _walk_of(statement, spelling)
    expected = _value(asked.answer, replace(spelling, decimal_comma=False))
    walk.expected = expected.rational() if expected is not None else None
    rows: list[JudgedLine] = []
    for number, line in enumerate(text.splitlines()[:MAX_LINES], start=1):
        if line.strip():
            row = _line(walk, number, line, spelling)
            if row.status is LineStatus.UNREAD and asked.equality is not None:
                row = _decided(walk, row, line, asked.equality)
            rows.append(row)
    resolve(rows, walk, expected)
    report = reported(rows, walk, expected)
    if expected is None and asked.answer and is_named(asked.answer, rows):
        report = replace(report, reaches_answer=True)
    if not report.reaches_answer:
        return report
    missing = _unused(rows, walk, asked.needed) if asked.needed else ()
    reached = not missing and _is_of_the_asked(statement, walk, expected)
    return replace(report, reaches_answer=reached, unused=missing)


def _decided(walk: Walk, row: JudgedLine, line: str, equality: Equality) -> JudgedLine:
    """The line as `equality` decides it; as it was where it cannot."""
    sides = sides_of(line)
    holds = chain_holds(sides, equality) if sides else None
    if holds is None:
        return row
    if not holds:
        return replace(row, status=LineStatus.WRONG, reason="the two sides are not equal")
    numbers = numbers_in(sides)
    if not any(walk.facts.supports(side) for side in numbers[:-1]):
        odd = next((one for side in numbers for one in side), Fraction(0))
        reason = f"numbers from nowhere, as {shown([odd])}"
        return replace(row, status=LineStatus.UNJUSTIFIED, reason=reason)
    value = _value(sides[-1])
    exact = value.rational() if value is not None else None
    for one in (one for side in numbers for one in side):
        walk.facts.learn_number(one)
    if value is not None:
        walk.facts.derived.append(value)
    found = frozenset(() if exact is None else (exact,))
    said = frozenset(one for side in numbers for one in side)
    return JudgedLine(row.number, row.text, LineStatus.VERIFIED, "by math-verify", found, said)


def _unused(rows: Sequence[JudgedLine], walk: Walk, needed: Sequence[str]) -> tuple[str, ...]:
    """Those of the needed numbers that the answer does not rest on."""
    assert walk.expected is not None
    kept = [
        DerivedRow(row.values, row.mentioned, bool(row.classes) or row.links)
        for row in rows
        if row.status in (LineStatus.VERIFIED, LineStatus.ASSUMED)
    ]
    return unused(needed, ground_of(kept, walk.expected))


def _is_of_the_asked(statement: str, walk: Walk, expected: Quotient | None) -> bool:
    """False where one name is asked for, and the answer was found as the value of another."""
    asked = _ASKED.search(statement)
    if asked is None or expected is None or asked[1] not in walk.facts.names():
        return True
    held = walk.facts.values.get(asked[1])
    return held is not None and algebra.equal(held, expected)


def _walk_of(statement: str, spelling: Spelling) -> Walk:
    """The facts that the statement gives."""
    text = plain(statement.replace("\n", " "), spelling)
    functions: dict[str, tuple[str, str]] = {}
    for found in _DEFINED.finditer(text):
        held, argument, body = found.groups()
        if argument in body and _reads(body) and held not in functions:
            functions[held] = (argument, body)
            text = text.replace(found[0], " ")
    walk = Walk(Facts(), functions)
    apart = plain(statement.replace("\n", " ").replace(":", " "), spelling)
    minutes = map(Fraction, range(60 if spelling.clock else 0))
    walk.remainders = bool(_RESTS.search(statement))
    for value in (
        *numbers_of(text),
        *numbers_of(apart),
        *_RAW.findall(statement),
        *numbers_in_words(statement),
        *minutes,
    ):
        walk.facts.learn_number(Fraction(value))
    walk.given, unread = set(walk.facts.numbers), ""
    for part in re.split(r"(?<=[^\d])\.\s|\?\s|(?<=\d)\.\s", text):
        found = read_line(part, walk.functions)
        for relation in found.relations:
            _take_given(walk, relation)
        walk.tried += found.tried
        for bound in found.bounds:
            walk.bounds.learn(bound)
        unread += part if found.unread or re.search(r"[<>≤≥|]", part) else ""
    words = re.sub(r"[^\W\d_]{2,}", " ", text)
    held = set(_IN_FORMULA.findall(words)) - set(spelling.names.values())
    held -= {one for found in _UNKNOWN.findall(text) for one in found} | set(unread)
    known = {name for side in walk.written for one in side for name in one.value.names()}
    alone = [one.value.names() | other.value.names() for one, other in walk.written]
    walk.stated = frozenset[str]().union(*(names for names in alone if len(names) == 1))
    identity = bool(functions) or _IDENTITY.search(statement)
    walk.free = frozenset() if not identity else frozenset(held - known - set(walk.facts.values))
    return walk


def _take_given(walk: Walk, relation: Relation) -> None:
    for one, other in zip(relation.sides, relation.sides[1:], strict=False):
        left, right = one[0], other[0]
        walk.seen.add(frozenset((left.shape, right.shape)))
        if left.value.names() | right.value.names():
            walk.facts.learn_equation(algebra.difference(left.value, right.value))
            walk.written.append((left, right))
            learn_cases(walk, left, [right.value], alone=True)


def _line(walk: Walk, number: int, line: str, spelling: Spelling) -> JudgedLine:
    said_as = line.strip()
    try:
        text = plain(line, spelling)
        for name, argument, body in _DEFINED.findall(text):
            if name not in walk.functions and argument in body and _reads(body):
                walk.functions[name] = (argument, body)
        found = read_line(text, walk.functions, before=walk.last)
        walk.in_case = bool(_CASE.match(line))
        walk.last = found.last
        walk.tried += found.tried
        if found.unread:
            walk.unread.update(abs(value) for value in numbers_of(text))
        if not found.relations and not found.unread and not found.bounds:
            said = [value for part in found.words for value in numbers_of(part)]
            said += [-value for value in said if value > 0] if _LOSS.search(text) else []
            walk.hear(found.spoken)
            row = JudgedLine(number, said_as, LineStatus.WORDS, mentioned=frozenset(said))
            after = numbers_of(_HENCE.split(text)[-1])
            row.concluded = tuple(one for one in said if not after or abs(one) in map(abs, after))
            return row
        return _relations(walk, number, said_as, found)
    except (Unreadable, RecursionError, OverflowError, ZeroDivisionError) as error:
        return JudgedLine(number, said_as, LineStatus.UNREAD, str(error))


def _relations(walk: Walk, number: int, said_as: str, found: ReadLine) -> JudgedLine:
    relations, words, unread = found.relations, found.words, found.unread
    cases = [one for one in relations if one.alternative]
    findings = [judge_bound(walk, bound) for bound in found.bounds]
    if len(cases) > 1:
        findings.append(_cases(walk, cases))
    findings += [
        judge_relation(walk, one) for one in relations if len(cases) < 2 or not one.alternative
    ]
    order = (LineStatus.WRONG, LineStatus.UNJUSTIFIED, LineStatus.UNREAD, LineStatus.VERIFIED,
             LineStatus.ASSUMED, LineStatus.PADDING)  # fmt: skip
    if unread and not findings:
        return JudgedLine(number, said_as, LineStatus.UNREAD, unread)
    worst = min(findings, key=lambda one: order.index(one.status))
    numbers = {value for bound in found.bounds for value in bound.numbers}
    numbers |= {
        value for one in relations for side in one.sides for held in side for value in held.numbers
    }
    row = JudgedLine(
        number, said_as, worst.status, worst.reason,
        frozenset(value for one in findings for value in one.values), frozenset(numbers),
        frozenset(held for one in findings for held in one.classes),
    )  # fmt: skip
    row.results = tuple(
        exact * factor for one in relations for side in one.sides for held in side
        if (exact := held.value.rational()) is not None
        for factor in ((1, 100) if held.percent else (1,))
    )  # fmt: skip
    row.results += tuple(value for one in findings[: len(found.bounds)] for value in one.values)
    row.links = any(held.value.names() for one in relations for s in one.sides for held in s)
    row.concluded = tuple(
        value for part in words if ANSWER.search(part) for value in numbers_of(part)
    )
    return row


def _cases(walk: Walk, relations: Sequence[Relation]) -> ClaimFinding:
    """Several cases of one name: together they are all its roots."""
    names = {name for one in relations for side in one.sides for name in side[0].value.names()}
    if len(names) != 1:
        return ClaimFinding(LineStatus.UNREAD, "cases of different names")
    [held] = names
    values: list[Quotient] = []
    for one in relations:
        for left, right in zip(one.sides[1:], one.sides[2:], strict=False):
            if not algebra.equal(left[0].value, right[0].value):
                return ClaimFinding(LineStatus.WRONG, f"{left[0].shape} is not {right[0].shape}")
        value = Facts(
            equations=[algebra.difference(one.sides[0][0].value, one.sides[1][0].value)]
        ).solved(held)
        if value is not None:
            values.append(value)
        elif judge_relation(walk, one).status in (*BAD, LineStatus.UNREAD):
            return ClaimFinding(LineStatus.UNREAD, "a case that is not solved")
    return walk.name_cases(held, values)


def _value(text: str, spelling: Spelling | None = None) -> Quotient | None:
    try:
        bare = _LONG_WORD.sub(" ", without_marks(plain(text, spelling)))
        return read(bare).value if bare.strip() else None
    except Unreadable:
        return None


def _reads(text: str) -> bool:
    return _value(text) is not None
