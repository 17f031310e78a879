from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.verifiers.values.shown import (
    MOST_CHARS,
    call_text,
    first_difference,
    output_text,
    rest_of,
    value_text,
)

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=15,
)


@pytest.mark.slow
@given(value=VALUES)
def test_a_short_value_is_shown_as_python_spells_it(value: Any) -> None:
    spelled = repr(value)
    assert value_text(value) == spelled or len(spelled) > MOST_CHARS


@pytest.mark.parametrize("value", [set(), {1}, frozenset(), frozenset({2}), (), (1,), {}, [()]])
def test_brackets_are_those_of_python(value: Any) -> None:
    assert value_text(value) == repr(value)


def test_a_huge_value_costs_no_more_than_its_text() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in ([0] * 10**7, "x" * 10**7, deep, 10**5000, {n: [n] * 50 for n in range(10**4)}):
        assert len(value_text(value)) <= MOST_CHARS + 10


class Odd:
    """A value whose text is an error."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_a_value_that_cannot_be_spelled_is_named() -> None:
    assert value_text([Odd()]) == "[<Odd: RuntimeError>]"


def test_a_call_is_shown_with_its_arguments() -> None:
    assert call_text("f", (1, "a"), {"b": [2]}) == "f(1, 'a', b=[2])"
    assert len(call_text("f", tuple(["x" * 9999] * 99), {})) <= 2 * MOST_CHARS + 1


def test_of_a_long_list_the_items_that_are_as_expected_are_left_out() -> None:
    expected = list(range(5000))
    text, left_out = rest_of([*expected[:4000], -1, *expected[4001:]], expected)
    assert left_out == 4000
    assert text.startswith("[-1, 4001, 4002")


def test_nothing_is_left_out_of_a_short_list_or_before_another_type() -> None:
    assert rest_of([1, 2], [1, 3]) == ("[1, 2]", 0)
    assert rest_of([0] * 5000, tuple([0] * 5000))[1] == 0


@given(left=st.text(max_size=40), right=st.text(max_size=40))
def test_the_first_difference_is_the_first(left: str, right: str) -> None:
    place = first_difference(left, right)
    assert left[:place] == right[:place]
    assert place == min(len(left), len(right)) or left[place] != right[place]


def test_a_long_output_begins_near_its_first_difference() -> None:
    expected = "".join(f"{n}\n" for n in range(100_000))
    output = expected.replace("\n70000\n", "\nwrong\n")
    text, left_out = output_text(output, expected)
    assert len(text) <= MOST_CHARS + 1
    assert output[left_out - 1] == "\n"
    assert "\nwrong\n" in text
    assert text == output[left_out : left_out + MOST_CHARS] + "…"
