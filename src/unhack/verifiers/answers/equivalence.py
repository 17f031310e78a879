r"""Equivalence of a mathematical answer and the gold answer.

Where both are numerals (see `answers.numerals`) the comparison is exact and happens here.
Everything else takes two jobs in judges' workers. The first reads the completion's LaTeX and holds
nothing else; it hands on a tree of plain data. The second holds the gold answer, builds the
expression from the tree, and compares, with numbers first and then with `math_verify`.

Evaluated form. With `evaluated`, an answer must be computed, not restated. Where the gold answer is
a numeral, the answer is one too, and no fraction whose value is an integer. Elsewhere no arithmetic
on rational numbers is left in it, and no integral, sum, product, limit, derivative, binomial, gcd,
determinant or factorial. A gold answer that is itself not evaluated lifts the rule.

Covered: hostile text meets a grammar, never `eval`; time, memory and length are bounded; percent
signs and units are never silently dropped; a set is no ordered pair.
Not covered: a restatement with variables (`(x+1)^2` for `x^2+2x+1`) counts as equal; equal
expressions that math_verify cannot show equal count as different; a list is a set, so a member that
is repeated counts once; letters of variables match in either case.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from unhack.core.verdict import Status
from unhack.sandbox.job import Job, Outcome, Profile, Role
from unhack.sandbox.limits import Limits
from unhack.verifiers import jobs
from unhack.verifiers.answers.numerals import (
    Numeral,
    Percent,
    bare_math,
    narrow,
    read_number,
    without_unit,
)
from unhack.verifiers.base import VerifierFault
from unhack.verifiers.jobs import bad_ending, require_sandbox

MAX_MATH_CHARS = 1000
"""Longest answer that is parsed."""
_PROFILE = Profile(role=Role.JUDGE, preload=("math_verify",))
_OPERATIONS = re.compile(
    r"\\(?:binom|dbinom|tbinom|gcd|lcm|det|operatorname|max|min|bmod|pmod|mod|Gamma|exp|lfloor|lceil)\b"
    r"|!"
)
"""Operations that the parser computes while it parses, so that the tree does not show them."""
_ASSIGNED = re.compile(r"([A-Za-z](?:_\{?\w{1,8}\}?)?)\s{0,8}=([^=]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of equality."""

    percent: Percent = Percent.FRACTION
    units: tuple[str, ...] = ()
    rel_tol: float = 0.0
    """Relative to the gold answer; 0 compares exactly."""
    abs_tol: float = 0.0
    evaluated: bool = True


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of one comparison."""

    status: Status
    reason: str = ""
    """Never holds the gold answer."""
    outcomes: tuple[Outcome, ...] = ()


PASSED = Judgement(Status.PASSED)


def fail(reason: str, *outcomes: Outcome) -> Judgement:
    """A wrong answer."""
    return Judgement(Status.FAILED, reason, outcomes)


def read_with(rules: Rules, text: str) -> Numeral | None:
    """The numeral that `text` is under `rules`."""
    return read_number(text, percent=rules.percent, units=rules.units)


def judge_numbers(gold: Numeral, answer: Numeral, rules: Rules) -> Judgement:
    """Compare two numbers as exact fractions."""
    if rules.evaluated and gold.evaluated and not answer.evaluated:
        return fail("the answer is a division that is left undone")
    difference = abs(gold.value - answer.value)
    relative, absolute = Fraction(repr(rules.rel_tol)), Fraction(repr(rules.abs_tol))
    if difference > max(relative * abs(gold.value), absolute):
        return fail("wrong answer")
    return PASSED


def judge_math(
    gold: str, answer: str, *, rules: Rules, limits: Limits
) -> Generator[list[Job], list[Outcome], Judgement]:
    """Compare two expressions; yields jobs. Raises VerifierFault when the gold answer is broken."""
    gold_name, gold = _split_assignment(_tidy(gold, rules))
    answer_name, answer = _split_assignment(_tidy(answer, rules))
    if gold_name and answer_name and gold_name != answer_name:
        return fail(f"an answer for {answer_name[:20]}, which was not asked")
    if gold == answer:
        return PASSED
    gold_number, number = read_with(rules, gold), read_with(rules, answer)
    if gold_number is not None and number is not None:
        return judge_numbers(gold_number, number, rules)
    if len(answer) > MAX_MATH_CHARS:
        return fail(f"the answer is longer than {MAX_MATH_CHARS} characters")
    if rules.evaluated:
        if gold_number is not None and gold_number.evaluated:
            return fail("the answer is not one number in evaluated form")
        if _OPERATIONS.search(answer) and not _OPERATIONS.search(gold):
            return fail("the answer is not in evaluated form")
    return (yield from _ask(gold, answer, rules, limits))


def _tidy(text: str, rules: Rules) -> str:
    return without_unit(bare_math(narrow(text)), rules.units).replace("**", "^")


def _split_assignment(text: str) -> tuple[str, str]:
    match = _ASSIGNED.fullmatch(text) if len(text) <= MAX_MATH_CHARS else None
    return (match[1], match[2].strip()) if match else ("", text)


def _ask(
    gold: str, answer: str, rules: Rules, limits: Limits
) -> Generator[list[Job], list[Outcome], Judgement]:
    fields: dict[str, Any] = {"text": answer, "percent": rules.percent.value}
    [read] = yield [jobs.judge("math_read", fields, limits=limits, profile=_PROFILE)]
    require_sandbox(read)
    claim = _last_line(read)
    if claim is None or claim[1] != "tree":
        return _fail_to_read(read, claim)
    fields = {
        "gold": gold,
        "tree": str(claim[2]),
        "percent": rules.percent.value,
        "evaluated": rules.evaluated,
        "rel_tol": repr(rules.rel_tol),
        "abs_tol": repr(rules.abs_tol),
        "each": True,
    }
    [compared] = yield [jobs.judge("math_compare", fields, limits=limits, profile=_PROFILE)]
    require_sandbox(compared)
    return _read_comparison(read, compared)


def _last_line(outcome: Outcome) -> list[Any] | None:
    lines = [line for line in jobs.result_lines(outcome.result) if len(line) > 1]
    return lines[-1] if lines else None


def _fail_to_read(read: Outcome, claim: list[Any] | None) -> Judgement:
    """The completion's text could not be read, which is its own doing."""
    bad = bad_ending(read)
    if bad is not None:
        return Judgement(bad[0], f"reading the answer: {bad[1]}", (read,))
    if claim is None:
        raise VerifierFault("math: reading the answer gave no result")
    reason = f" ({str(claim[-1])[:150]})"
    return fail(f"the answer is no mathematical expression that can be read{reason}", read)


def _read_comparison(read: Outcome, compared: Outcome) -> Judgement:
    claim = _last_line(compared)
    bad = bad_ending(compared)
    if claim is None or claim[1] == "fault":
        why = bad[1] if bad is not None else "no result" if claim is None else str(claim[2])
        raise VerifierFault(f"math: {why}")
    if claim[1] == "equal":
        if claim[2] is True:
            return Judgement(Status.PASSED, "", (read, compared))
        return fail(str(claim[3])[:300] or "wrong answer", read, compared)
    status, why = bad or (Status.ERROR, "the comparison ended without a result")
    return Judgement(status, f"comparing the answer: {why}", (read, compared))
