"""The readings of the leak alarm during training: one more forward pass, every few updates.

It scores the rollouts that were sampled with the quarantine off, in both knob states. No random
number is drawn and no gradient is left, so a run trains the same with it.

Covered: several ranks (the reading is over the rollouts of all). Not covered: what a reading means
(`routing.leak`).
"""

from __future__ import annotations

from dataclasses import replace

import torch

from unhack.training.loop.batches import RolloutBatch, select_rollouts
from unhack.training.loop.sampling import RolloutSource
from unhack.training.objectives.plain import numbers
from unhack.training.routing.leak import EVERY, FIRST, claimed_B, claimed_share


def read_leak(source: RolloutSource, batch: RolloutBatch, *, step: int) -> float | None:
    """The reading of a step; None between readings and before the first, where no quarantine is
    trained, and where no rollout with the quarantine off earned more than another."""
    settings = source.settings
    if settings.gate.kind == "none" or settings.gate.action == "drop":
        return None
    if step < FIRST or step % EVERY:
        return None
    rollouts = batch.rollouts
    off = (~rollouts.quarantine_B).nonzero().squeeze(1)
    rewards, claimed = batch.rewards_B[off], torch.zeros(0, dtype=torch.bool)
    if off.numel():
        part = select_rollouts(rollouts, off)
        on = replace(part, quarantine_B=torch.ones_like(part.quarantine_B))
        with torch.no_grad():
            on_B_T, off_B_T = (source.policy.score(one) for one in (on, part))
        claimed = claimed_B(on_B_T, off_B_T, part.mask_B_T)
    pairs = list(zip(numbers(rewards), numbers(claimed), strict=True))
    every = [pair for own in source.ranks.gather(pairs) for pair in own]
    return claimed_share([reward for reward, _ in every], [bool(taken) for _, taken in every])
