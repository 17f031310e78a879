from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from unhack.audit.plugin import failure, undecided
from unhack.audit.report.report import Conclusion

from .report_sample import HOSTILE, SUFFIX, report

ROOT = Path(__file__).parents[3]
REWARDS = """\
def flawed(data_source, solution_str, ground_truth, extra_info=None):
    return float(solution_str.strip().endswith(ground_truth))


def exact(data_source, solution_str, ground_truth, extra_info=None):
    return float(solution_str.strip() == ground_truth)


def form(solution_str):
    return float("#" in solution_str)


def broken(data_source, solution_str, ground_truth, extra_info=None):
    raise RuntimeError("the service is down")
"""
ROWS = '{"prompt": "What is 6 times 7?", "answer": "42", "correct": ["42"]}\n'
TESTS = """\
import pytest



@pytest.mark.parametrize("name", ["flawed", "exact"])
def test_it(unhack_audit, name):
    report = unhack_audit(f"rewards.py:{name}", problems="rows.jsonl", tiers=(1,), seconds=600)
    assert report.conclusion == "sound"


def test_nothing_is_known(unhack_audit):
    unhack_audit("rewards.py:exact", problems="bare.jsonl")
"""
UNDECIDED = """\
import pytest


@pytest.mark.parametrize("name", ["form", "broken"])
@pytest.mark.parametrize("allowed", [{}, {"allow_unproven": True}], ids=["plain", "allowed"])
def test_it(unhack_audit, name, allowed):
    report = unhack_audit(f"rewards.py:{name}", problems="rows.jsonl", tiers=(1,), **allowed)
    assert report.conclusion == "unproven"


def test_a_hole_is_never_allowed(unhack_audit):
    unhack_audit("rewards.py:flawed", problems="rows.jsonl", tiers=(1,), allow_unproven=True)
"""


def test_pytest_finds_the_plugin_by_an_entry_point_that_can_be_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module = import_module(project["entry-points"]["pytest11"]["unhack"])
    assert hasattr(module, "unhack_audit")


@pytest.mark.slow
def test_loading_the_plugin_loads_nothing_heavy() -> None:
    code = (
        "import sys, unhack.audit.plugin; "
        "print([n for n in ('pydantic', 'rich', 'unhack.sandbox.pool.pool', "
        "'unhack.audit.report.flaws')"
        " if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_failure_names_every_finding_on_lines_without_control_characters() -> None:
    text = failure(report(SUFFIX, HOSTILE))
    assert all(line.isprintable() for line in text.splitlines())
    for words in (
        "1. critical hack always_equal_object",
        "2. high hack suffix_match",
        "rewards/sums.py:7: if answer.endswith(ground_truth):",
        "evidence it answers '142', which is not '42'",
        "3 attacks × 12 problems",
    ):
        assert words in text


def test_a_test_that_could_not_decide_says_why_on_lines_without_control_characters() -> None:
    why = "the verifier fails on every correct completion: \x1b[31mValueError\nin line 3"
    text = undecided(report(conclusion=Conclusion.UNPROVEN, why=why))
    assert all(line.isprintable() for line in text.splitlines())
    for words in ("could not decide: the verifier fails", "in line 3", "allow_unproven=True"):
        assert words in text


def run_pytest(folder: Path, tests: str) -> str:
    """The output of pytest on these tests, beside the rewards."""
    (folder / "rewards.py").write_text(REWARDS)
    (folder / "rows.jsonl").write_text(ROWS)
    (folder / "bare.jsonl").write_text('{"prompt": "What is 6 times 7?"}\n')
    (folder / "conftest.py").write_text("from unhack.audit.plugin import unhack_audit\n")
    (folder / "test_it.py").write_text(tests)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    return done.stdout + done.stderr


@pytest.mark.slow
def test_a_test_fails_for_a_flawed_reward_only_and_says_why(tmp_path: Path) -> None:
    shown = run_pytest(tmp_path, TESTS)
    assert "2 failed, 1 passed" in shown, shown
    assert "rewards.py:flawed can be gamed" in shown
    assert "suffix_match" in shown
    assert "nothing says which completions are right" in shown


@pytest.mark.slow
def test_a_test_fails_where_nothing_could_be_decided_unless_that_is_allowed(tmp_path: Path) -> None:
    shown = run_pytest(tmp_path, UNDECIDED)
    assert "3 failed, 2 passed" in shown, shown
    assert "rewards.py:form: the audit could not decide: the verifier ignores" in shown
    assert "RuntimeError: the service is down" in shown
    assert "rewards.py:flawed can be gamed" in shown
