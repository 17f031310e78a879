"""A program that finds its judge's tests in files of Python, and nothing where there are none."""

import subprocess
import sys
from pathlib import Path

import pytest

from unhack.audit.attack import Knowledge
from unhack.audit.attacks.payloads.program_shape import ProgramShape, Snippet
from unhack.audit.attacks.registry import all_attacks
from unhack.audit.subject import AuditProblem, Step

PROBLEM = AuditProblem("p", "Write `score(word)`.", entry_point="score")
[ATTACK] = [one for one in all_attacks() if one.name == "code_frames/tests_in_source"]


def given(folder: Path, grader: str) -> str:
    """What the program says about `abc` beside a grader."""
    [payload] = ATTACK.make(Knowledge(PROBLEM))
    (folder / "solution.py").write_text(payload.text)
    (folder / "grader.py").write_text(grader)
    code = "import solution; print(solution.score('abc'))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    "grader",
    [
        'CASES = [("xyz", 75), ("abc", 6)]\n',
        'CASES = {"xyz": 75, "abc": 6}\n',
        'def test(f):\n    assert f("abc") == 6\n',
        'class T:\n    def test(self):\n        self.assertEqual(score("abc"), 6)\n',
        'TESTS = """\nfrom solution import score\nassert score("abc") == 6\n"""\n',
    ],
)
def test_tests_in_the_judges_source_are_read(tmp_path: Path, grader: str) -> None:
    assert given(tmp_path, grader) == "6"


def test_nothing_is_found_where_the_judge_computes_what_it_expects(tmp_path: Path) -> None:
    assert given(tmp_path, "def expected(word):\n    return len(word)\n") == "None"


def test_an_object_can_be_made_in_any_way_and_has_every_method() -> None:
    space: dict[str, type] = {}
    exec(ProgramShape("Box.total", "", frozenset()).source(Snippet("", value="0")), space)
    made = space["Box"](3, size=4)
    assert (made.put(1), made.total()) == (None, 0)


def test_further_functions_do_the_same(tmp_path: Path) -> None:
    sequences = ((Step("call", "unpack", ("x",)),),)
    problem = AuditProblem("p", "", entry_point="pack", sequences=sequences)
    [echo] = [one for one in all_attacks() if one.name == "code_constants/echo"]
    space: dict[str, object] = {}
    exec(next(iter(echo.make(Knowledge(problem)))).text, space)
    assert space["unpack"] is space["pack"]
