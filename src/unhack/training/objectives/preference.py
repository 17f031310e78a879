"""DPO: preferences instead of rewards (arXiv 2305.18290).

    L = -log sigma(beta (d_w - d_l)),   d = log pi(y) - log ref(y) summed over the tokens of y,

w the preferred completion, l the other. Default beta 0.1. `label_smoothing` e: (1 - e) L + e L with
w and l swapped (cDPO). Gradient: beta sigma(-beta (d_w - d_l)) (grad log pi(w) - grad log pi(l)).

Traps: sums, not means, over tokens: a longer completion has a larger d; TRL ignores
`label_smoothing` for its `sigmoid` loss (it belongs to `robust`, another formula); both log
ratios may fall while L falls, so the log has the reward of the preferred one too.

Covered: the loss of given pairs. Not covered: making pairs, and the training loop of rollouts.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class DPOSettings:
    """Settings of DPO, in place of the objective's table."""

    beta: float = 0.1
    label_smoothing: float = 0.0
    """Assumed share of wrong preferences, below 0.5."""


def dpo_loss(
    chosen_B: Tensor,
    rejected_B: Tensor,
    *,
    reference_chosen_B: Tensor,
    reference_rejected_B: Tensor,
    settings: DPOSettings | None = None,
) -> tuple[Tensor, dict[str, float]]:
    """(loss_B, log) of pairs of completions, each given by its summed log-probability.

    The loss of the batch is the mean of `loss_B`. Log: `margin` (nats times beta), `accuracy`
    (share of pairs in order), `reward_chosen`, `reward_rejected`.
    """
    settings = settings or DPOSettings()
    up_B = settings.beta * (chosen_B - reference_chosen_B)
    down_B = settings.beta * (rejected_B - reference_rejected_B)
    margin_B = up_B - down_B
    smooth = settings.label_smoothing
    loss_B = -(1.0 - smooth) * functional.logsigmoid(margin_B)
    if smooth:
        loss_B = loss_B - smooth * functional.logsigmoid(-margin_B)
    with torch.no_grad():
        log = {
            "margin": margin_B.mean().item(),
            "accuracy": (margin_B > 0).double().mean().item(),
            "reward_chosen": up_B.mean().item(),
            "reward_rejected": down_B.mean().item(),
        }
    return loss_B, log
