"""Text that others wrote is shown, never obeyed; numbers are short and true."""

from __future__ import annotations

import unicodedata
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.reporting.text import number, one_line, safe, visible

ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)


@given(ANYTHING)
def test_no_invisible_character_is_left(text: str) -> None:
    shown = visible(text)
    kinds = {unicodedata.category(char) for char in shown if char not in "\n\t"}
    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    shown.encode()


@given(st.text(st.characters(exclude_categories=["C", "Z"]), max_size=60))
def test_what_can_be_seen_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert unescape(safe(text)) == text


@given(ANYTHING)
def test_nothing_that_markup_is_made_of_survives(text: str) -> None:
    assert not set(safe(text)) & set("<>\"'")
    assert safe(text).count("&") == sum(visible(text).count(char) for char in "&<>\"'")


@given(ANYTHING, st.integers(6, 40))
def test_a_long_text_loses_its_middle_only(text: str, most: int) -> None:
    shown = visible(text, most=most)
    if len(text) <= most:
        assert shown == visible(text)
    else:
        assert shown.startswith(visible(text[: most * 2 // 3]))
        assert shown.endswith(visible(text[len(text) - most // 3 :]))
        assert f"… {len(text) - most} more characters …" in shown


def test_escapes_name_the_character() -> None:
    assert safe("a\x1b[31m\u202eb<") == "a\\x1b[31m\\u202eb&lt;"
    assert one_line("a\n\tb\r", most=10) == "a⏎⇥b\\r"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (0.0, "0"), (2, "2"), (0.1 + 0.2, "0.3"), (-0.83456, "-0.8346"),
        (9999.4, "9999"), (20_000, "20000"), (123_456, "123456"), (1.5e6, "1.5e+06"),
        (0.00012345, "0.000123"), (1e-9, "1e-09"),
    ],
)  # fmt: skip
def test_numbers_are_written_short(value: float, text: str) -> None:
    assert number(value) == text


@given(st.floats(-1e9, 1e9))
def test_a_written_number_is_near_its_value(value: float) -> None:
    assert float(number(value)) == pytest.approx(value, rel=5.1e-3)
