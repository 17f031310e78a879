"""Delta debugging keeps what matters and asks little."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.audit.proving.grouping import minimize_all, shorten_questions


def minimize(text: str, holds: Callable[[str], bool], *, max_calls: int) -> str:
    asking = shorten_questions(text, max_calls=max_calls)
    [found] = minimize_all([asking], lambda asked: [holds(asked[0][1])])
    return found


@pytest.mark.parametrize(
    ("text", "needed", "shortest"),
    [
        ("a\nb\nkeep me\nc\n", "keep", "keep"),
        ("one two three four five", "four", "four"),
        ("x" * 30 + "Z" + "y" * 5, "Z", "Z"),
        ("def f():\n    a = 1\n    return 9\n", "return 9", "return 9"),
    ],
)
def test_what_is_not_needed_goes(text: str, needed: str, shortest: str) -> None:
    assert minimize(text, lambda part: needed in part, max_calls=500) == shortest


def test_two_parts_far_apart_both_stay() -> None:
    text = "\n".join(f"line {number}" for number in range(40))
    found = minimize(text, lambda part: "line 3\n" in part and "line 31" in part, max_calls=900)
    assert len(found) <= len("line 3\nline 31")


def test_a_text_of_which_nothing_is_needed_becomes_empty_at_once() -> None:
    asked: list[str] = []

    def holds(part: str) -> bool:
        asked.append(part)
        return True

    assert minimize("a long text\n" * 50, holds, max_calls=100) == ""
    assert asked == [""]


@given(st.text(min_size=1, max_size=60), st.integers(1, 40))
def test_the_result_holds_and_the_calls_are_bounded(text: str, most: int) -> None:
    asked: list[str] = []

    def holds(part: str) -> bool:
        asked.append(part)
        return text[-1] in part

    found = minimize(text, holds, max_calls=most)
    assert text[-1] in found
    assert len(found) <= len(text)
    assert len(asked) <= most + 1
    assert len(asked) == len(set(asked))
