"""A run that is killed and goes on leaves the files of a run that never stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.unit.training import fakes_loop as fakes

from unhack.core.errors import UsageError
from unhack.store.errors import StoreError
from unhack.training.loop.train import train
from unhack.training.run import checkpoint
from unhack.training.run.checkpoint import Saved
from unhack.training.run.folder import LOGS, TrainingRecords, read_lines
from unhack.training.run.step_record import TIMES

ROOT = Path(__file__).resolve().parents[4]
SCRIPT = """
import os, signal, sys
from pathlib import Path
from tests.unit.training import fakes_loop as fakes
from unhack.training.loop import train as module
from unhack.training.run import checkpoint
from unhack.training.config.settings import Settings

point, step = sys.argv[2], int(sys.argv[3])
def die():
    os.kill(os.getpid(), signal.SIGKILL)

if point == "between files":
    whole = checkpoint.write_whole
    def write(path, data, *, mode):
        if path.name == f"{step:05}.json":
            die()
        whole(path, data, mode=mode)
    checkpoint.write_whole = write
if point == "update":
    real = module.route
    def route(*arguments, view, **more):
        if view.step == step:
            die()
        return real(*arguments, view=view, **more)
    module.route = route
def watch(record):
    if point == "after" and record.step == step:
        die()
with fakes.faked():
    module.train(Settings.model_validate_json(sys.argv[1]), Path(sys.argv[4]), watch=watch)
"""
GATES: dict[str, dict[str, Any]] = {
    "cosine": {"gate": {"kind": "cosine", "refresh": 2}},
    "moments": {
        "gate": {"kind": "oracle"},
        "optimiser": {"shared_moments": True},
        "objective": {"advantage": "gae", "updates_per_batch": 2, "retire_share": 0.25},
    },
}


def killed(folder: Path, settings: Any, point: str, step: int) -> int:
    """The exit status of a run in a process of its own that kills itself."""
    arguments = [settings.model_dump_json(), point, str(step), str(folder)]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        timeout=600,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode


def result_files(folder: Path) -> dict[str, Any]:
    """Content by name, without times."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if not path.is_file() or name in {"run.json", "lock"}:
            continue
        found[name] = path.read_bytes()
        if name == "metrics.jsonl":
            found[name] = [
                {key: value for key, value in line.items() if key not in TIMES}
                for line in read_lines(path)
            ]
        if path.parent.name == "checkpoints" and path.suffix == ".json":
            note = json.loads(path.read_bytes())
            del note["lengths"]["metrics.jsonl"]  # times have different numbers of digits
            found[name] = note
    return found


@pytest.mark.slow
class TestKilledRuns:
    @pytest.mark.parametrize(
        ("point", "step"),
        [("update", 0), ("after", 2), ("update", 3), ("between files", 4), ("after", 5)],
    )
    def test_a_killed_run_goes_on_bit_for_bit(self, tmp_path: Path, point: str, step: int) -> None:
        settings = fakes.small(**GATES["cosine"])
        with fakes.faked():
            train(settings, tmp_path / "whole")
            assert killed(tmp_path / "parts", settings, point, step) == -signal.SIGKILL
            train(settings, tmp_path / "parts")
        assert result_files(tmp_path / "parts") == result_files(tmp_path / "whole")

    def test_state_of_gates_critics_and_moments_survives(self, tmp_path: Path) -> None:
        settings = fakes.small(**GATES["moments"])
        with fakes.faked():
            train(settings, tmp_path / "whole")
            for step in (1, 4):
                assert killed(tmp_path / "parts", settings, "after", step) == -signal.SIGKILL
            train(settings, tmp_path / "parts")
        assert result_files(tmp_path / "parts") == result_files(tmp_path / "whole")


