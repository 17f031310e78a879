"""Baselines: remedies that act on rewards, advantages or the batch instead of routing.

Axes: B rollouts (prompt-major, the G rollouts of a prompt are neighbours).

| kind | what it does | labels it reads |
|---|---|---|
| `oracle_penalty` | takes `strength` off the reward of every hack | oracle |
| `detector_penalty` | takes `strength` off the reward of every detected rollout | detector |
| `screening` | leaves detected rollouts out of the batch and of their group's mean | detector |
| `advantage` | A - strength * s * abs(A), s = 1 for detected rollouts | detector |
| `kl_stop` | ends training when KL to the base exceeds `strength` nats | none |

Inoculation is a property of the prompts (`WorldSettings.inoculation`), not of the batch.

`advantage` follows the idea of Wu and Tang (arXiv 2604.01476): shrink or invert the advantage of
a rollout that looks like a shortcut, multiplicatively, inside the group. Their score is a
projection of hidden states on a shortcut direction; here the detector's label takes its place, so
that every baseline has the same knowledge. The formula above is this project's, not theirs. A
group in which all rollouts hack has advantages of zero and stays as it is: there lies the
difference from `detector_penalty`.

Covered: pure functions of one batch. Not covered: labels (the world makes them), and the stop
itself (the loop asks `exceeds_kl`).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from unhack.training import objectives
from unhack.training.config.settings import BaselineSettings, Settings
from unhack.training.worlds.world import Judged


def apply(
    rewards_B: Tensor, advantages_B: Tensor, judged: Sequence[Judged], settings: Settings
) -> tuple[Tensor, Tensor, Tensor]:
    """Rewards [B], advantages [B] and keep mask [B] (bool) of a batch under a baseline.

    `advantages_B` are those of `rewards_B`. Where the rewards change, the returned advantages are
    estimated again from the returned rewards, so both ways of use agree: take the advantages, or
    estimate them from the rewards. (Advantages of a critic cannot be estimated here: with `gae`
    they come back as they were.) Rollouts outside the mask must not train; their advantage is 0.
    """
    kind, strength = settings.baseline.kind, settings.baseline.strength
    keep_B = torch.ones_like(rewards_B, dtype=torch.bool)
    if kind == "oracle_penalty":
        penalised_B = rewards_B - strength * _labels(rewards_B, [item.hacked for item in judged])
        return penalised_B, _estimate(penalised_B, advantages_B, settings), keep_B
    flagged_B = _labels(rewards_B, [item.detected for item in judged])
    if kind == "detector_penalty":
        penalised_B = rewards_B - strength * flagged_B
        return penalised_B, _estimate(penalised_B, advantages_B, settings), keep_B
    if kind == "advantage":
        return rewards_B, advantages_B - strength * flagged_B * advantages_B.abs(), keep_B
    if kind == "screening":
        keep_B = flagged_B == 0
        screened_B = _screen(rewards_B, keep_B, group=settings.rollouts.group)
        return screened_B, _estimate(screened_B, advantages_B, settings) * keep_B, keep_B
    return rewards_B, advantages_B, keep_B


def exceeds_kl(kl: float, *, settings: BaselineSettings) -> bool:
    """Tell whether `kl_stop` ends training at this KL to the base, in nats per completion."""
    return settings.kind == "kl_stop" and kl > settings.strength


def _labels(rewards_B: Tensor, labels: list[bool | None]) -> Tensor:
    return torch.tensor(
        [bool(label) for label in labels], dtype=rewards_B.dtype, device=rewards_B.device
    )


def _screen(rewards_B: Tensor, keep_B: Tensor, *, group: int) -> Tensor:
    """Rewards in which screened rollouts have the mean of those of their group that are kept.

    The mean of the group is then that of the kept rollouts, and a screened one has advantage 0
    under every estimator that subtracts the mean. Estimators that divide by the group's standard
    deviation see a smaller one. A group that is screened as a whole becomes 0.
    """
    rewards_P_G, keep_P_G = rewards_B.view(-1, group), keep_B.view(-1, group)
    counts_P_1 = keep_P_G.sum(1, keepdim=True).clamp(min=1)
    means_P_1 = (rewards_P_G * keep_P_G).sum(1, keepdim=True) / counts_P_1
    return torch.where(keep_P_G, rewards_P_G, means_P_1).flatten()


def _estimate(rewards_B: Tensor, before_B: Tensor, settings: Settings) -> Tensor:
    if settings.objective.advantage == "gae":
        return before_B
    advantages_B, mask_B = objectives.advantages(
        rewards_B, group=settings.rollouts.group, estimator=settings.objective.advantage
    )
    return advantages_B * mask_B
