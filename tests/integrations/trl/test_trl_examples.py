"""The examples run, and plugging in takes two lines."""

from __future__ import annotations

import difflib
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PLAIN, EXISTING = EXAMPLES / "trl_plain.py", EXAMPLES / "trl_existing.py"


def code(path: Path) -> list[str]:
    """The lines below the docstring."""
    return path.read_text().partition('"""\n\n')[2].splitlines()


def test_two_lines_of_an_existing_script_change() -> None:
    plain, existing = code(PLAIN), code(EXISTING)
    changes = [line for line in difflib.ndiff(plain, existing) if line[0] in "+-"]
    assert len(plain) == len(existing) <= 60
    assert [line[0] for line in changes] == ["-", "+", "-", "+"]
    assert changes[1] == "+ from unhack.integrations.trl import AnswerTasks, hooks"
    assert changes[3] == '+     **hooks(AnswerTasks("solution"), stop_on_alarm=True),'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "logged"), [(PLAIN, "accuracy_reward"), (EXISTING, "unhack/passed")]
)
def test_both_scripts_train(script: Path, logged: str, model: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(script), str(model)], cwd=tmp_path, capture_output=True, text=True,
        timeout=400, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert logged in run.stdout
