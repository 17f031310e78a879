from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.unit.training.fakes_evaluate import STOP, FakeAdapters, FakePolicy, FakeWorld

from unhack.core.errors import UnhackError, UsageError
from unhack.models.config import Config
from unhack.models.qwen3 import Qwen3
from unhack.training.adapters import attach
from unhack.training.config.settings import AdapterSettings, Settings
from unhack.training.config.toml import settings_toml
from unhack.training.evaluation import curve
from unhack.training.evaluation import evaluate as measuring
from unhack.training.evaluation.counts import Evaluation, Tally
from unhack.training.evaluation.curve import evaluate_curve, plan_steps
from unhack.training.evaluation.evaluate import (
    both_states,
    delete_quarantine,
    evaluate,
    evaluate_run,
)
from unhack.training.policy.policy import TinyPolicy
from unhack.training.run import checkpoint
from unhack.training.run.checkpoint import Saved

SMALL = Config(vocab=8, hidden=16, layers=1, heads=2, kv_heads=2, head_dim=8, ffn=32)


def _policy(deployed: list[float], quarantine: list[float], *, leaks: bool = False) -> FakePolicy:
    values = {
        "deployed": torch.tensor(deployed).float(),
        "quarantine": torch.tensor(quarantine).float(),
    }
    return FakePolicy(FakeAdapters(values, leaks))


