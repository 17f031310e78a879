"""REAL: rewards as labels of a classification within the group (arXiv 2602.05630).

The score of a rollout is s = mean_t log(pi / old). For each prompt with right and wrong rollouts

    L = log(1 + sum over wrong of e^(s / tau)) + log(1 + sum over right of e^(-s / tau)),

and the loss is the sum of L over such prompts, divided by the number of active prompts; tau = 0.5.
Each |dL/ds| is at most 1 / tau, so no clip, no KL and no deviation are needed. A label is the sign
of the advantage, so rewards that are not 0/1 count as right above the mean of their group.

Traps: the 1 inside each logarithm is an anchor at score 0, not smoothing; a micro-batch must hold
whole groups; at s = 0 the weights are -(1/tau) / (1 + right) and +(1/tau) / (1 + wrong), so a
prompt with few right rollouts pushes each of them harder.

Covered: a group couples its rollouts through scalar weights only, so each rollout's own gradient
exists. Not covered: other forms of the loss (cross-entropy, product).
"""

from __future__ import annotations

import torch
from torch import Tensor

from unhack.training.objectives.policy_terms import Tokens


def real_loss(tokens: Tokens, *, group: int, temperature: float, prompts: Tensor) -> Tensor:
    """Loss [B] per rollout; its sum is the loss of the batch, its gradient that of the formula.

    `prompts`: scalar, the number of active prompts of the whole batch.
    """
    lengths_B = tokens.mask_B_T.sum(1)
    scores_B = tokens.log_ratio_B_T.sum(1) / lengths_B.clamp_min(1)
    labels_B = tokens.advantages_B_T.sum(1) * (lengths_B > 0)
    scaled_P_G = (scores_B.detach() / temperature).view(-1, group)
    right_P_G, wrong_P_G = (labels_B > 0).view(-1, group), (labels_B < 0).view(-1, group)
    mixed_P_1 = (right_P_G.any(1) & wrong_P_G.any(1)).unsqueeze(1)
    up_P_1, down_P_1 = _anchor(-scaled_P_G, right_P_G), _anchor(scaled_P_G, wrong_P_G)
    slopes_P_G = torch.where(wrong_P_G, torch.exp(scaled_P_G - down_P_1), 0.0)
    slopes_P_G = slopes_P_G - torch.where(right_P_G, torch.exp(-scaled_P_G - up_P_1), 0.0)
    slopes_P_G = slopes_P_G / temperature
    shares_P_G = (up_P_1 + down_P_1) / group
    rows_P_G = shares_P_G + slopes_P_G * (scores_B - scores_B.detach()).view(-1, group)
    return torch.where(mixed_P_1, rows_P_G, 0.0).view(-1) / prompts.clamp_min(1)


def _anchor(values_P_G: Tensor, chosen_P_G: Tensor) -> Tensor:
    """log(1 + sum of e^value over the chosen), [P, 1]."""
    kept_P_G = values_P_G.masked_fill(~chosen_P_G, -torch.inf)
    anchor_P_1 = values_P_G.new_zeros(len(values_P_G), 1)
    return torch.logsumexp(torch.cat([kept_P_G, anchor_P_1], 1), 1, keepdim=True)
