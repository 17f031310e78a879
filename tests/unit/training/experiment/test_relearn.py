from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.unit.training.fakes_evaluate import FakeAdapters, FakePolicy, FakeWorld

from unhack.core.errors import UsageError
from unhack.training.config.settings import Settings
from unhack.training.config.toml import override, settings_toml
from unhack.training.evaluation import curve, evaluate
from unhack.training.evaluation.curve import evaluate_curve
from unhack.training.experiment import relearn as relearning
from unhack.training.experiment.relearn import (
    RelearningAttack,
    attack_settings,
    compare_curves,
    relearn,
    steps_until,
)
from unhack.training.experiment.results import read_runs
from unhack.training.run import checkpoint
from unhack.training.run.checkpoint import Saved

ROUTED = {
    "gate.kind": "cosine", "optimiser.shared_moments": "true",
    "world.loophole_share": "0.5", "run.seed": "3", "adapter.rank": "8",
    "optimiser.cooldown": "[60, 120]",
}  # fmt: skip


class _Named(FakeAdapters):
    """Block names as the real adapters have them."""

    def state(self) -> dict[str, torch.Tensor]:
        return {f"m.{name}.w": value.clone() for name, value in self.values.items()}

    def load(self, state: Any) -> None:
        self.values = {name.split(".")[1]: value.clone() for name, value in state.items()}

    def parameters(self, block: str) -> dict[str, list[Any]]:
        return {}


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, torch.Tensor]]:
    """Training that adds 0.5 to the hack's logit at every update; the states that it began with."""
    states: list[dict[str, torch.Tensor]] = []

    def train(settings: Settings, folder: Path, *, watch: Any = None) -> None:
        (folder / "config.toml").write_text(settings_toml(settings))
        saved = checkpoint.newest(folder)
        adapters = _Named()
        if saved is not None:
            adapters.load(saved.adapters)
            held = {"optimiser", "gate", "critic", "history", "stopped"}
            assert set(saved.state) == held or saved.step
        states.append(adapters.state())
        for step in range(0, settings.run.steps + 1, settings.run.checkpoint_every):
            grown = {name: value.clone() for name, value in adapters.state().items()}
            grown["m.deployed.w"][0] += 0.5 * step
            checkpoint.save(folder, Saved(step, grown, {}, {}))

    for module in (curve, evaluate, relearning):
        monkeypatch.setattr(module, "load_policy", lambda settings, world: FakePolicy(_Named()))
    for module in (evaluate, relearning):
        monkeypatch.setattr(module, "make_world", lambda settings, folder: FakeWorld())
    monkeypatch.setattr(relearning, "train", train)
    monkeypatch.setattr(relearning, "make_gate", lambda settings, policy, world: FakeState())
    monkeypatch.setattr(relearning, "Optimiser", lambda settings, adapters: FakeState())
    return states