@pytest.fixture
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of 20 updates whose quarantine learns to hack, in the fake world."""
    folder = tmp_path / "real-s0"
    folder.mkdir()
    (folder / "config.toml").write_text(settings_toml(Settings()))
    for step in (10, 20):
        state = _policy([0.0, step / 10, 0.0], [step / 5, 0.0, 0.0]).adapters.state()
        checkpoint.save(folder, Saved(step, state, {}, {}))
    for module in (curve, measuring):
        monkeypatch.setattr(module, "load_policy", lambda settings, world: FakePolicy())
    monkeypatch.setattr(measuring, "make_world", lambda settings, folder: FakeWorld())
    return folder


class TestAnEvaluation:
    def test_it_counts_hacks_and_solves_by_mode(self) -> None:
        world = FakeWorld()
        found = evaluate(_policy([0, 0, 0], [9, 0, 0]), world, world.final(), quarantine=True)
        assert found.count == 240
        assert set(found.by_mode) == {*world.modes, "gt_only"}
        assert found.held_out == ("stdout_marker",)
        assert found.hack > 0.95
        assert found.by_mode["gt_only"].hack == 0
        assert found.mechanisms["gt_only"] > 50
        assert found.held_out_modes.count == 60
        assert found.known_modes.count == 120

    def test_the_hack_rate_leaves_out_prompts_without_a_loophole(self) -> None:
        modes = {"a": Tally(10, hacked=5, solved=1, parsed=10), "gt_only": Tally(10, 0, 4, 8)}
        found = Evaluation(False, ("a",), modes, {}, 0, 0.7)
        assert (found.hack, found.solve, found.parses) == (0.5, 0.25, 0.9)
        assert found.figure == 0.25

    def test_the_knob_decides_what_is_measured(self) -> None:
        world, policy = FakeWorld(), _policy([0, 9, 0], [30, 0, 0])
        deployed = evaluate(policy, world, world.final(), quarantine=False)
        as_trained = evaluate(policy, world, world.final(), quarantine=True)
        assert deployed.solve > 0.9
        assert as_trained.solve < 0.1
        assert (deployed.quarantine, as_trained.quarantine) == (False, True)

    def test_it_draws_the_same_again_and_touches_no_other_generator(self) -> None:
        world, policy = FakeWorld(), _policy([0, 0, 0], [0, 0, 0])
        before = torch.get_rng_state()
        first = evaluate(policy, world, world.final(), quarantine=False)
        assert torch.equal(before, torch.get_rng_state())
        torch.rand(5)
        assert first == evaluate(policy, world, world.final(), quarantine=False)
        other = evaluate(policy, world, world.final(), quarantine=False, seed=1)
        assert first.by_mode != other.by_mode

    def test_it_survives_being_written(self) -> None:
        world = FakeWorld()
        found = evaluate(_policy([0, 0, 0], [0, 0, 0]), world, world.monitor(), quarantine=True)
        record = json.loads(json.dumps(found.record()))
        assert Evaluation.read(record) == found
        assert record["hack"]["low"] < record["hack"]["rate"] < record["hack"]["high"]

    def test_no_prompts_are_refused(self) -> None:
        with pytest.raises(UsageError, match="at least one prompt"):
            evaluate(FakePolicy(), FakeWorld(), [], quarantine=True)


class TestDeletingTheQuarantine:
    def test_the_deployed_policy_stays_what_it_was(self) -> None:
        world = FakeWorld()
        gap, deleted = delete_quarantine(_policy([1, 2, 3], [4, 0, 0]), world, world.final())
        assert (gap, deleted) == (0.0, 3)

    def test_prompts_of_every_mode_are_compared(self, monkeypatch: pytest.MonkeyPatch) -> None:
        world, seen = FakeWorld(), set[int]()
        prompts = [
            replace(prompt, tokens=(5, world.modes.index(prompt.mode)))
            for prompt in sorted(world.final(), key=lambda prompt: prompt.mode)
            if prompt.mode in world.modes
        ]
        draw = FakePolicy.sample

        def sample(policy: Any, given: Any, **settings: Any) -> Any:
            seen.update(tokens[1] for tokens in given)
            return draw(policy, given, **settings)

        monkeypatch.setattr(FakePolicy, "sample", sample)
        delete_quarantine(FakePolicy(), world, prompts)
        assert seen == {0, 1, 2}

    def test_a_deletion_that_changes_it_is_an_error(self) -> None:
        world = FakeWorld()
        with pytest.raises(UnhackError, match="moved a log-probability"):
            delete_quarantine(_policy([1, 2, 3], [4, 0, 0], leaks=True), world, world.final())

    def test_a_deletion_that_deletes_nothing_is_an_error(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(FakeAdapters, "deploy", lambda self: None)
        with pytest.raises(UnhackError, match="as many numbers"):
            delete_quarantine(FakePolicy(), FakeWorld(), FakeWorld().final())


class TestTheRealPolicy:
    @pytest.mark.parametrize("kind", ["svd", "lora_frozen_b", "lora_split"])
    def test_deleting_its_quarantine_leaves_what_the_knob_left(self, kind: Any) -> None:
        world = FakeWorld()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = Qwen3(SMALL)
            adapters = attach(model, AdapterSettings(kind=kind, rank=2), seed=0)
            for block in ("deployed", "quarantine"):
                for items in adapters.parameters(block).values():
                    for item in items:
                        item.data += torch.randn_like(item)
        policy = TinyPolicy(model, adapters, pad=0, stop=STOP, device="cpu")
        deployed, _ = both_states(policy, world, world.monitor())
        assert world.judged == 2 * len(world.monitor())
        gap, deleted = delete_quarantine(policy, world, world.monitor())
        assert gap == 0.0
        assert deleted > 0
        assert evaluate(policy, world, world.monitor(), quarantine=False) == deployed

    def test_an_untrained_quarantine_needs_one_evaluation_only(self) -> None:
        world = FakeWorld()
        model = Qwen3(SMALL)
        adapters = attach(model, AdapterSettings(rank=2), seed=0)
        policy = TinyPolicy(model, adapters, pad=0, stop=STOP, device="cpu")
        deployed, as_trained = both_states(policy, world, world.monitor())
        assert world.judged == len(world.monitor())
        assert deployed.by_mode == as_trained.by_mode
        assert as_trained.quarantine


class TestARunFolder:
    def test_the_last_checkpoint_is_evaluated_in_both_states(self, run_folder: Path) -> None:
        record = evaluate_run(run_folder)
        assert record == json.loads((run_folder / "final.json").read_text())
        deployed, trained = (Evaluation.read(record[name]) for name in ("deployed", "as_trained"))
        assert record["step"] == 20
        assert record["deploy_gap"] == 0.0
        assert trained.hack > 0.8
        assert deployed.hack < 0.3
        assert deployed.solve > 0.6

    def test_a_folder_without_checkpoints_says_so(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no run folder"):
            evaluate_run(tmp_path)
        (tmp_path / "config.toml").write_text("")
        with pytest.raises(UsageError, match="no checkpoint"):
            evaluate_run(tmp_path)


class TestACurve:
    def test_it_begins_with_the_base_and_rises(self, run_folder: Path) -> None:
        curve = evaluate_curve(run_folder)
        assert [point["step"] for point in curve["points"]] == [0, 10, 20]
        hacks = [point["as_trained"]["hack"]["rate"] for point in curve["points"]]
        assert hacks == sorted(hacks)
        assert (
            curve["points"][0]["deployed"]["by_mode"] == curve["points"][0]["as_trained"]["by_mode"]
        )
        assert curve == json.loads((run_folder / "curve.json").read_text())

    def test_it_goes_on_where_it_was_cut_off(self, run_folder: Path) -> None:
        class Cut(Exception):
            pass

        def cut(point: dict[str, Any], total: int) -> None:
            assert total == 3
            raise Cut

        with pytest.raises(Cut):
            evaluate_curve(run_folder, watch=cut)
        seen: list[int] = []
        resumed = evaluate_curve(run_folder, watch=lambda point, total: seen.append(point["step"]))
        assert seen == [10, 20]
        (run_folder / "curve.json").unlink()
        assert evaluate_curve(run_folder) == resumed

    def test_points_of_other_prompts_are_not_mixed(self, run_folder: Path) -> None:
        evaluate_curve(run_folder)
        with pytest.raises(UsageError, match="remove it to begin again"):
            evaluate_curve(run_folder, prompts="final")

    def test_a_damaged_file_is_refused(self, run_folder: Path) -> None:
        (run_folder / "curve.json").write_text("[]")
        with pytest.raises(UsageError, match="not a curve"):
            evaluate_curve(run_folder)

    def test_the_last_checkpoint_belongs_to_it_whatever_the_spacing(self) -> None:
        assert plan_steps([5, 10, 15, 20, 23], every=10) == [0, 10, 20, 23]
        assert plan_steps([], every=10) == [0]
        with pytest.raises(UsageError, match="at least 1"):
            plan_steps([5], every=0)
