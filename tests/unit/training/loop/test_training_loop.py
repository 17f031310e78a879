"""The loop on a fake world: every arm's mechanics, and what must not change what is learnt."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.unit.training import fakes_loop as fakes

from unhack.core.errors import UsageError
from unhack.store.errors import StoreError
from unhack.training import objectives
from unhack.training.config.settings import Settings
from unhack.training.loop import sampling
from unhack.training.loop.distributed import Ranks
from unhack.training.loop.sampling import RolloutSource
from unhack.training.loop.session import open_session
from unhack.training.loop.train import train
from unhack.training.loop.update import backward, estimate
from unhack.training.objectives.critic import make_critic
from unhack.training.policy.policy import TinyPolicy
from unhack.training.run import checkpoint
from unhack.training.run.folder import TrainingRecords, read_lines, status
from unhack.training.run.step_record import TIMES, StepRecord


@pytest.fixture(autouse=True)
def _fake() -> Iterator[None]:
    with fakes.faked():
        yield


def trained(folder: Path, **tables: dict[str, Any]) -> list[StepRecord]:
    """The records of a run."""
    seen: list[StepRecord] = []
    train(fakes.small(**tables), folder, watch=seen.append)
    return seen


def timeless(folder: Path, name: str = "metrics.jsonl") -> list[dict[str, Any]]:
    """Lines without times."""
    return [
        {key: value for key, value in line.items() if key not in TIMES}
        for line in read_lines(folder / name)
    ]


def moved(folder: Path, block: str) -> bool:
    """Whether a block differs from its start after the run."""
    first, last = checkpoint.checkpoint_steps(folder)[0], checkpoint.checkpoint_steps(folder)[-1]
    before, after = (checkpoint.load_adapters(folder, step) for step in (first, last))
    return any(
        not torch.equal(before[name], after[name]) for name in before if f".{block}." in name
    )


@pytest.mark.slow
class TestBlocks:
    def test_without_a_gate_the_quarantine_stays_as_it_was(self, tmp_path: Path) -> None:
        trained(tmp_path)
        assert moved(tmp_path, "deployed")
        assert not moved(tmp_path, "quarantine")

    def test_with_a_gate_both_blocks_train(self, tmp_path: Path) -> None:
        seen = trained(tmp_path, gate={"kind": "cosine"})
        assert moved(tmp_path, "deployed")
        assert moved(tmp_path, "quarantine")
        assert all(record.routed_mass > 0 for record in seen)

    def test_the_base_alone_is_checkpoint_zero(self, tmp_path: Path) -> None:
        trained(tmp_path)
        assert checkpoint.checkpoint_steps(tmp_path) == [0, 2, 4, 6]
        settings = fakes.small()
        fresh = fakes.load_fake_policy(settings, fakes.FakeWorld()).adapters.state()
        stored = checkpoint.load_adapters(tmp_path, 0)
        assert all(torch.equal(fresh[name], stored[name]) for name in fresh)

    @pytest.mark.slow
    def test_learning_happens_at_all(self, tmp_path: Path) -> None:
        seen = trained(
            tmp_path,
            run={"steps": 40, "monitor_every": 0, "checkpoint_every": 40},
            optimiser={"rate": 0.01},
            rollouts={"prompts": 8, "group": 8},
        )
        early = sum(record.reward for record in seen[:5])
        assert sum(record.reward for record in seen[-5:]) > early + 1.5


@pytest.mark.slow
class TestWhatDoesNotChangeTheRun:
    def test_monitoring_leaves_training_as_it_is(self, tmp_path: Path) -> None:
        trained(tmp_path / "with", gate={"kind": "cosine"})
        trained(tmp_path / "without", gate={"kind": "cosine"}, run={"monitor_every": 0})
        assert timeless(tmp_path / "with") == timeless(tmp_path / "without")
        assert (tmp_path / "with/gate.jsonl").read_bytes() == (
            tmp_path / "without/gate.jsonl"
        ).read_bytes()

    def test_two_runs_with_one_seed_are_the_same(self, tmp_path: Path) -> None:
        for name in ("one", "two"):
            trained(tmp_path / name, gate={"kind": "cosine"})
        assert timeless(tmp_path / "one") == timeless(tmp_path / "two")
        one, two = (
            (tmp_path / name / "checkpoints/00006.safetensors").read_bytes()
            for name in ("one", "two")
        )
        assert one == two

    def test_another_seed_gives_another_run(self, tmp_path: Path) -> None:
        trained(tmp_path / "one")
        trained(tmp_path / "two", run={"seed": 1})
        assert timeless(tmp_path / "one") != timeless(tmp_path / "two")

    def test_a_finished_run_is_left_alone(self, tmp_path: Path) -> None:
        trained(tmp_path)
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert trained(tmp_path) == []
        after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert after == before

    def test_a_finished_run_goes_on_when_more_steps_are_asked_for(self, tmp_path: Path) -> None:
        trained(tmp_path / "whole", run={"steps": 6, "monitor_every": 0})
        trained(tmp_path / "parts", run={"steps": 4, "monitor_every": 0})
        trained(tmp_path / "parts", run={"steps": 6, "monitor_every": 0})
        assert timeless(tmp_path / "whole") == timeless(tmp_path / "parts")


@pytest.mark.slow
class TestFolders:
    def test_other_settings_do_not_go_on_with_a_run(self, tmp_path: Path) -> None:
        trained(tmp_path)
        with pytest.raises(UsageError, match=r"optimiser\.rate = \S+, not 0\.5"):
            trained(tmp_path, optimiser={"rate": 0.5}, run={"steps": 8})

    def test_more_processes_than_prompts_are_refused(self, tmp_path: Path) -> None:
        settings = fakes.small()
        many = Ranks(count=settings.rollouts.prompts + 1)
        with (
            pytest.raises(UsageError, match=r"rollouts\.prompts"),
            open_session(settings, tmp_path, many),
        ):
            pass

    def test_two_processes_do_not_train_in_one_folder(self, tmp_path: Path) -> None:
        with (
            TrainingRecords(tmp_path, fakes.small()),
            pytest.raises(StoreError, match="another process"),
        ):
            trained(tmp_path)

    def test_the_files_say_what_happened(self, tmp_path: Path) -> None:
        seen = trained(tmp_path, gate={"kind": "cosine"})
        run = json.loads((tmp_path / "run.json").read_text())
        assert run["status"] == "finished"
        assert run["parameters"]["quarantine"] == run["parameters"]["deployed"] > 0
        assert [line["step"] for line in read_lines(tmp_path / "metrics.jsonl")] == list(range(6))
        assert [line["step"] for line in read_lines(tmp_path / "gate.jsonl")] == list(range(6))
        monitored = read_lines(tmp_path / "monitor.jsonl")
        assert [(line["step"], line["state"]) for line in monitored] == [
            (step, state) for step in (0, 3, 6) for state in ("deployed", "as_trained")
        ]
        assert seen[3].monitor is not None
        assert seen[4].monitor is None
        for line, record in zip(read_lines(tmp_path / "gate.jsonl"), seen, strict=True):
            assert line["mass"] == pytest.approx(record.routed_mass)
            assert sum(line["fractions"]) == pytest.approx(line["mass"], abs=1e-4)

    def test_rollouts_are_kept_where_they_are_asked_for(self, tmp_path: Path) -> None:
        kept = {"keep_rollouts": True, "steps": 2}
        seen = trained(tmp_path / "kept", gate={"kind": "cosine"}, run=kept)
        trained(tmp_path / "bare", gate={"kind": "cosine"}, run={"steps": 2})
        assert (tmp_path / "bare" / "rollouts.jsonl").read_bytes() == b""
        lines = read_lines(tmp_path / "kept" / "rollouts.jsonl")
        routed = read_lines(tmp_path / "kept" / "gate.jsonl")
        for line, gate, record in zip(lines, routed, seen, strict=True):
            count = len(line["prompts"]) * line["group"]
            labels = ("texts", "reward", "solved", "channel", "mechanism", "detected", "quarantine")
            assert {len(line[name]) for name in labels} == {count}
            assert math.fsum(line["reward"]) / count == pytest.approx(record.reward)
            assert line["fractions"] == gate["fractions"]
            assert len(line["scores"]) == sum(line["signal"]) * line["group"]

    @pytest.mark.slow
    def test_a_recorded_run_can_be_replayed_and_shrunk_by(self, tmp_path: Path) -> None:
        real = trained(tmp_path / "real", gate={"kind": "cosine"})
        replayed = trained(
            tmp_path / "replay", gate={"kind": "replay", "replay": str(tmp_path / "real")}
        )
        trained(tmp_path / "shrink", optimiser={"shrink": str(tmp_path / "real")})
        assert replayed[0].routed_mass == pytest.approx(real[0].routed_mass, rel=1e-4)
        for table in (
            {"gate": {"kind": "replay", "replay": str(tmp_path / "real")}},
            {"optimiser": {"shrink": str(tmp_path / "real")}},
        ):
            with pytest.raises(UsageError, match="a record of 6 steps, and 7 are to be trained"):
                trained(tmp_path / "longer", run={"steps": 7, "monitor_every": 0}, **table)
            assert not read_lines(tmp_path / "longer" / "metrics.jsonl")


class TestAlarms:
    @pytest.mark.slow
    def test_an_alarm_is_in_the_record_and_the_files_and_can_end_a_run(
        self, tmp_path: Path
    ) -> None:
        run = {"steps": 20, "monitor_every": 0, "stop_on_alarm": True}
        seen = trained(tmp_path, run=run)  # a base that hardly ever stops: truncation
        assert seen[-1].alarms == ("truncation",)
        [alarm] = read_lines(tmp_path / "alarms.jsonl")
        assert (alarm["name"], alarm["step"]) == ("truncation", seen[-1].step)
        assert read_lines(tmp_path / "metrics.jsonl")[-1]["alarms"] == ["truncation"]
        assert status(tmp_path) == "stopped"
        assert checkpoint.checkpoint_steps(tmp_path)[-1] == len(seen) < 20


class TestObjectives:
    @pytest.mark.parametrize(
        "objective",
        [
            {"advantage": "gae"},
            {"advantage": "grpo", "policy": "gspo", "aggregation": "sequence_mean"},
            {"advantage": "rloo", "policy": "reinforce", "kl_beta": 0.05, "kl_in_reward": True},
            {"advantage": "batch_std", "policy": "cispo", "aggregation": "prompt_mean"},
            {"policy": "real", "zero_variance": "keep"},
            {"policy": "dppo_tv", "updates_per_batch": 3},
            {"kl_beta": 0.1, "kl": "k2"},
            {"zero_variance": "refill", "aggregation": "token_mean"},
            {"per_knob": True},
        ],
        ids=lambda fields: "-".join(map(str, fields.values())),
    )
    def test_every_objective_trains(self, tmp_path: Path, objective: dict[str, Any]) -> None:
        seen = trained(tmp_path, objective=objective, gate={"kind": "cosine"}, run={"steps": 2})
        assert len(seen) == 2
        assert all(record.norm_deployed > 0 for record in seen)
        assert moved(tmp_path, "deployed")

    @pytest.mark.slow
    def test_dynamic_sampling_leaves_no_prompt_without_variance(self, tmp_path: Path) -> None:
        seen = trained(tmp_path, objective={"zero_variance": "refill"}, run={"steps": 4})
        assert all(record.zero_variance_share == 0 for record in seen)
        assert any(record.refilled > 0 for record in seen)

    def test_a_critic_takes_no_baseline_that_compares_groups(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="takes no critic"):
            trained(tmp_path, objective={"advantage": "gae"}, baseline={"kind": "detector_penalty"})

    def test_the_baseline_trains(self, tmp_path: Path) -> None:
        seen = trained(tmp_path, baseline={"kind": "detector_penalty"}, run={"steps": 2})
        assert [record.step for record in seen] == [0, 1]


def source_of(settings: Settings) -> RolloutSource:
    """What a step needs, without a folder."""
    world = fakes.FakeWorld()
    policy = fakes.load_fake_policy(settings, world)
    for items in policy.adapters.parameters("quarantine").values():
        for item in items:
            torch.nn.init.normal_(item, std=0.3, generator=torch.Generator().manual_seed(1))
    critic = None
    if settings.objective.advantage == "gae":
        critic = make_critic(16, settings=settings.objective, seed=0)
    return RolloutSource(settings, world, policy, Ranks(), critic)


class TestRetiredPrompts:
    def test_a_prompt_that_passed_is_replaced_by_one_of_its_mode(self) -> None:
        plain = fakes.small(rollouts={"prompts": 24})
        settings = fakes.small(rollouts={"prompts": 24}, objective={"retire_share": 0.9})
        before = sampling.sample_batch(source_of(plain), 0).batch.prompts
        easy = {"next-0/run_tests", "next-1/sentinel"}
        assert easy & {f"{prompt.problem}/{prompt.mode}" for prompt in before}
        history = objectives.PassHistory(threshold=0.9)
        history.observe(sorted(easy), torch.ones(8))
        source = replace(source_of(settings), history=history)
        after = sampling.sample_batch(source, 0).batch.prompts
        assert not easy & {f"{prompt.problem}/{prompt.mode}" for prompt in after}
        assert [prompt.mode for prompt in after] == [prompt.mode for prompt in before]
        changed = [place for place, pair in enumerate(zip(before, after, strict=True))
                   if pair[0] != pair[1]]  # fmt: skip
        assert all(f"{before[place].problem}/{before[place].mode}" in easy for place in changed)

    def test_what_was_sampled_is_counted(self) -> None:
        history = objectives.PassHistory(threshold=0.9)
        source = replace(source_of(fakes.small()), history=history)
        batch = sampling.sample_batch(source, 0).batch
        counts = history.state()
        assert sum(total for _, total in counts.values()) == len(batch.judged) == 32
        paid = sum(item.solved or item.channel for item in batch.judged)
        assert sum(passes for passes, _ in counts.values()) == paid > 0

    def test_where_every_prompt_passed_the_drawn_ones_train(self) -> None:
        history = objectives.PassHistory(threshold=0.0)
        source = replace(source_of(fakes.small()), history=history)
        first = sampling.sample_batch(source, 0).batch.prompts
        assert len(sampling.sample_batch(source, 0).batch.prompts) == len(first) == 8


def summed(source: RolloutSource, step: int = 0) -> dict[str, torch.Tensor]:
    """The whole gradient of a step's batch."""
    sampled = sampling.sample_batch(source, step)
    estimated = estimate(source, sampled.batch)
    update = backward(source, estimated, step=step)
    assert update.view is not None
    count = len(update.view.judged)
    return update.view.gradients.sums(torch.ones(count, 1, 1), block="deployed")


