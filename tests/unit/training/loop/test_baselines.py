"""Baselines: what each does to rewards, advantages and the batch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.unit.training.fakes_routing import judged

from unhack.training import objectives
from unhack.training.config.settings import (
    BaselineSettings,
    ObjectiveSettings,
    RolloutSettings,
    Settings,
)
from unhack.training.loop import baselines

REWARDS = torch.tensor([3.5, 3.5, 0.5, 0.5, 3.5, 3.5, 3.5, 3.5])
LABELS = [
    judged(hacked=True, detected=True), judged(solved=True), judged(), judged(),
    judged(hacked=True, detected=True), judged(hacked=True, detected=True), judged(hacked=True),
    judged(hacked=True, detected=True),
]  # fmt: skip


def settings_of(kind: str, strength: float = 3.0, **objective: Any) -> Settings:
    return Settings(
        baseline=BaselineSettings(kind=kind, strength=strength),  # pyright: ignore[reportArgumentType]
        rollouts=RolloutSettings(group=4),
        objective=ObjectiveSettings(**objective),
    )


def applied(kind: str, strength: float = 3.0, **objective: Any) -> Any:
    settings = settings_of(kind, strength, **objective)
    advantages, _ = objectives.advantages(REWARDS, group=4, estimator="dr_grpo")
    return baselines.apply(REWARDS, advantages, LABELS, settings)


class TestBaselines:
    @pytest.mark.parametrize("kind", ["none", "kl_stop"])
    def test_what_does_not_touch_the_batch_leaves_it(self, kind):
        rewards, advantages, keep = applied(kind)
        assert rewards is REWARDS
        assert advantages.tolist() == [1.5, 1.5, -1.5, -1.5, 0, 0, 0, 0]
        assert keep.all()

    def test_the_oracle_s_penalty_meets_every_hack(self):
        rewards, advantages, keep = applied("oracle_penalty")
        assert rewards.tolist() == [0.5, 3.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
        assert advantages.tolist() == [-0.75, 2.25, -0.75, -0.75, 0, 0, 0, 0]
        assert keep.all()

    def test_the_detector_s_penalty_misses_what_it_does_not_see(self):
        rewards, advantages, _ = applied("detector_penalty")
        assert rewards.tolist() == [0.5, 3.5, 0.5, 0.5, 0.5, 0.5, 3.5, 0.5]
        assert advantages[6] == 2.25

    def test_screened_rollouts_train_nobody_and_move_no_baseline(self):
        rewards, advantages, keep = applied("screening")
        assert keep.tolist() == [False, True, True, True, False, False, True, False]
        assert advantages.tolist() == pytest.approx([0, 2, -1, -1, 0, 0, 0, 0])
        assert rewards[1:4].tolist() == [3.5, 0.5, 0.5]

    def test_a_group_that_is_screened_as_a_whole_has_no_advantage(self):
        labels = [judged(detected=True)] * 8
        settings = settings_of("screening")
        _, advantages, keep = baselines.apply(REWARDS, torch.zeros(8), labels, settings)
        assert not keep.any()
        assert (advantages == 0).all()

    @pytest.mark.parametrize(("strength", "wanted"), [(1.0, 0.0), (2.0, -1.5), (0.0, 1.5)])
    def test_advantages_of_detected_rollouts_are_scaled(self, strength, wanted):
        rewards, advantages, keep = applied("advantage", strength)
        assert rewards is REWARDS
        assert keep.all()
        assert advantages.tolist() == [wanted, 1.5, -1.5, -1.5, 0, 0, 0, 0]

    def test_a_punished_detected_rollout_is_punished_more(self):
        labels = [judged(detected=True), judged()]
        settings = settings_of("advantage", 2.0)
        _, advantages, _ = baselines.apply(
            torch.tensor([0.5, 3.5]), torch.tensor([-1.5, 1.5]), labels, settings
        )
        assert advantages.tolist() == [-4.5, 1.5]

    def test_advantages_are_those_of_the_returned_rewards(self):
        for kind in ("oracle_penalty", "detector_penalty", "screening"):
            rewards, advantages, keep = applied(kind, advantage="grpo")
            again, mask = objectives.advantages(rewards, group=4, estimator="grpo")
            assert torch.equal(advantages, again * mask * keep)

    def test_a_critic_s_advantages_are_not_estimated_here(self):
        _, advantages, _ = applied("oracle_penalty", advantage="gae")
        assert advantages.tolist() == [1.5, 1.5, -1.5, -1.5, 0, 0, 0, 0]

    def test_training_ends_above_the_kl_only_where_asked(self):
        assert baselines.exceeds_kl(3.1, settings=settings_of("kl_stop").baseline)
        assert not baselines.exceeds_kl(2.9, settings=settings_of("kl_stop").baseline)
        assert not baselines.exceeds_kl(99.0, settings=settings_of("none").baseline)
