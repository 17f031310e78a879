"""A judge that is killed in the middle of a dialogue, and judges again."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from packages.contests.tests.scaling.trained.small_world import SMALL

from unhack.tournament.contest import DataPool, Measurement
from unhack.tournament.contests.registry import load_contest
from unhack_contests.scaling.trained import settings

pytest.importorskip("torch")

_SOLUTION = """
def study(lab, targets):
    runs = [lab.train(width=8, steps=s, again=a) for s in (8, 30) for a in (0, 1)]
    runs.append(lab.train(width=8, steps=8))
    best = min(run.loss for run in runs)
    return [(best - 0.05, best - 0.3, best + 0.2) for _ in targets]
"""
_DIES_IN_THE_THIRD_RUN = """
import os, signal, sys
from pathlib import Path
from packages.contests.tests.scaling.trained.small_world import SMALL
from unhack.tournament.contest import DataPool
from unhack.tournament.contests.registry import load_contest
from unhack_contests.scaling.trained import settings
from unhack_contests.scaling.trained.service import record

settings.SIZES = {"demo": SMALL}
once, asked = record.RunRecord.once, []

def dying(self, key, train):
    asked.append(key)
    if len(asked) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return once(self, key, train)

record.RunRecord.once = dying
options = {"service": "trained", "size": "demo", "record": sys.argv[2]}
load_contest("scaling", options).measure(Path(sys.argv[1]), pool=DataPool.JUDGE, seed=5)
"""


def measured(folder: Path, record: Path) -> Measurement:
    options = {"service": "trained", "size": "demo", "record": str(record)}
    return load_contest("scaling", options).measure(folder, pool=DataPool.JUDGE, seed=5)


@pytest.mark.slow
def test_a_killed_judge_goes_on_with_its_meter_and_comes_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SIZES", {"demo": SMALL})
    folder, record = tmp_path / "submission", tmp_path / "record"
    folder.mkdir()
    (folder / "solution.py").write_text(_SOLUTION)
    command = [sys.executable, "-c", _DIES_IN_THE_THIRD_RUN, str(folder), str(record)]
    done = subprocess.run(command, cwd=Path(__file__).parents[5], check=False)
    assert done.returncode == -signal.SIGKILL
    [meter] = record.rglob("*.meter")
    charges = [json.loads(line) for line in meter.read_text().splitlines()]
    assert len(charges) == 3
    finished = len(list(record.rglob("*.json")))
    assert finished == 2
    resumed = measured(folder, record)
    assert list(record.rglob("*.meter")) == []
    shutil.rmtree(record)
    assert resumed == measured(folder, record)
    assert resumed.valid
    assert resumed.metrics["runs"] == 5
