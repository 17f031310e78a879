"""Advantages of groups: `unhack.core.group` over tensors.

Covered: `grpo`, `dr_grpo`, `rloo`, `maxrl`, `batch_std` and the mean over kept mass. Not covered:
`gae`, which needs a critic (`objectives.critic`).

| estimator | advantage of r_i | paper |
|---|---|---|
| grpo | (r_i - mean) / (sd + 1e-6) | arXiv 2402.03300 |
| dr_grpo | r_i - mean | arXiv 2503.20783 |
| rloo | r_i - mean of the others = G/(G-1) (r_i - mean) | arXiv 2402.14740 |
| maxrl | (r_i - mean) / mean, rewards >= 0 | arXiv 2602.02710 |
| batch_std | (r_i - mean) / (sd of the batch + 1e-6) | arXiv 2510.13786 |

sd is the sample deviation (n - 1), as TRL and verl take it. Traps: TRL adds 1e-4 to the deviation,
verl 1e-6, and with small deviations (rewards in [0, 0.001]) that differs; verl gives a group of one
its raw reward as advantage; a group whose rewards differ by rounding only has a tiny deviation, so
dividing by it makes noise large: groups count as flat only when exactly equal.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from unhack.core import group as core
from unhack.core.errors import UsageError
from unhack.training.objectives.plain import numbers


def advantages(
    rewards_B: Tensor, *, group: int, estimator: str, knob_B: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """(advantages_B, mask_B) of prompt-major rewards; G = `group` neighbours share a prompt.

    A NaN reward is unscored: it takes part in no mean. `mask_B` (bool) is False for unscored
    rollouts and for groups without variance, whose advantages are 0. With `knob_B` (bool, the same
    within a group) `batch_std` divides by the deviation over rollouts of the same knob state.
    `maxrl` with 0/1 rewards estimates the maximum-likelihood gradient truncated at order G - 1.

    Raises UnknownNameError, and UsageError for `gae`, for a batch that groups do not fill, and for
    negative rewards under `maxrl`.
    """
    if estimator == "gae":
        raise UsageError("gae needs a critic: take advantages from objectives.critic")
    _check(rewards_B, group)
    values_B, mask_B = torch.zeros_like(rewards_B), torch.zeros_like(rewards_B, dtype=torch.bool)
    for rows in _states(rewards_B, knob_B):
        values, mask = _of(rewards_B[rows], group, estimator)
        values_B[rows] = torch.tensor(values, dtype=rewards_B.dtype, device=rewards_B.device)
        mask_B[rows] = torch.tensor(mask, device=rewards_B.device)
    return values_B, mask_B


def recentre(advantages_B: Tensor, kept_B: Tensor, *, group: int) -> Tensor:
    """Advantages whose baseline is the mean over the kept mass of each group.

    A_i - (sum_j w_j A_j / sum_j w_j - mean_j A_j) with weights w = `kept_B` in [0, 1] (one minus
    the routed fraction). For `dr_grpo` this is r_i minus the weighted mean reward, so the deployed
    block's weighted advantages sum to zero. Where nothing is routed it is A_i, also for advantages
    that something shifted on purpose. A group with no kept mass gets 0.
    """
    _check(advantages_B, group)
    grouped_P_G, kept_P_G = advantages_B.view(-1, group), kept_B.view(-1, group)
    mass_P = kept_P_G.sum(1, keepdim=True)
    mean_P = (kept_P_G * grouped_P_G).sum(1, keepdim=True) / mass_P.clamp_min(1e-12)
    shift_P = mean_P - grouped_P_G.mean(1, keepdim=True)
    whole_P = (kept_P_G == 1).all(1, keepdim=True)
    moved_P_G = grouped_P_G - shift_P.masked_fill(whole_P, 0.0)
    return torch.where(mass_P > 0, moved_P_G, 0.0).view(-1)


def _of(rewards_B: Tensor, group: int, estimator: str) -> tuple[list[float], list[bool]]:
    rewards = [None if math.isnan(item) else item for item in numbers(rewards_B)]
    groups = [range(start, start + group) for start in range(0, len(rewards), group)]
    try:
        result = core.advantages(rewards, groups, estimator=estimator)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return list(result.values), list(result.mask)


def _states(rewards_B: Tensor, knob_B: Tensor | None) -> list[Tensor]:
    if knob_B is None:
        return [torch.ones_like(rewards_B, dtype=torch.bool)]
    return [rows for rows in (knob_B, ~knob_B) if bool(rows.any())]


def _check(values_B: Tensor, group: int) -> None:
    if values_B.dim() != 1 or values_B.shape[0] % group:
        raise UsageError(f"{tuple(values_B.shape)} values do not make whole groups of {group}")
