"""Objectives: a loss is advantage estimator x policy term x aggregation x KL x filters.

A step of the loop, for every objective but `gae` and DPO:

    rewards_B_T = token_rewards(rewards_B, mask_B_T, settings=s, max_new=T, ...)   # overlong, KL
    advantages_B, signal_B = advantages(rewards_B_T.sum(1), group=G, estimator=s.advantage)
    active_B_T = active(mask_B_T, signal_B, zero_variance=s.zero_variance)
    loss_B, log = policy_loss(logprobs_B_T, old_B_T, advantages_B, active_B_T,
                              settings=s, group=G, max_new=T, reference_B_T=...)
    loss_B.sum().backward()

`policy_loss` holds the KL penalty (`reference_B_T` is given): the loop adds none. `gae` takes its
advantages [B, T] from `critic`. Axes: B rollouts (prompt-major), T completion tokens, P prompts,
G rollouts of a prompt.

Covered: PPO, GRPO, RLOO, DAPO, Dr. GRPO, GSPO, CISPO, DPPO, MaxRL, REAL, ScaleRL, DPO; filters;
the fits of curves. Not covered: sampling, scoring and the optimiser.
"""

from unhack.training.objectives.aggregation import aggregation_weights, counts
from unhack.training.objectives.divergence import kl
from unhack.training.objectives.estimators import advantages, recentre
from unhack.training.objectives.filters import PassHistory, active, refill, untruncated
from unhack.training.objectives.laws import fit_overoptimisation, fit_sigmoid
from unhack.training.objectives.loss import policy_loss
from unhack.training.objectives.measures import entropy, float32_logits, pass_at_k, token_logprobs
from unhack.training.objectives.preference import DPOSettings, dpo_loss
from unhack.training.objectives.recipes import RECIPES
from unhack.training.objectives.shaping import soft_overlong, token_rewards

__all__ = [
    "RECIPES",
    "DPOSettings",
    "PassHistory",
    "active",
    "advantages",
    "aggregation_weights",
    "counts",
    "dpo_loss",
    "entropy",
    "fit_overoptimisation",
    "fit_sigmoid",
    "float32_logits",
    "kl",
    "pass_at_k",
    "policy_loss",
    "recentre",
    "refill",
    "soft_overlong",
    "token_logprobs",
    "token_rewards",
    "untruncated",
]