@pytest.mark.parametrize("share", [0.5, 0.25])
def test_a_batch_is_the_same_where_halves_are_sampled_together(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`share` 0.25 has no halves: it is sampled as ever."""
    settings = fakes.small(rollouts={"off_share": share})
    apart = sampling.sample_batch(source_of(settings), 3)
    together: list[int] = []
    sample = TinyPolicy.sample

    def counted(policy: Any, prompts: Any, **asked: Any) -> Any:
        together.extend([len(prompts)] if len(asked["generators"]) == 2 else [])
        return sample(policy, prompts, **asked)

    monkeypatch.setattr(TinyPolicy, "sample", counted)
    monkeypatch.setattr(TinyPolicy, "samples_halves", True)
    found = sampling.sample_batch(source_of(settings), 3)
    assert together == ([8] if share == 0.5 else [])
    assert found.batch.prompts == apart.batch.prompts
    assert found.batch.judged == apart.batch.judged
    for name in ("tokens_B_T", "mask_B_T", "quarantine_B", "prompt_B_P"):
        assert torch.equal(
            getattr(found.batch.rollouts, name), getattr(apart.batch.rollouts, name)
        ), name  # fmt: skip
    assert (found.prompts, found.tokens) == (apart.prompts, apart.tokens)


class TestGradients:
    @pytest.mark.parametrize("aggregation", ["constant", "token_mean", "prompt_mean"])
    def test_micro_batches_give_the_gradient_of_the_batch(self, aggregation: str) -> None:
        settings = fakes.small(objective={"aggregation": aggregation})
        run = settings.run.model_copy(update={"micro_batch": 8})
        whole = summed(source_of(settings))
        parts = summed(source_of(settings.model_copy(update={"run": run})))
        for name, gradient in whole.items():
            torch.testing.assert_close(parts[name], gradient, rtol=1e-4, atol=1e-7)

    def test_dropping_flat_prompts_does_not_change_the_gradient(self) -> None:
        kept = summed(source_of(fakes.small(objective={"zero_variance": "keep"})), 2)
        dropped = summed(source_of(fakes.small(objective={"zero_variance": "drop"})), 2)
        for name, gradient in kept.items():
            torch.testing.assert_close(dropped[name], gradient, rtol=1e-4, atol=1e-7)

    def test_the_gradient_is_that_of_autograd(self) -> None:
        settings = fakes.small(objective={"zero_variance": "keep"})
        source = source_of(settings)
        sampled = sampling.sample_batch(source, 0)
        estimated = estimate(source, sampled.batch)
        found = summed(source)
        scores = source.policy.score(sampled.batch.rollouts)
        loss_B, _ = objectives.policy_loss(
            scores,
            sampled.batch.rollouts.logprobs_B_T,
            estimated.advantages_B,
            sampled.batch.rollouts.mask_B_T,
            settings=settings.objective,
            group=4,
            max_new=source.world.max_new,
        )
        loss_B.sum().backward()
        for name, items in source.policy.adapters.parameters("deployed").items():
            wanted = torch.cat([item.grad.flatten() for item in items])
            torch.testing.assert_close(found[name], wanted, rtol=1e-4, atol=1e-7)

    def test_each_rollout_is_scored_in_the_state_that_sampled_it(self) -> None:
        source = source_of(fakes.small())
        rollouts = sampling.sample_batch(source, 0).batch.rollouts
        assert 0 < rollouts.quarantine_B.sum() < rollouts.count
        scores = source.policy.score(rollouts)
        torch.testing.assert_close(
            scores * rollouts.mask_B_T, rollouts.logprobs_B_T, rtol=1e-4, atol=1e-5
        )
