"""Sweeps on the fake world. Workers are processes of their own, so the fakes are put in place by
the module that `spawn` imports there (`sweep_workers`)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from unhack.core.errors import UnhackError, UnknownNameError, UsageError
from unhack.training.experiment import sweep as sweeps
from unhack.training.experiment.arms import controls_of
from unhack.training.experiment.sweep import (
    SweepPlan,
    SweepRun,
    plan_runs,
    read_plan,
    settings_of,
    sweep,
)
from unhack.training.experiment.worker import OUT_OF_MEMORY, is_out_of_memory

ROOT = Path(__file__).resolve().parents[4]
PLAN = """
arms = ["shrink", "vanilla", "real", "replay"]
controls = false
seeds = 1
jobs = 2
keep_checkpoints = 1

[settings.adapter]
rank = 4

[settings.rollouts]
prompts = 8
group = 4

[settings.world]
pairs_per_mode = 2

[settings.run]
steps = 3
checkpoint_every = 1
monitor_every = 0

[test]
alpha = 0.01
"""
SCRIPT = """
import signal, sys
from pathlib import Path
from tests.unit.training import sweep_workers
from unhack.training.experiment import sweep

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background commands
    plan, out = Path(sys.argv[1]), Path(sys.argv[2])
    sweep.work, sweep.make_base = sweep_workers.work, sweep_workers.make_base
    for outcome in sweep.sweep(sweep.read_plan(plan), out):
        print(outcome.run.name, outcome.state, outcome.reason.replace("\\n", " "), flush=True)
