"""The example prints the rewards of its three rollouts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_example_runs() -> None:
    script = Path(__file__).resolve().parents[3] / "examples" / "verl_rewards.py"
    assert len(script.read_text().splitlines()) <= 60
    run = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "[1.0, 0.0, 0.0]"
