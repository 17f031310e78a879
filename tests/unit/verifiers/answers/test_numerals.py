"""Numbers as text: what is one, what it is worth, and what is none."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.verifiers.answers.numerals import MAX_DIGITS, Percent, read_number

HALF = Fraction(1, 2)


def value(text: str, *units: str, percent: Percent = Percent.FRACTION) -> Fraction | None:
    found = read_number(text, percent=percent, units=units)
    return None if found is None else found.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("− 12", -12),  # U+2212
        ("007", 7),
        (".5", HALF),
        ("5.", 5),
        ("1,234,567.5", Fraction(2469135, 2)),
        ("1{,}234", 1234),
        ("1.5e3", 1500),
        ("15E-1", Fraction(3, 2)),
        ("1/2", HALF),
        ("-1/2", -HALF),
        (r"\frac{1}{2}", HALF),
        (r"\dfrac12", HALF),
        ("3 1/2", Fraction(7, 2)),
        (r"-3\frac{1}{2}", -Fraction(7, 2)),
        ("$5$.", 5),
        (r"\(5\)", 5),
        ("１２．５", Fraction(25, 2)),
        ("50%", HALF),
        (r"$50\%$", HALF),
    ],
)
def test_a_numeral_has_its_exact_value(text: str, expected: Fraction | int) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", ".", "%", "e5", "--5", "+-5", "5%%", "1e", "5..", "1/0", "0/0"),
        *("nan", "NaN", "inf", "-inf", "Infinity", "1_000", "0x10", "0b1", "1j", "True"),
        *("10**10**10", "2^10", "17*23", "2+3", "5!", "1e99999", "1e-99999", "9" * 2000),
        *("5 6", "5, 6", "5 or 6", "$5$ or $6$", "5 apples", "about 5", "x=5", "(5)", "5;"),
        *("3,14", "12,34", "1,,234", "1,2345", ",123", "1 000", "3 4/3", "1.5/2", "1/2/3"),
        *("4²", "٤٢", "४", "⑤", "½", "Ⅴ", "五", "5\u200b", "\u202e5", "\ud8355"),
    ],
)
def test_everything_else_is_no_number(text: str) -> None:
    assert value(text) is None


def test_a_percent_sign_never_means_both_things() -> None:
    assert (value("50%"), value("50")) == (HALF, 50)
    assert value("50%", percent=Percent.POINTS) == 50


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        *(("5 cm", "cm"), ("5cm", "cm"), (r"5\text{ cm}", "cm"), (r"5\,\mathrm{cm}", "cm")),
        *(("$5", "$"), (r"\$5", "$"), (r"$\$5$", "$"), ("5°", "°"), (r"5^\circ", r"^\circ")),
    ],
)
def test_a_unit_is_taken_off_only_where_it_is_named(text: str, unit: str) -> None:
    assert value(text, unit) == 5
    assert value(text, "kg") is None


def test_a_sign_is_kept_on_either_side_of_a_currency() -> None:
    assert value("-$5", "$") == value("$-5", "$") == -5
    assert value("-$-5", "$") is None


def test_a_fraction_that_is_an_integer_is_a_division_left_undone() -> None:
    assert [read_number(text).evaluated for text in ("6/3", "6/4", "3/2", "6", "1.50")] == [  # pyright: ignore[reportOptionalMemberAccess]
        *(False, True, True, True, True)
    ]


@given(st.integers(), st.integers(min_value=1))
def test_a_written_fraction_is_read_back_exactly(above: int, below: int) -> None:
    expected = Fraction(above, below)
    assert value(f"{above}/{below}") == expected
    sign, size = ("-" if above < 0 else ""), abs(above)
    assert value(rf"{sign}\frac{{{size}}}{{{below}}}") == expected


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6))
def test_a_written_decimal_is_read_back_exactly(number: object) -> None:
    assert value(f"{number:f}") == Fraction(str(number))
    assert value(f"{number:,f}") == Fraction(str(number))


@pytest.mark.slow
@given(st.text(st.sampled_from("0123456789,.eE+-/%{}\\frac $_ ٣４"), max_size=40) | st.text())
def test_any_text_is_a_bounded_fraction_or_nothing(text: str) -> None:
    found = value(text)
    sizes = [] if found is None else [abs(found.numerator), found.denominator]
    assert all(size.bit_length() < 16 * MAX_DIGITS for size in sizes)