"""


def plan_file(folder: Path, text: str = PLAN) -> Path:
    path = folder / "plan.toml"
    path.write_text(text)
    return path


def started(folder: Path, plan: Path) -> subprocess.Popen[str]:
    script = folder / "sweep_script.py"
    script.write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, str(script), str(plan), str(folder / "out")],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def states(output: str) -> dict[str, str]:
    return {line.split()[0]: line.split()[1] for line in output.splitlines()}


class TestPlans:
    def test_arms_come_after_what_they_replay(self, tmp_path: Path) -> None:
        runs = plan_runs(read_plan(plan_file(tmp_path)))
        assert [run.arm for run in runs] == ["real", "shrink", "vanilla", "replay"]

    def test_seeds_are_whole_before_the_next_begins(self) -> None:
        runs = plan_runs(
            SweepPlan(("vanilla", "real"), seeds=(3, 4), base_seeds=(0, 1), controls=False)
        )
        assert [run.name for run in runs] == [
            "vanilla/b0-s3", "real/b0-s3", "vanilla/b1-s3", "real/b1-s3",
            "vanilla/b0-s4", "real/b0-s4", "vanilla/b1-s4", "real/b1-s4",
        ]  # fmt: skip

    def test_every_choice_of_known_modes_is_run(self, tmp_path: Path) -> None:
        text = 'known = [["run_tests"], ["sentinel", "file_marker"]]\n' + PLAN
        plan = read_plan(plan_file(tmp_path, text))
        runs = [run for run in plan_runs(plan) if run.arm == "replay"]
        assert [run.name for run in runs] == [
            "replay/b0-s0-run_tests", "replay/b0-s0-sentinel+file_marker",
        ]  # fmt: skip
        settings = settings_of(plan, runs[1], tmp_path)
        assert settings.world.known == ("sentinel", "file_marker")
        assert settings.gate.replay.endswith("real/b0-s0-sentinel+file_marker")

    def test_a_part_of_a_plan_comes_with_the_records_that_it_replays(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plan = SweepPlan(("real", "replay", "vanilla"), seeds=(0, 1), controls=False)
        monkeypatch.setattr(sweeps._Board, "prepare", lambda _: None)
        monkeypatch.setattr(sweeps._Board, "start_ready", lambda _: False)
        wanted = [SweepRun("replay", 0, 1), SweepRun("vanilla", 0, 0)]
        found = [one.run.name for one in sweep(plan, tmp_path, only=wanted)]
        assert found == ["vanilla/b0-s0", "real/b0-s1", "replay/b0-s1"]
        assert sweep(plan, tmp_path, only=[]) == []
        assert len(sweep(plan, tmp_path)) == 6

    def test_a_routed_arm_brings_its_controls(self) -> None:
        found = {run.arm for run in plan_runs(SweepPlan(("oracle",), seeds=(0,)))}
        assert found == {"oracle", *controls_of("oracle")}
        assert [run.arm for run in plan_runs(SweepPlan(("vanilla",), seeds=(0,)))] == ["vanilla"]

    def test_a_run_has_the_settings_of_plan_arm_and_seed(self, tmp_path: Path) -> None:
        text = PLAN + "\n[arm.replay.run]\nsteps = 5\n"
        plan = read_plan(plan_file(tmp_path, text))
        settings = settings_of(plan, SweepRun("replay", 2, 7), tmp_path)
        assert (settings.gate.kind, settings.run.steps) == ("replay", 5)
        assert settings.gate.replay == str(tmp_path / "real/b2-s7")
        assert (settings.run.seed, settings.model.base_seed) == (7, 2)
        shrunk = settings_of(plan, SweepRun("shrink", 2, 7), tmp_path)
        assert shrunk.optimiser.shrink == str(tmp_path / "real/b2-s7")
        assert settings.world.cache == shrunk.world.cache != ""

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ('arms = ["replay"]\nseeds = 1', "put real into the plan"),
            ('arms = ["vanila"]\nseeds = 1', "vanilla"),
            ('arms = ["vanilla"]', "seeds is missing"),
            ('arms = ["vanilla"]\nseeds = 1\nsteps = 3', "field of a plan"),
            ('arms = ["vanilla"]\nseeds = 1\n[settings.run]\nstep = 3', r"run\.steps"),
            ('arms = "vanilla"\nseeds = 1', "arms: .*tuple"),
            ("arms = []\nseeds = 1", "arms: .*at least 1"),
            ('arms = ["vanilla"]\nseeds = 0', "seeds: .*at least 1"),
            ('arms = ["vanilla"]\nseeds = 1\njobs = 0', "jobs: .*greater than"),
            ('arms = ["vanilla"]\nseeds = 1\njobs = "two"', "jobs: .*integer"),
            ('arms = ["vanilla"]\nseeds = 1\nkeep_checkpoints = -1', "keep_checkpoints"),
            ('arms = ["vanilla"]\nseeds = 1\nsettings = 3', "settings: "),
            ('arms = ["vanilla"]\nseeds = 1\n[arm.vanilla]\ngate = 3', r"arm\.vanilla\.gate"),
            ('arms = ["vanilla"]\nseeds = 1\n[arm.vanila.gate]\nrefresh = 3', "vanilla"),
            ('arms = ["vanilla"]\nseeds = 1\n[arm.real.gate]\nrefresh = 3', "does not run"),
        ],
    )
    def test_a_plan_that_cannot_be_run_says_why(
        self, tmp_path: Path, text: str, words: str
    ) -> None:
        with pytest.raises((UsageError, UnknownNameError), match=words):
            read_plan(plan_file(tmp_path, text))


@pytest.mark.slow
class TestSweeps:
    @pytest.mark.sample
    def test_all_runs_are_made_once_and_failures_stay_alone(self, tmp_path: Path) -> None:
        text = PLAN + "\n[arm.vanilla.adapter]\ntargets = ['nothing']\n"
        output, errors = started(tmp_path, plan_file(tmp_path, text)).communicate(timeout=600)
        assert states(output) == {
            "real/b0-s0": "done", "shrink/b0-s0": "done", "vanilla/b0-s0": "failed",
            "replay/b0-s0": "done",
        }, errors  # fmt: skip
        assert "no linear module" in output
        out = tmp_path / "out"
        for arm in ("real", "shrink", "replay"):
            assert (out / arm / "b0-s0/final.json").exists()
            assert (out / arm / "b0-s0/curve.json").exists()
        before = (out / "real/b0-s0/metrics.jsonl").stat().st_mtime_ns
        output, errors = started(tmp_path, plan_file(tmp_path)).communicate(timeout=600)
        assert set(states(output).values()) == {"done"}, errors
        assert (out / "real/b0-s0/metrics.jsonl").stat().st_mtime_ns == before
        output, errors = started(tmp_path, plan_file(tmp_path, text)).communicate(timeout=600)
        assert states(output)["vanilla/b0-s0"] == "failed", errors
        assert "choose another folder" in output

    def test_base_models_are_made_on_a_device_of_the_plan(self, tmp_path: Path) -> None:
        plan = read_plan(plan_file(tmp_path, 'devices = ["cuda:99"]\n' + PLAN))
        with pytest.raises(UnhackError, match=r"base model 0 cannot be made: .*cuda:99"):
            sweep(plan, tmp_path / "out")

    def test_an_interrupted_sweep_goes_on(self, tmp_path: Path) -> None:
        plan = plan_file(tmp_path, PLAN.replace("steps = 3", "steps = 60"))
        sweeping = started(tmp_path, plan)
        first = tmp_path / "out/real/b0-s0/checkpoints/00003.json"
        deadline = time.monotonic() + 300
        while not first.exists() and time.monotonic() < deadline:
            time.sleep(0.2)
        sweeping.send_signal(signal.SIGINT)
        _, errors = sweeping.communicate(timeout=600)
        assert "KeyboardInterrupt" in errors
        assert not (tmp_path / "out/real/b0-s0/done").exists()
        text = PLAN.replace('"shrink", "vanilla", "real", "replay"', '"real"')
        shorter = plan_file(tmp_path, text.replace("steps = 3", "steps = 60"))
        output, errors = started(tmp_path, shorter).communicate(timeout=600)
        assert states(output) == {"real/b0-s0": "done"}, errors


class TestTooLittleMemory:
    """What becomes of runs whose workers end for want of memory."""

    def board(self, tmp_path: Path) -> sweeps._Board:
        plan = SweepPlan(("vanilla",), seeds=(0, 1, 2), jobs=3)
        return sweeps._Board(plan, tmp_path, None, plan_runs(plan))

    @pytest.mark.parametrize("exitcode", [OUT_OF_MEMORY, -signal.SIGKILL])
    def test_beside_others_a_run_waits_and_fewer_run_at_once(
        self, tmp_path: Path, exitcode: int
    ) -> None:
        board = self.board(tmp_path)
        first = board._ended(board.runs[0], exitcode, 3, 1.0)
        second = board._ended(board.runs[1], exitcode, 2, 1.0)
        assert (first.state, second.state, board.jobs) == ("waiting", "waiting", 1)
        assert "2 at a time" in first.reason

    def test_alone_a_run_fails_and_says_what_to_change(self, tmp_path: Path) -> None:
        board = self.board(tmp_path)
        found = board._ended(board.runs[0], OUT_OF_MEMORY, 1, 1.0)
        assert found.state == "failed"
        assert "run.micro_batch" in found.reason

    def test_other_failures_are_none_of_memory(self, tmp_path: Path) -> None:
        board = self.board(tmp_path)
        assert board._ended(board.runs[0], 1, 3, 1.0).state == "failed"
        assert board.jobs == 3

    def test_errors_of_memory_are_known_through_their_causes(self) -> None:
        error = ValueError("a step failed")
        error.__cause__ = torch.OutOfMemoryError("CUDA out of memory")
        assert is_out_of_memory(error)
        assert is_out_of_memory(MemoryError())
        assert not is_out_of_memory(RuntimeError("shapes differ"))