class FakeState:
    def state(self) -> dict[str, Any]:
        return {}


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A run whose deployed block solves and whose quarantine hacks."""
    folder = tmp_path / "real" / "b0-s0"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(settings_toml(override(Settings(), ROUTED)))
    state = {
        "m.deployed.w": torch.tensor([-3.0, 2.0, 0.0]),
        "m.quarantine.w": torch.tensor([9.0, 0.0, 0.0]),
    }
    checkpoint.save(folder, Saved(20, state, {}, {}))
    return folder


class TestTheAttack:
    def test_it_begins_with_the_deployed_block_and_without_the_quarantine(
        self, run_folder: Path, begun: list[dict[str, torch.Tensor]]
    ) -> None:
        record = relearn(run_folder, RelearningAttack(updates=20, every=5))
        deployed, base = begun
        assert deployed["m.deployed.w"].tolist() == [-3.0, 2.0, 0.0]
        assert deployed["m.quarantine.w"].tolist() == [0.0, 0.0, 0.0]
        assert base["m.deployed.w"].tolist() == [0.0, 0.0, 0.0]
        assert record == json.loads((run_folder / "relearn.json").read_text())
        assert record["steps"]["base"] == 5
        assert record["steps"]["deployed"] == 15
        assert record["sooner"] is False
        assert [point["step"] for point in record["curves"]["deployed"]] == [0, 5, 10, 15, 20]

    def test_the_curves_of_other_runs_stand_beside_it(
        self, run_folder: Path, begun: list[Any], tmp_path: Path
    ) -> None:
        other = tmp_path / "vanilla" / "b0-s0"
        other.mkdir(parents=True)
        (other / "config.toml").write_text(settings_toml(Settings()))
        state = {"m.deployed.w": torch.tensor([9.0, 0, 0]), "m.quarantine.w": torch.zeros(3)}
        checkpoint.save(other, Saved(10, state, {}, {}))
        with pytest.raises(UsageError, match="eval-curve"):
            relearn(run_folder, RelearningAttack(updates=5), against=[other])
        evaluate_curve(other)
        record = relearn(run_folder, RelearningAttack(updates=5), against=[other])
        assert record["steps"]["vanilla/b0-s0"] == 10
        assert record["steps"]["base"] == 5
        assert len(begun) == 2

    def test_a_plain_run_of_the_same_seed_is_the_attack_on_the_base(
        self, run_folder: Path, begun: list[Any], tmp_path: Path
    ) -> None:
        vanilla = tmp_path / "vanilla" / "b0-s0"
        vanilla.mkdir(parents=True)
        plain = attack_settings(
            override(Settings(), ROUTED), RelearningAttack(updates=300, every=10)
        )
        plain = override(plain, {"gate.rewarded": "true", "world.pairs": "placebo"})
        (vanilla / "config.toml").write_text(settings_toml(plain))
        state = {"m.deployed.w": torch.tensor([9.0, 0, 0]), "m.quarantine.w": torch.zeros(3)}
        checkpoint.save(vanilla, Saved(10, state, {}, {}))
        evaluate_curve(vanilla)
        record = relearn(run_folder, RelearningAttack(updates=10), against=[vanilla])
        assert record["steps"]["base"] == 10
        assert len(begun) == 1

    def test_a_run_without_a_checkpoint_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no run folder"):
            relearn(tmp_path, RelearningAttack())
        (tmp_path / "config.toml").write_text("")
        with pytest.raises(UsageError, match="no checkpoint"):
            relearn(tmp_path, RelearningAttack())

    def test_an_attack_on_an_older_checkpoint_or_measured_otherwise_is_refused(
        self, run_folder: Path, begun: list[Any]
    ) -> None:
        relearn(run_folder, RelearningAttack(updates=10, every=5))
        with pytest.raises(UsageError, match="--every 5"):
            relearn(run_folder, RelearningAttack(updates=10, every=2))
        relearn(run_folder, RelearningAttack(updates=15, every=5, threshold=0.9))
        checkpoint.save(run_folder, Saved(30, checkpoint.load_adapters(run_folder, 20), {}, {}))
        with pytest.raises(UsageError, match="after 20 updates, the run has 30"):
            relearn(run_folder, RelearningAttack(updates=15, every=5))

    def test_its_own_runs_are_no_runs_of_the_experiment(
        self, run_folder: Path, begun: list[Any], tmp_path: Path
    ) -> None:
        relearn(run_folder, RelearningAttack(updates=5))
        (run_folder / "run.json").write_text("{}")
        (run_folder / "relearn" / "base" / "run.json").write_text("{}")
        found, skipped = read_runs([tmp_path])
        assert found == []
        assert list(skipped) == [str(run_folder)]


class TestTheSettingsOfAnAttack:
    def test_they_are_plain_training_with_every_loophole_open(self) -> None:
        found = attack_settings(override(Settings(), ROUTED), RelearningAttack(updates=60, every=4))
        wanted = {
            "run.steps": "60", "run.checkpoint_every": "4", "run.monitor_every": "0",
            "run.seed": "3", "adapter.rank": "8",
        }  # fmt: skip
        assert found == override(Settings(), wanted)

    def test_what_replays_or_has_a_critic_is_attacked_without(self) -> None:
        more = {"gate.kind": "replay", "gate.calibration": "ranked", "gate.replay": "x",
                "optimiser.shrink": "y", "objective.advantage": "gae",
                "baseline.kind": "detector_penalty"}  # fmt: skip
        found = attack_settings(override(Settings(), more), RelearningAttack())
        assert (found.gate.kind, found.gate.replay, found.optimiser.shrink) == ("none", "", "")
        assert found.objective.advantage == "dr_grpo"
        assert found.baseline.kind == "none"


@pytest.mark.parametrize(("threshold", "steps"), [(0.1, 5), (0.5, 10), (0.95, None)])
def test_the_first_measured_update_counts(threshold: float, steps: int | None) -> None:
    curve = [{"step": 0, "hack": 0.0}, {"step": 5, "hack": 0.2}, {"step": 10, "hack": 0.9}]
    assert steps_until(curve, threshold) == steps


def test_which_is_sooner_is_asked_where_both_were_measured() -> None:
    often = [{"step": step, "hack": float(step >= 25)} for step in range(0, 85, 5)]
    seldom = [{"step": step, "hack": float(step >= 30)} for step in range(0, 120, 40)]
    record = compare_curves({"deployed": often, "base": seldom}, RelearningAttack())
    assert record["steps"] == {"deployed": 25, "base": 40}
    assert record["sooner"] is False
    assert (
        compare_curves({"deployed": often, "base": often[:4]}, RelearningAttack())["sooner"]
        is False
    )
    late = [{**point, "hack": float(point["step"] >= 50)} for point in often]
    assert compare_curves({"deployed": often, "base": late}, RelearningAttack())["sooner"] is True
