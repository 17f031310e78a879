"""The baseline: what it does to rewards."""

from __future__ import annotations

import torch
from tests.unit.training.fakes_routing import judged

from unhack.training.config.settings import BaselineSettings
from unhack.training.loop.update import penalise

REWARDS = torch.tensor([3.5, 3.5, 0.5, 3.5])
LABELS = [judged(hacked=True, detected=True), judged(solved=True), judged(), judged(hacked=True)]


def test_without_a_baseline_rewards_stay_as_they_are() -> None:
    assert penalise(REWARDS, LABELS, BaselineSettings()) is REWARDS


def test_the_penalty_meets_what_the_detector_sees_and_misses_the_rest() -> None:
    settings = BaselineSettings(kind="detector_penalty")
    assert penalise(REWARDS, LABELS, settings).tolist() == [0.5, 3.5, 0.5, 3.5]
