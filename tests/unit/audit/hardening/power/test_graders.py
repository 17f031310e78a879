"""The edits that weaken a grader of programs."""

import ast

import pytest

from unhack.audit.hardening.power.candidates import Weakening, weakenings
from unhack.audit.report.flaws import FLAWS
from unhack.audit.subject import Source

GRADER = """\
import subprocess

def verify(solve, cases):
    good = 0
    for number, case in enumerate(cases):
        try:
            got = solve(*case["args"])
        except Exception:
            continue
        if got == case["expected"]:
            good += 1
    ran = subprocess.run(["python", "solution.py"])
    if ran.stdout.strip() != "done":
        return {"score": 0.0}
    return {"score": good / len(cases), "all": good == len(cases)}
"""


def made() -> list[Weakening]:
    return weakenings(Source("verifier.py", GRADER))


@pytest.mark.parametrize(
    ("operator", "line", "text"),
    [
        ("drop_case", 5, "enumerate(list(cases)[:-1])"),
        ("drop_case", 5, "enumerate(list(cases)[1:])"),
        ("one_case", 5, "enumerate(list(cases)[:1])"),
        ("one_passed", 15, "float(good > 0)"),
        ("one_passed", 15, '"all": good > 0'),
        ("crash_counts", 9, "good += 1; continue"),
        ("exit_code_only", 13, "if ran.returncode != 0:"),
        (
            "folded_text",
            10,
            'str((got)).strip().lower() == str((case["expected"])).strip().lower()',
        ),
        ("zip_for_list", 10, "zip((got), (case"),
    ],
)
def test_the_edit_is_made_at_its_line(operator: str, line: int, text: str) -> None:
    assert any((one.operator, one.line) == (operator, line) and text in one.text for one in made())


def test_every_edit_is_a_program_of_a_known_class() -> None:
    ones = [*made()]
    assert ones
    for one in ones:
        ast.parse(one.text)
        assert one.family in FLAWS


def test_loops_over_other_things_than_cases_are_left_alone() -> None:
    text = "def score(words):\n    return sum(1 for word in words if word)\n"
    assert not any(one.operator == "drop_case" for one in weakenings(Source("v.py", text)))
