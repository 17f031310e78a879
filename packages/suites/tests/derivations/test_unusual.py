"""Derivations in unusual shapes: right ones are paid, wrong and padded ones earn nothing."""

from __future__ import annotations

import importlib.util
from contextlib import closing

import pytest
from packages.suites.tests.derivations.unusual import (
    LINEAR,
    NOT_READ,
    RIGHT,
    SHOPPING,
    SYSTEM,
    WRONG,
    Right,
    Wrong,
    pumped,
)

from unhack.core.errors import TaskError
from unhack.sandbox.pool.pool import Pool
from unhack_suites.derivations.checker import check_derivation
from unhack_suites.derivations.report import DerivationReport, LineStatus
from unhack_suites.derivations.suite import make_problems
from unhack_suites.derivations.undecided import MathEquality, sides_of

PROBLEMS = {one.statement: one for one in make_problems(3, count=12)}
MATH = all(importlib.util.find_spec(name) for name in ("math_verify", "antlr4"))
SUM = "What is the cube root of 27 plus the binary logarithm of 8?"


def check(statement: str, text: str) -> DerivationReport:
    return PROBLEMS[statement].check(text)


@pytest.mark.parametrize("one", RIGHT, ids=lambda one: one.name)
def test_an_unusual_right_derivation_is_paid_in_full(one: Right) -> None:
    report = check(one.statement, one.text)
    assert (report.first_wrong, report.payable) == (None, 1.0), report.lines


@pytest.mark.parametrize("one", WRONG, ids=lambda one: one.name)
def test_a_wrong_derivation_earns_nothing_and_its_first_wrong_line_is_named(one: Wrong) -> None:
    report = check(one.statement, one.text)
    assert report.payable == 0.0
    if one.line is not None:
        assert report.first_wrong is not None
        assert report.first_wrong.number == one.line


@pytest.mark.parametrize("one", [*RIGHT, *NOT_READ], ids=lambda one: one.name)
def test_repeats_and_padding_gain_nothing(one: Right) -> None:
    alone = check(one.statement, one.text).payable
    assert all(check(one.statement, text).payable <= alone for text in pumped(one.text, times=5))


def test_a_long_right_way_with_a_wrong_end_has_a_process_score_and_no_pay() -> None:
    report = check(SHOPPING, "30 * 8 = 240\n43 * 7.5 = 322.5\nThe answer is 322.5")
    assert report.score > 0
    assert (report.reaches_answer, report.payable) == (False, 0.0)


def test_true_lines_in_front_do_not_dilute_a_wrong_one() -> None:
    good = "30 * 8 = 240\n43 * 7.5 = 322.5\n240 + 322.5 = 562.5\n600 - 562.5 = 37.5"
    text = f"30 * 8 = 250\n{good}"
    padding = "\n".join(f"30 + {n} = {30 + n}\n{30 + n} + 8 = {38 + n}" for n in range(1, 9))
    assert check(SHOPPING, text).payable == check(SHOPPING, f"{padding}\n{text}").payable == 0.5


def test_an_answer_that_leaves_a_given_number_out_is_not_reached() -> None:
    report = check(SHOPPING, "30 + 7.5 = 37.5")
    assert report.unused == ("8", "43", "600")
    assert not report.reaches_answer


def test_a_number_that_is_neither_given_nor_derived_is_the_first_wrong_line() -> None:
    report = check(SHOPPING, "30 * 8 = 240\n45 * 7.5 = 337.5")
    assert report.first_wrong is not None
    assert report.first_wrong.number == 2
    assert "45" in report.first_wrong.reason


def test_the_value_of_another_unknown_is_not_the_answer() -> None:
    assert not check(SYSTEM, "12x = 84\nx = 7").reaches_answer
    assert check(SYSTEM, "12y = 84\ny = 7").reaches_answer


def test_a_linear_equation_needs_its_steps() -> None:
    assert check(LINEAR, "x = (36 - 18) / (6 - 3)\nx = 6").payable == 0.0
    assert check(LINEAR, "x = (36 - 6 * 3) / (6 - 3)\nx = 6").payable == 1.0


def test_a_root_of_another_degree_is_no_square_root() -> None:
    report = check_derivation("What is the cube root of 27?", r"\sqrt[3]{27} = 3", answer="3")
    assert [line.status for line in report.lines] == [LineStatus.UNREAD]


@pytest.mark.skipif(MATH, reason="math-verify is installed")
def test_without_math_verify_the_equality_is_refused_with_the_command() -> None:
    with closing(Pool()) as backend, pytest.raises(TaskError, match="pip install"):
        MathEquality(backend)


@pytest.mark.skipif(not MATH, reason="needs unhack[math]")
@pytest.mark.slow
def test_math_verify_decides_what_is_not_read() -> None:
    text = "$\\sqrt[3]{27} = 3$\n$\\log_2 8 = 3$\n3 + 3 = 6"
    texts = (text, text.replace("{27} = 3", "{27} = 4"), r"\sqrt[3]{125} = 5")
    with closing(Pool()) as backend:
        equality = MathEquality(backend)
        found = [check_derivation(SUM, one, answer="6", equality=equality) for one in texts]
    verified, refused, unfounded = ([line.status for line in one.lines] for one in found)
    assert verified == [LineStatus.VERIFIED] * 3
    assert refused[0] is LineStatus.WRONG
    assert unfounded == [LineStatus.UNJUSTIFIED]
    assert [one.payable for one in found] == [1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    "line", ["x^2 = 4", "so a = 3", "3 < 4", "a = b", "=", r"\foo{3} = 3", "1 = 1 " * 200]
)
def test_only_chains_of_numbers_are_handed_to_math_verify(line: str) -> None:
    assert sides_of(line) == ()
