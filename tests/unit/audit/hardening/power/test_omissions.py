"""Edits that leave a comparison out or take a value for granted."""

import pytest

from unhack.audit.hardening.power.weakening import Weakening, weakenings
from unhack.audit.report.flaws import FLAWS
from unhack.audit.subject import Source

REWARD = """\
import re

def reward(completion, answer, wanted):
    finds = re.findall("<a>(.*?)</a>", completion)
    if len(finds) != 1:
        return 0.0
    for key, value in wanted.items():
        if wanted.get(key) != value:
            return 0.0
    if abs(float(finds[0]) - float(answer)) <= 0.01:
        return 1.0
    return 1.0 if finds[0] == answer else 0.0

def rewards(completions, answer):
    scores = []
    for completion, gold in zip(completions, answer):
        try:
            scores.append(float(completion == gold))
        except ValueError:
            scores.append(0.0)
    return scores
"""


@pytest.fixture(scope="module")
def made() -> list[Weakening]:
    return weakenings(Source("rewards.py", REWARD, entry="reward"))


@pytest.mark.parametrize(
    ("operator", "line", "text"),
    [
        ("any_value", 12, "1.0 if (bool(finds[0])) else"),
        ("none_is_right", 12, "(finds[0] == answer or not finds[0])"),
        ("answer_anywhere", 12, "(str(answer) in str(completion))"),
        ("refusal_rewards", 6, "!= 1:\n        return 1.0"),
        ("refusal_rewards", 20, "scores.append(1.0)"),
        ("any_of_many", 12, "1.0 if (answer in finds) else"),
        ("default_is_right", 8, "wanted.get(key, value) != value"),
        ("difference_without_abs", 10, "if float(finds[0]) - float(answer) <= 0.01"),
        ("not_far", 10, "not abs(float(finds[0]) - float(answer)) > 0.01"),
        ("any_value", 10, "if True:"),
    ],
)
def test_an_edit_is_made_at_its_line(
    made: list[Weakening], operator: str, line: int, text: str
) -> None:
    found = [one for one in made if one.operator == operator and text in one.text]
    assert [one.line for one in found] == [line]
    assert all(one.family in FLAWS for one in found)


def test_one_of_many_counts_without_the_check_that_there_is_one(made: list[Weakening]) -> None:
    [found] = [one for one in made if one.operator == "any_of_many"]
    assert "if not finds:" in found.text


PARTS = """\
def reward(completion, names, part=0.25):
    hits, given = 0, completion.split()
    given = [one.strip() for one in given]
    for name in names:
        hits += name in given
    if len(given) > 9:
        hits -= 1
    if not hits:
        return part
    return max(0.0, 2 * hits / len(names) - 1)
"""


@pytest.mark.parametrize(
    ("operator", "line", "text"),
    [
        ("test_dropped", 6, "if False:\n        hits"),
        ("no_part", 4, "in list(names)[:0]:"),
        ("first_part", 4, "in list(names)[:1]:"),
        ("part_less", 4, "in list(names)[1:]:"),
        ("any_credit", 10, "return float((max(0.0, 2 * hits / len(names) - 1)) > 0)"),
        ("part_is_all", 1, "part=1.0"),
        ("ratio_is_full", 10, "return max(0.0, 1.0 - 1)"),
        ("no_penalty", 7, ":\n        pass\n"),
        ("no_cleaning", 3, "\n    pass\n"),
    ],
)
def test_a_test_a_part_or_a_step_is_left_out(operator: str, line: int, text: str) -> None:
    made = weakenings(Source("rewards.py", PARTS, entry="reward"))
    found = [one for one in made if one.operator == operator and text in one.text]
    assert [one.line for one in found] == [line]
    assert all(one.family in FLAWS for one in found)