class TestCheckpoints:
    def test_nested_state_comes_back(self, tmp_path: Path) -> None:
        state = {
            "plain": {"count": 3, "rate": 0.1, "name": "a/b", "none": None, "on": True},
            "list": [torch.arange(3), {"inner": torch.ones(2, 2, dtype=torch.float64)}],
            "number": torch.tensor(5.0),
        }
        checkpoint.save(tmp_path, Saved(10, {"a.weight": torch.rand(3)}, state, {"log": 7}))
        found = checkpoint.newest(tmp_path)
        assert found is not None
        assert (found.step, found.lengths) == (10, {"log": 7})
        assert found.state["plain"] == state["plain"]
        assert torch.equal(found.state["list"][0], torch.arange(3))
        assert found.state["list"][1]["inner"].dtype == torch.float64
        assert found.state["number"].shape == ()

    def test_what_cannot_be_stored_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match="state/strange"):
            checkpoint.save(tmp_path, Saved(0, {}, {"strange": object()}, {}))
        assert checkpoint.checkpoint_steps(tmp_path) == []

    def test_a_damaged_checkpoint_is_an_error(self, tmp_path: Path) -> None:
        checkpoint.save(tmp_path, Saved(10, {"a": torch.rand(3)}, {}, {}))
        path = tmp_path / "checkpoints/00010.safetensors"
        path.write_bytes(path.read_bytes()[:-1] + b"x")
        with pytest.raises(StoreError, match="damaged"):
            checkpoint.load_adapters(tmp_path, 10)

    def test_a_checkpoint_that_is_not_there_names_those_that_are(self, tmp_path: Path) -> None:
        for step in (0, 10):
            checkpoint.save(tmp_path, Saved(step, {"a": torch.rand(3)}, {}, {}))
        with pytest.raises(UsageError, match="there are: 0, 10"):
            checkpoint.load_adapters(tmp_path, 20)

    def test_steps_rise_by_number(self, tmp_path: Path) -> None:
        for step in (99_999, 100_000, 5):
            checkpoint.save(tmp_path, checkpoint.Saved(step, {"a": torch.zeros(1)}, {}, {}))
        assert checkpoint.checkpoint_steps(tmp_path) == [5, 99_999, 100_000]

    def test_thinning_keeps_the_last_one_usable(self, tmp_path: Path) -> None:
        for step in (0, 10, 20):
            checkpoint.save(tmp_path, Saved(step, {"a": torch.rand(3)}, {}, {}))
        checkpoint.thin(tmp_path)
        assert checkpoint.checkpoint_steps(tmp_path) == [20]
        assert checkpoint.newest(tmp_path) is not None

    def test_logs_shorter_than_their_checkpoint_are_an_error(self, tmp_path: Path) -> None:
        settings = fakes.small(run={"steps": 2, "monitor_every": 0})
        with fakes.faked():
            train(settings, tmp_path)
            (tmp_path / "metrics.jsonl").write_text("")
            longer = settings.run.model_copy(update={"steps": 4})
            with pytest.raises(StoreError, match="shorter than its checkpoint"):
                train(settings.model_copy(update={"run": longer}), tmp_path)

    def test_a_line_that_was_half_written_is_not_read(self, tmp_path: Path) -> None:
        path = tmp_path / LOGS[0]
        path.write_text('{"step": 0}\n{"step": 1')
        assert read_lines(path) == [{"step": 0}]


class TestFoldersFromBeforeFormatsWereMarked:
    @pytest.mark.slow
    def test_a_run_goes_on_in_one(self, tmp_path: Path) -> None:
        settings = fakes.small(run={"steps": 2, "monitor_every": 0})
        longer = settings.model_copy(update={"run": settings.run.model_copy(update={"steps": 4})})
        with fakes.faked():
            train(longer, tmp_path / "whole")
            train(settings, tmp_path / "parts")
            (tmp_path / "parts" / "format.json").unlink()
            train(longer, tmp_path / "parts")
        whole, parts = (read_lines(tmp_path / name / LOGS[1]) for name in ("whole", "parts"))
        assert len(parts) == 4
        assert parts == whole


class TestSettingsOfAFolder:
    def test_a_run_that_never_began_may_be_put_right_and_one_that_did_may_not(
        self, tmp_path: Path
    ) -> None:
        wrong, right = fakes.small(run={"seed": 1}), fakes.small(run={"seed": 2})
        TrainingRecords(tmp_path, wrong).close()
        TrainingRecords(tmp_path, right).close()
        checkpoint.save(tmp_path, Saved(0, {"a": torch.rand(3)}, {}, {}))
        with pytest.raises(UsageError, match=r"run\.seed = 2, not 1"):
            TrainingRecords(tmp_path, wrong)
