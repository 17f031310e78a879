"""Wrong answers are of the kind of the right one, and never right."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unhack.audit.oracle.answers import (
    MAX_WRONG_ANSWERS,
    decimal_of,
    is_choice,
    offered_choices,
    opposite,
    plain,
    wrong_answers,
)
from unhack.audit.oracle.listings import listing_of, order_matters
from unhack.audit.oracle.oracle import TextOracle, normal, number

PROMPT = "Which city near London did Marie visit?\n(A) Rome (B) Oslo (C) Bern (D) Riga"

PLAIN = (
    *("42", "-5", "0", "1", "1,234", "100", "10000", "3.14", "0.5", "-2.50", "1e-7", "$5.00"),
    *("50%", "1/2", "-3/4", r"\frac{1}{2}", "A", "(C)", "yes", "True", "No"),
    *("odd", "Paris", "George Washington", "red, green, blue", "999999999999999999999999"),
    *("A, C", "U U L", "n", "Paris, France", "not prime"),
)
"""No process is needed to compare these."""
MATHEMATICAL = (
    *("12 km", "x = 5", "[1, 2, 3]", "(1, 2)", "{1,2,3}", "[5]", "(0, 1]", r"\{1,2\}", "1, 2, 3"),
    *("2020-03-05", "March 5, 2020", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\sqrt{2}"),
    *(
        "x^2+1",
        r"2\pi",
        r"\infty",
        r"\frac{-7}{3}",
        "x > 5",
        "12:30",
        "[[1,2],[3,4]]",
        "1+2i",
        r"90^\circ",
    ),
    *("World War 2", r"\left(3, \frac{\pi}{2}\right)", r"\text{Paris}", '{"a": 1, "b": 2}'),
    "['a','b']",
)


class TestWrongAnswers:
    @pytest.mark.parametrize("answer", [*PLAIN, *MATHEMATICAL])
    def test_there_are_enough_and_they_are_always_the_same(self, answer: str) -> None:
        found = wrong_answers(answer, prompt=PROMPT)
        assert 6 <= len(found) <= MAX_WRONG_ANSWERS
        assert len({normal(one) for one in found}) == len(found)
        assert normal(answer) not in {normal(one) for one in found}
        assert found == wrong_answers(answer, prompt=PROMPT)

    @pytest.mark.parametrize("answer", PLAIN)
    def test_none_is_right(self, answer: str) -> None:
        oracle = TextOracle()
        assert [
            one for one in wrong_answers(answer, prompt=PROMPT) if oracle.same(one, answer)
        ] == []

    @pytest.mark.parametrize("answer", MATHEMATICAL)
    def test_the_first_ones_are_not_equivalent(self, answer: str) -> None:
        oracle = TextOracle()
        first = wrong_answers(answer, prompt=PROMPT)[:3]
        assert [one for one in first if oracle.same(one, answer)] == []

    @pytest.mark.slow
    @pytest.mark.parametrize("answer", MATHEMATICAL)
    def test_none_of_them_is_equivalent(self, answer: str) -> None:
        oracle = TextOracle()
        assert [
            one for one in wrong_answers(answer, prompt=PROMPT) if oracle.same(one, answer)
        ] == []

    @pytest.mark.slow
    @given(st.integers(-(10**12), 10**12))
    def test_integers_have_clearly_other_ones(self, value: int) -> None:
        oracle = TextOracle()
        found = wrong_answers(str(value))
        assert len(found) >= 6
        assert all(number(one) is not None and "." not in one for one in found)
        assert not any(oracle.same(one, str(value)) for one in found)

    @pytest.mark.slow
    @given(st.decimals(-(10**6), 10**6, places=3, allow_nan=False))
    @settings(max_examples=60)
    def test_decimals_have_clearly_other_ones(self, value: Decimal) -> None:
        oracle = TextOracle()
        found = wrong_answers(str(value))
        assert len(found) >= 6
        assert not any(oracle.same(one, str(value)) for one in found)

    @pytest.mark.slow
    @given(st.text(max_size=30))
    def test_any_text_has_some_or_is_blank(self, answer: str) -> None:
        found = wrong_answers(answer)
        assert len(found) <= MAX_WRONG_ANSWERS
        assert all(normal(one) != normal(answer) for one in found)

    def test_an_integer_has_its_usual_mistakes(self) -> None:
        found = wrong_answers("42")
        assert {"-42", "0", "1", "420", "84"} <= set(found)
        assert "42" not in found[0]

    def test_the_first_ones_of_a_choice_are_offered(self) -> None:
        assert wrong_answers("B", prompt=PROMPT)[:3] == ("A", "C", "D")
        assert wrong_answers("(B)", prompt=PROMPT)[:3] == ("(A)", "(C)", "(D)")

    def test_names_get_words_of_the_prompt_and_others(self) -> None:
        found = wrong_answers("Paris", prompt="Was Marie in Paris or in London?")
        assert {"Marie", "London", "Turnip"} <= set(found)

    def test_a_blank_answer_has_none(self) -> None:
        assert wrong_answers(" ") == ()

    def test_another_order_is_wrong_only_where_it_matters(self) -> None:
        assert "[3, 2, 1]" not in wrong_answers("[1, 2, 3]", prompt="List them in any order.")
        assert "[3, 2, 1]" in wrong_answers("[1, 2, 3]", prompt="Sort 2, 3, 1.")
        assert "(2, 1)" in wrong_answers("(1, 2)", prompt="Where do the lines meet?")


class TestParts:
    @pytest.mark.parametrize(
        ("answer", "items"),
        [
            ("[1, 2, 3]", ("1", "2", "3")),
            ("(1, [2, 3])", ("1", "[2, 3]")),
            (r"\left(3, \frac{1}{2}\right)", ("3", r"\frac{1}{2}")),
            ("3 1\n4 2", ("3 1", "4 2")),
            ("U U L", ("U", "U", "L")),
            ("red, green, blue", ("red", "green", "blue")),
            (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", ("1&2", "3&4")),
        ],
    )
    def test_a_listing_is_taken_apart(self, answer: str, items: tuple[str, ...]) -> None:
        listing = listing_of(answer)
        assert listing is not None
        assert listing.items == items
        assert listing.write(items).replace(" ", "") == answer.replace(" ", "")

    @pytest.mark.parametrize("answer", ["5", "(5)", "1,234", "Paris", "Paris, France", "2^{10}"])
    def test_other_answers_have_no_parts(self, answer: str) -> None:
        assert listing_of(answer) is None

    def test_order_matters_by_form_or_by_prompt(self) -> None:
        row, pair, group = (listing_of(one) for one in ("1, 2", "(1, 2)", "{1, 2}"))
        assert row is not None
        assert pair is not None
        assert group is not None
        assert not order_matters(row, "Solve it.")
        assert not order_matters(row, "In order to solve it, factor.")
        assert order_matters(row, "Solve it, in ascending order.")
        assert order_matters(pair, "Solve it.")
        assert not order_matters(pair, "The order does not matter.")
        assert not order_matters(group, "Sort it.")


class TestKinds:
    def test_numbers_are_read_exactly_and_written_plainly(self) -> None:
        assert decimal_of("$1,234.50") == Decimal("1234.50")
        assert decimal_of("−7%") == Decimal(-7)
        assert decimal_of("nan") is None
        assert decimal_of("1/2") is None
        assert [plain(Decimal(one)) for one in ("1E+3", "2.500", "-0.0")] == ["1000", "2.5", "0"]

    def test_choices_are_found_in_prompts(self) -> None:
        assert offered_choices(PROMPT) == ("A", "B", "C", "D")
        assert offered_choices("A) is all there is") == ()
        assert is_choice("(D).")
        assert not is_choice("AD")

    def test_a_pair_has_an_opposite_in_the_same_case(self) -> None:
        assert [opposite(one) for one in ("yes", "False", "NO", "red")] == ["no", "True", "YES", ""]
