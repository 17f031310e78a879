"""The final answer of a text: which marks count, in which order, and what is never one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unhack.verifiers.answers.final_answer import MAX_MARKED, Marker, marked_answers, write_answer

ALL = tuple(Marker)
BOXED = (Marker.BOXED,)
PIECES = [
    "\\boxed{",
    "\\fbox {",
    "<answer>",
    "</answer>",
    "the answer is ",
    "Answer:",
    "#### ",
    "\n",
]
HOSTILE = st.lists(
    st.sampled_from([*PIECES, *"\\{}#<>/ *.:$ab5\ud800"]) | st.text(max_size=3), max_size=30
).map("".join)


def texts(text: str, *markers: Marker) -> list[str]:
    return [item.text for item in marked_answers(text, markers or ALL)]


@pytest.mark.parametrize(
    ("text", "marker", "expected"),
    [
        (r"so \boxed{5}", Marker.BOXED, ["5"]),
        (r"so \fbox{5}", Marker.BOXED, ["5"]),
        (r"so \boxed {5}", Marker.BOXED, ["5"]),
        (r"a\\\boxed{5}", Marker.BOXED, ["5"]),
        (r"\boxed{\frac{1}{2}}", Marker.BOXED, [r"\frac{1}{2}"]),
        (r"\boxed{\{1, 2\}}", Marker.BOXED, [r"\{1, 2\}"]),
        (r"\boxed{3} then \boxed{4}", Marker.BOXED, ["3", "4"]),
        ("working\n#### 5", Marker.HASHES, ["5"]),
        ("working\n  ####5\n\n", Marker.HASHES, ["5"]),
        ("#### 5\n#### 6", Marker.HASHES, ["5", "6"]),
        ("working\nso it is 5. #### 5\n", Marker.HASHES, ["5"]),
        ("so it is 5 #### 6 #### 5", Marker.HASHES, ["6 #### 5"]),
        ("<answer> 5 </answer>", Marker.TAG, ["5"]),
        ("<ANSWER>5</answer> <answer>6</answer>", Marker.TAG, ["5", "6"]),
        ("So the answer is 5.", Marker.PHRASE, ["5"]),
        ("The final answer is: **5**.", Marker.PHRASE, ["5"]),
        ("**Final Answer:** 5\nbye", Marker.PHRASE, ["5"]),
        ("The answer is 3.5", Marker.PHRASE, ["3.5"]),
        ("the answer is 5, or the answer is 6", Marker.PHRASE, ["5, or", "6"]),
        ("The correct answer is 5.", Marker.PHRASE, ["5"]),
        ("So the final result is\n\n$$5\\pi$$", Marker.PHRASE, ["$$5\\pi$$"]),
        ("### Answer\n\n\\[\n5\n\\]\nbye", Marker.PHRASE, ["5"]),
        ("**Answer**\n5", Marker.PHRASE, ["5"]),
        ("The correct option is B.", Marker.PHRASE, ["B"]),
        ("The correct option is B. The answer is C.", Marker.PHRASE, ["C"]),
        ("The final answer is $5$. I hope it is correct.", Marker.PHRASE, ["$5$"]),
        ("Hence x = 5.", Marker.LINE, ["x = 5"]),
        (" 5\n", Marker.WHOLE, ["5"]),
    ],
)
def test_a_mark_gives_what_stands_in_it(text: str, marker: Marker, expected: list[str]) -> None:
    assert texts(text, marker) == expected


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("the result is 5", Marker.BOXED),
        (r"\boxed{5", Marker.BOXED),
        (r"\boxed{}", Marker.BOXED),
        (r"\boxed 5", Marker.BOXED),
        (r"\\boxed{5}", Marker.BOXED),
        (r"\boxed{ {5 }", Marker.BOXED),
        ("#### 5\nand more text", Marker.HASHES),
        ("##### 5", Marker.HASHES),
        ("text#### 5", Marker.HASHES),
        ("text ##### 5", Marker.HASHES),
        ("text #### 5\nand more text", Marker.HASHES),
        ("text #### " + "5" * 200, Marker.HASHES),
        ("<answer>5", Marker.TAG),
        ("5</answer>", Marker.TAG),
        ("</answer>5<answer>", Marker.TAG),
        ("the answer isn't 5", Marker.PHRASE),
        ("5", Marker.PHRASE),
        ("the result is 5", Marker.PHRASE),
        ("this option is B", Marker.PHRASE),
        ("an answer\n5", Marker.PHRASE),
        ("5\n6", Marker.LINE),
        ("5" * 201, Marker.LINE),
        (" \n ", Marker.WHOLE),
    ],
)
def test_what_is_not_marked_is_no_answer(text: str, marker: Marker) -> None:
    assert texts(text, marker) == []


def test_of_nested_boxes_the_outer_one_is_the_answer() -> None:
    assert texts(r"\boxed{\boxed{5}, \boxed{6}} \boxed{7}", Marker.BOXED) == [
        r"\boxed{5}, \boxed{6}",
        "7",
    ]


def test_a_mark_around_another_mark_gives_way_to_the_inner_one() -> None:
    assert texts(r"The answer is \boxed{5}, as shown.") == ["5"]
    assert texts(r"<answer>It is \boxed{5}</answer>", Marker.TAG, Marker.BOXED) == ["5"]
    assert texts("<answer>5</answer>") == ["5"]


def test_answers_come_in_the_order_of_the_text_whatever_their_form() -> None:
    text = "<answer>1</answer> \\boxed{2}\nThe answer is 3\n#### 4"
    assert texts(text, Marker.HASHES, Marker.BOXED, Marker.PHRASE, Marker.TAG) == list("1234")


def test_an_answer_is_found_where_the_mark_says_it_is() -> None:
    text = "a \\boxed{5} b"
    [found] = marked_answers(text, BOXED)
    assert text[found.start : found.end] == "\\boxed{5}"


@given(st.from_regex(r"[A-Za-z0-9+=, ]{0,20}[A-Za-z0-9]", fullmatch=True), st.sampled_from(ALL))
def test_a_written_answer_is_the_one_that_is_found(answer: str, marker: Marker) -> None:
    assert texts(write_answer(answer, marker), marker) == [answer.strip()]


@pytest.mark.slow
@given(HOSTILE, st.lists(st.sampled_from(ALL), min_size=1))
@example("\\boxed{" * 5 + "}" * 3, [Marker.BOXED])
def test_any_text_gives_answers_that_stand_apart_and_are_not_blank(
    text: str, markers: list[Marker]
) -> None:
    found = marked_answers(text, markers)
    assert all(item.text.strip() == item.text != "" for item in found)
    assert all(left.end <= right.start for left, right in pairwise(found))
    assert all(item.text in text[item.start : item.end] for item in found)


@pytest.mark.parametrize(
    "text",
    [
        "\\boxed{" * 140_000,
        "\\boxed{" * 70_000 + "}" * 70_000,
        "{" * 500_000 + "}" * 500_000,
        "the answer is " * 70_000,
        "the final result is \n$$" * 40_000,
        "# answer\n\\[" * 90_000,
        "<answer>" * 120_000,
        "#### 1\n" * 140_000,
        "answer" + " " * 900_000 + ":",
    ],
    ids=["open", "nested", "braces", "phrases", "displays", "headings", "tags", "hashes", "blanks"],
)
def test_a_megabyte_of_marks_is_read_in_one_pass(text: str) -> None:
    """A second look for each mark would take 10¹⁰ steps and more: this test would not come back."""
    found = marked_answers(text, (Marker.BOXED, Marker.HASHES, Marker.TAG, Marker.PHRASE))
    assert len(found) <= MAX_MARKED + 1


def test_more_marks_than_are_looked_at_can_be_told() -> None:
    for text in ("\\boxed{1} " * 1100, "#### 1\n" * 1100, "<answer>1</answer>" * 1100):
        assert len(marked_answers(text, ALL[:3])) == MAX_MARKED + 1
