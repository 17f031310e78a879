from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from unhack.audit.plugin import failure

from .report_sample import HOSTILE, SUFFIX, report

ROOT = Path(__file__).parents[3]
REWARDS = """\
def flawed(data_source, solution_str, ground_truth, extra_info=None):
    return float(solution_str.strip().endswith(ground_truth))


def exact(data_source, solution_str, ground_truth, extra_info=None):
    return float(solution_str.strip() == ground_truth)
"""
ROWS = '{"prompt": "What is 6 times 7?", "answer": "42", "correct": ["42"]}\n'
TESTS = """\
import pytest



@pytest.mark.parametrize("name", ["flawed", "exact"])
def test_it(unhack_audit, name):
    report = unhack_audit(f"rewards.py:{name}", problems="rows.jsonl", tiers=(1,), seconds=60)
    assert report.conclusion == "sound"


def test_nothing_is_known(unhack_audit):
    unhack_audit("rewards.py:exact", problems="bare.jsonl")
"""


def test_pytest_finds_the_plugin_by_an_entry_point_that_can_be_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module = import_module(project["entry-points"]["pytest11"]["unhack"])
    assert hasattr(module, "unhack_audit")


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
        "1. critical always_equal_object",
        "2. high suffix_match",
        "rewards/sums.py:7: if answer.endswith(ground_truth):",
        "wrong as it answers '142', which is not '42'",
        "3 attacks × 12 problems",
    ):
        assert words in text


@pytest.mark.slow
def test_a_test_fails_for_a_flawed_reward_only_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "rewards.py").write_text(REWARDS)
    (tmp_path / "rows.jsonl").write_text(ROWS)
    (tmp_path / "bare.jsonl").write_text('{"prompt": "What is 6 times 7?"}\n')
    (tmp_path / "conftest.py").write_text("from unhack.audit.plugin import unhack_audit\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "rewards.py:flawed can be gamed" in done.stdout
    assert "suffix_match" in done.stdout
    assert "nothing says which completions are right" in done.stdout
