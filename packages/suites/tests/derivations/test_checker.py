"""Derivations line by line: right work in odd spellings passes, each kind of error is found."""

from __future__ import annotations

import pytest

from unhack_suites.derivations.checker import check_derivation
from unhack_suites.derivations.report import DerivationReport, LineStatus

SHOP = "A box holds 24 bottles. A van takes 17 boxes, and 8 bottles break. How many bottles arrive?"
SOLVE = "Solve 5(x - 2) = 3x + 4."


def shop(text: str) -> DerivationReport:
    return check_derivation(SHOP, text, answer="400")


def solve(text: str) -> DerivationReport:
    return check_derivation(SOLVE, text, answer="7")


def first(report: DerivationReport) -> int:
    return report.first_wrong.number if report.first_wrong else 0


@pytest.mark.parametrize(
    "text",
    [
        "24 * 17 = 408\n408 - 8 = 400",
        "24·17 − 8 = 408 − 8 = 400",
        "So 17 boxes hold 17 × 24 = 408 bottles, and 408 − 8 = 400 arrive.",
        r"$24 \times 17 = 408$" + "\n" + r"\boxed{408 - 8 = 400}",
        "1. 408 = 24 · 17\n2. 400 = 408 - 8\n**Answer: 400 bottles**",
        "It will be 400.\n24 x 17 = 408\n408 minus 8 is 400",
        "24 · 17 = 24 · 10 + 24 · 7 = 240 + 168 = 408\n408 − 8 = 400",
        "b = 24 · 17 = 408\nb − 8 = 400",
        "24*17\n= 408\n408-8\n= 400",
        "24 · 17 ≈ 410, exactly 24 · 17 = 408.\n408 − 8 = 400",
    ],
)
def test_right_work_passes_however_it_is_written(text: str) -> None:
    report = shop(text)
    assert (first(report), report.score) == (0, 1.0)
    assert report.reaches_answer


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("24 * 17 = 398\n398 + 2 = 400", 1),
        ("24 * 17 = 418\n408 - 8 = 400", 1),
        ("24 * 17 = 408\nSo 392 bottles arrive.", 2),
        ("The answer is 400.", 1),
        ("A box holds 24 bottles.\nSo it is 400.", 2),
        ("24 = 24\n17 = 17\n24·17 = 17·24\nTherefore 400.", 4),
        ("383 + 17 = 400", 1),
        ("400 · 1 = 400", 1),
        ("24 · 17 = 408 − 8 = 400", 1),
        ("24 · 17 ≈ 440\n440 − 40 = 400", 1),
        ("n + 4 = 404\nn = 400", 1),
        ("n = 400", 1),
    ],
)
def test_what_is_wrong_or_leads_from_nowhere_is_found_at_its_line(text: str, line: int) -> None:
    report = shop(text)
    assert first(report) == line
    assert report.score < 1.0


@pytest.mark.parametrize(
    "text",
    [
        "5x - 10 = 3x + 4\n2x = 14\nx = 7",
        "5x − 10 = 3x + 4 | −3x\n2x − 10 = 4 | +10\n2x = 14 | :2\nx = 7",
        "14 = 2x\n7 = x",
        "2x = 14, so x = 14/2 = 7",
        "5x - 3x = 4 + 10\nx = 7\nCheck: 5(7 - 2) = 25 and 3·7 + 4 = 25.",
    ],
)
def test_an_equation_may_be_solved_in_any_order(text: str) -> None:
    report = solve(text)
    assert (first(report), report.score) == (0, 1.0)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("5x - 2 = 3x + 4\n2x = 6\nx = 3", 1),
        ("5x - 10 = 3x + 4\n2x = 15\nx = 7", 2),
        ("x = 7", 1),
        ("5(x - 2) = 3x + 4\nx = 7", 2),
        ("x = x\n0 = 0\nx = 7", 3),
    ],
)
def test_a_lost_sign_or_a_jump_in_an_equation_is_found(text: str, line: int) -> None:
    assert first(solve(text)) == line


def test_a_root_that_is_lost_is_an_error_and_both_are_none() -> None:
    statement = "Solve x^2 = 5x."
    assert first(check_derivation(statement, "x = 5")) == 1
    assert first(check_derivation(statement, "x(x - 5) = 0\nx = 0 or x = 5")) == 0
    assert first(check_derivation(statement, "x = 0 or x = 5 or x = 6")) == 1


def test_padding_earns_nothing() -> None:
    padding = "24 = 24\n24 · 17 = 17 · 24\n2 + 2 = 4\n3 + 3 = 6\n"
    plain, padded = (
        shop("24·17 = 408\n408 − 8 = 401"),
        shop(f"{padding}24·17 = 408\n24·17 = 408\n408 − 8 = 401"),
    )
    assert plain.score == padded.score == 0.5
    assert shop(padding).score == 0.0
    assert not shop(padding).reaches_answer


def test_a_repeated_or_restated_line_is_told_as_padding() -> None:
    report = solve("5(x - 2) = 3x + 4\n2x = 14\n2x = 14\nx = 7")
    assert [line.status for line in report.lines][:3] == [
        LineStatus.PADDING,
        LineStatus.VERIFIED,
        LineStatus.PADDING,
    ]
    assert report.score == 1.0


def test_the_outcome_stays_apart_from_the_lines() -> None:
    wrong_model = shop("24 + 17 = 41")
    assert (first(wrong_model), wrong_model.reaches_answer) == (0, False)
    assert not shop("").reaches_answer
    assert shop("").score == 0.0


def test_units_are_compared_where_both_sides_have_one() -> None:
    statement = "How many seconds are 2.5 hours?"
    assert first(check_derivation(statement, "2.5 h = 9000 s", answer="9000")) == 0
    assert first(check_derivation(statement, "2.5 h = 9000 min", answer="9000")) == 1
    assert first(check_derivation(statement, "2.5 h · 3600 = 9000 s", answer="9000")) == 0


def test_commas_are_decimal_ones_only_where_a_number_shows_it() -> None:
    assert first(check_derivation("What is 2,000 · 3?", "2,000 · 3 = 6")) == 1
    assert first(check_derivation("What is 2,000 · 3?", "2,000 · 3 = 6,000")) == 0
    assert first(check_derivation("What is 2,5 · 3?", "2,5 · 3 = 7,5")) == 0


HOSTILE = {
    "brackets": "(" * 1900 + "1 = 1",
    "towers": "2^2^2^2^2^2^2 = 1\n9^999999999 = 1\n170!^170 = 1",
    "many terms": "(a+b+c+d+e+f+g+h)^24 = 0",
    "blanks": "1" + " " * 1900 + "= 1",
    "commas": ", ".join(["1"] * 600) + " = 1",
    "long lines": "\n".join(["x + " * 400 + "1 = 2"] * 300),
    "digits": "1" * 1900 + " = 1\nSo the answer is " + "9" * 300,
    "zero": "1/0 = 1\n0^(-1) = 2",
    "no text": "\x00 = \x00\n\ud800 = 1",
    "fractions": r"\frac{" * 400 + "1",
    "calls": "f(f(f(f(f(f(f(x))))))) = 1",
    "roots": "√" * 1900 + "4 = 2",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_ends_in_a_report(name: str) -> None:
    statement = "Solve 3x + 4y = 7 and x - y = 0. f(x) = x^2 + 1."
    report = check_derivation(statement, HOSTILE[name], answer="1")
    assert 0.0 <= report.score < 1.0
