"""Numbers with their units: how they are read and compared, and the rules of every comparison."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from unhack.core.verdict import Status
from unhack.sandbox.job import Outcome
from unhack.verifiers.answers.asked import asks_percent, is_asked
from unhack.verifiers.answers.numerals import (
    Numeral,
    Percent,
    bare_math,
    narrow,
    read_number,
    without_unit,
)
from unhack.verifiers.answers.shape import read_shape
from unhack.verifiers.answers.spelling import SpellingError, spell
from unhack.verifiers.answers.units import unit_fits

OTHER_UNIT = "the answer has a unit that the gold answer has not"


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of equality."""

    percent: Percent = Percent.FRACTION
    units: tuple[str, ...] = ()
    rel_tol: float = 0.0
    """Relative to the gold answer; 0 compares exactly."""
    abs_tol: float = 0.0
    evaluated: bool = True
    any_unit: bool = False
    """True where an answer may name a unit that the gold answer has not."""
    question: str = ""
    """The question, which tells the unit that the gold answer has lost."""

    def unit_fits(self, gold: str, answer: str) -> bool:
        """True where an answer may have the unit `answer` beside a gold answer with `gold`."""
        fits = unit_fits(gold, answer, any_unit=self.any_unit)
        return fits and (bool(gold) or not answer or is_asked(answer, self.question))


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of one comparison."""

    status: Status
    reason: str = ""
    """Never holds the gold answer."""
    outcomes: tuple[Outcome, ...] = ()


_ONE_PERCENT = Fraction(1, 100)
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
    if difference <= max(relative * abs(gold.value), absolute):
        return PASSED
    sign = rules.any_unit and answer.percent and not gold.percent and abs(gold.value) > 1
    if sign and (not rules.question or asks_percent(rules.question)):
        return judge_numbers(gold, Numeral(answer.value * 100, answer.evaluated), rules)
    bare = rules.any_unit and gold.percent and not answer.percent  # `7` of so many percent
    if bare and abs(gold.value) > _ONE_PERCENT and asks_percent(rules.question):
        return PASSED if answer.value == gold.value * 100 else fail("wrong answer")
    return fail("wrong answer")


def read_quantity(text: str, rules: Rules) -> tuple[Numeral, str] | None:
    """The number that `text` is in any of its spellings, and the unit beside it."""
    number = read_with(rules, text)
    if number is not None:
        return number, ""
    try:
        shape = read_shape(spelled(text, rules))
    except SpellingError:
        return None
    number = None if shape.members or shape.name else read_with(rules, shape.text)
    return None if number is None else (number, shape.unit)


def judge_quantities(
    gold: tuple[Numeral, str] | None, answer: tuple[Numeral, str] | None, rules: Rules
) -> Judgement:
    """Compare two numbers with their units."""
    if gold is None or answer is None:
        return fail("the answer is not one number in evaluated form")
    if not rules.unit_fits(gold[1], answer[1]):
        return fail(OTHER_UNIT)
    return judge_numbers(gold[0], answer[0], rules)


def spelled(text: str, rules: Rules) -> str:
    """`text` in its one spelling, without one of the units that the rules allow."""
    return spell(without_unit(bare_math(narrow(text)), rules.units))
