"""Policy terms: each token's part of the loss, before aggregation.

rho = pi / old per token, A the advantage, sg = no gradient; e_l = `clip_low`, e_h = `clip_high`.

clip       -min(rho A, clip(rho, 1 - e_l, 1 + e_h) A)
           PPO 1707.06347 (.2, .2), DAPO 2503.14476 (.2, .28)
           with `dual_clip` c > 1 at most -c A where A < 0: 1912.09729 (c 3)
reinforce  -A log pi
           RLOO 2402.14740, MaxRL 2602.02710
gspo       as clip, with s = exp(mean_t log rho) in place of rho
           2507.18071 (3e-4, 4e-4)
cispo      -sg(clip(rho, 1 - e_l, 1 + e_h)) A log pi
           2506.13585 (no floor: e_l 1), ScaleRL 2510.13786 (cap 5: e_h 4)
dppo_tv    -M sg(min(rho, cap)) A log pi; M = 0 where A > 0 and p - m > e_h, or A < 0 and
           p - m < -e_l: 2602.04879 (.15)
dppo_kl    the same, M = 0 where the KL from (m, 1 - m) to (p, 1 - p) is above the threshold and p
           has moved the way that A pushes: 2602.04879 (.05)

p and m are the token's probabilities under the policy and the *rollout* policy, so `old` are the
log-probabilities recorded while sampling.

Traps. CISPO: TRL's `epsilon_high` is the cap itself and defaults to .2, so every weight is at most
.2 until it is set to 5; verl's and ours is cap - 1; verl's default floor of .8 is not the paper's.
verl applies dual clip (c = 3) to every `vanilla` loss; in TRL it is `delta`, off. GSPO's bounds
belong to a mean over tokens: .2 there never clips. DPPO in verl takes its thresholds from
`clip_ratio_*` (.2) and its cap from `clip_ratio_c` (3), and its anchor is the recomputed old policy
unless `bypass_mode` is on. TRL's RLOO clips the ratio of whole sequences, which the paper does not.

Covered: values and gradients per token. Not covered: REAL (`classification`), KL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from unhack.training.config.settings import ObjectiveSettings
from unhack.training.objectives.divergence import LARGEST

_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Tokens:
    """A batch as the terms read it; masked positions hold 0 in all but the mask."""

    logprobs_B_T: Tensor
    old_B_T: Tensor
    advantages_B_T: Tensor
    mask_B_T: Tensor

    @property
    def log_ratio_B_T(self) -> Tensor:
        """log rho, cut at 20 so that `exp` stays finite."""
        return (self.logprobs_B_T - self.old_B_T).clamp(max=LARGEST)


@dataclass(frozen=True, slots=True)
class Term:
    """Loss per token and where a bound was active."""

    loss_B_T: Tensor
    bounded_B_T: Tensor


def _clipped_term(ratio: Tensor, advantages: Tensor, settings: ObjectiveSettings) -> Term:
    low, high = 1.0 - settings.clip_low, 1.0 + settings.clip_high
    surrogate = torch.minimum(ratio * advantages, ratio.clamp(low, high) * advantages)
    bounded = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    if settings.dual_clip:
        floor = settings.dual_clip * advantages
        surrogate = torch.where(advantages < 0, torch.maximum(surrogate, floor), surrogate)
        bounded = bounded | ((ratio > settings.dual_clip) & (advantages < 0))
    return Term(-surrogate, bounded)


def _clip(tokens: Tokens, settings: ObjectiveSettings) -> Term:
    return _clipped_term(tokens.log_ratio_B_T.exp(), tokens.advantages_B_T, settings)


def _gspo(tokens: Tokens, settings: ObjectiveSettings) -> Term:
    lengths_B_1 = tokens.mask_B_T.sum(1, keepdim=True).clamp_min(1)
    ratio_B_1 = (tokens.log_ratio_B_T.sum(1, keepdim=True) / lengths_B_1).exp()
    return _clipped_term(ratio_B_1.expand_as(tokens.logprobs_B_T), tokens.advantages_B_T, settings)


def _reinforce(tokens: Tokens, settings: ObjectiveSettings) -> Term:
    return Term(
        -tokens.advantages_B_T * tokens.logprobs_B_T,
        torch.zeros_like(tokens.mask_B_T, dtype=torch.bool),
    )


def _cispo(tokens: Tokens, settings: ObjectiveSettings) -> Term:
    ratio = tokens.log_ratio_B_T.exp().detach()
    weight = ratio.clamp(1.0 - settings.clip_low, 1.0 + settings.clip_high)
    return Term(-weight * tokens.advantages_B_T * tokens.logprobs_B_T, weight != ratio)


def _dppo_tv(tokens: Tokens, settings: ObjectiveSettings) -> Term:
    moved = tokens.logprobs_B_T.detach().exp() - tokens.old_B_T.exp()
    beyond = torch.where(
        tokens.advantages_B_T > 0, moved > settings.clip_high, moved < -settings.clip_low
    )
    return _mask_beyond(tokens, beyond, settings)


def _dppo_kl(tokens: Tokens, settings: ObjectiveSettings) -> Term:
    logs = tokens.logprobs_B_T.detach()
    p, m = logs.exp(), tokens.old_B_T.exp()
    rest = torch.log((1.0 - m).clamp_min(_TINY)) - torch.log((1.0 - p).clamp_min(_TINY))
    divergence = m * (tokens.old_B_T - logs) + (1.0 - m) * rest
    beyond = torch.where(
        tokens.advantages_B_T > 0,
        (p > m) & (divergence > settings.clip_high),
        (p < m) & (divergence > settings.clip_low),
    )
    return _mask_beyond(tokens, beyond, settings)


def _mask_beyond(tokens: Tokens, beyond_B_T: Tensor, settings: ObjectiveSettings) -> Term:
    weight = tokens.log_ratio_B_T.exp().detach()
    if settings.ratio_cap:
        weight = weight.clamp(max=settings.ratio_cap)
    loss = -weight * tokens.advantages_B_T * tokens.logprobs_B_T
    return Term(loss * ~beyond_B_T, beyond_B_T)


TERMS: dict[str, Callable[[Tokens, ObjectiveSettings], Term]] = {
    "clip": _clip,
    "reinforce": _reinforce,
    "gspo": _gspo,
    "cispo": _cispo,
    "dppo_tv": _dppo_tv,
    "dppo_kl": _dppo_kl,
}
