"""The loss of a batch of rollouts, as a sum of per-rollout terms.

Covered: the policy term, the KL penalty in the loss, and what is logged. Not
covered: advantages (`estimators`, `critic`), filters (`filters`), rewards (`shaping`).
"""

from __future__ import annotations

from typing import NotRequired, Required, TypedDict, Unpack

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.config.settings import ObjectiveSettings
from unhack.training.objectives.aggregation import aggregation_weights, counts
from unhack.training.objectives.classification import real_loss
from unhack.training.objectives.divergence import kl
from unhack.training.objectives.plain import numbers
from unhack.training.objectives.policy_terms import TERMS, Term, Tokens


class LossBatch(TypedDict, total=False):
    """Data of the batch that `policy_loss` needs besides the tokens."""

    group: Required[int]
    """G: neighbouring rollouts of one prompt."""
    max_new: Required[int]
    """Longest completion in tokens, for the `constant` aggregation."""
    reference_B_T: NotRequired[Tensor]
    """Log-probabilities of the anchor; required for a KL penalty in the loss, logged otherwise."""
    whole: NotRequired[Tensor]
    """Summed `counts` where these rollouts are a part of the batch (ranks, micro-batches)."""


def policy_loss(
    logprobs_B_T: Tensor,
    old_B_T: Tensor,
    advantages_B: Tensor,
    mask_B_T: Tensor,
    *,
    settings: ObjectiveSettings,
    **batch: Unpack[LossBatch],
) -> tuple[Tensor, dict[str, float]]:
    """(per_rollout_loss_B, log); the loss of the batch is `per_rollout_loss_B.sum()`.

    `logprobs_B_T` carries the gradient; `old_B_T` is what the rollouts recorded. `advantages_B` is
    [B], or [B, T] from a critic. `mask_B_T` is True at tokens that count; a row without any is a
    dropped rollout. Normalisers are constants, so each rollout has a gradient of its own.

    KL in the loss: + kl_beta * KL per token (times rho with `kl_weighted`), aggregated as the
    policy term is.

    Log: `ratio_mean`, `ratio_max`, `bounded_share` (tokens whose bound was active), `old_kl` (k3 to
    the rollout policy), and `kl` (k3 to the reference, if given), in nats per active token.

    Raises UsageError when the settings want a reference and none is given.
    """
    tokens = _tokens(logprobs_B_T, old_B_T, advantages_B, mask_B_T)
    group, whole = batch["group"], batch.get("whole")
    weights_B_T = aggregation_weights(
        mask_B_T, kind=settings.aggregation, group=group, max_new=batch["max_new"], whole=whole
    ).to(logprobs_B_T.dtype)
    loss_B_T = _penalties(tokens, batch, settings)
    if settings.policy == "real":
        if advantages_B.dim() != 1:
            raise UsageError("the policy term real needs one advantage per rollout")
        prompts = (counts(mask_B_T, group=group) if whole is None else whole)[2]
        prompts = prompts.to(logprobs_B_T)
        rows_B = real_loss(
            tokens, group=group, temperature=settings.real_temperature, prompts=prompts
        )
        term = Term(loss_B_T, torch.zeros_like(mask_B_T, dtype=torch.bool))
    else:
        rows_B = logprobs_B_T.new_zeros(len(logprobs_B_T))
        term = TERMS[settings.policy](tokens, settings)
        loss_B_T = loss_B_T + term.loss_B_T
    loss_B = rows_B + (weights_B_T * loss_B_T).sum(1)
    return loss_B, _log(tokens, term, batch.get("reference_B_T"))


def _tokens(
    logprobs_B_T: Tensor, old_B_T: Tensor, advantages_B: Tensor, mask_B_T: Tensor
) -> Tokens:
    hidden_B_T = ~mask_B_T.bool()
    wide = advantages_B.unsqueeze(1) if advantages_B.dim() == 1 else advantages_B
    wide = wide.to(logprobs_B_T).detach().expand_as(logprobs_B_T)
    return Tokens(
        logprobs_B_T.masked_fill(hidden_B_T, 0.0),
        old_B_T.detach().masked_fill(hidden_B_T, 0.0),
        wide.masked_fill(hidden_B_T, 0.0),
        ~hidden_B_T,
    )


def _penalties(tokens: Tokens, batch: LossBatch, settings: ObjectiveSettings) -> Tensor:
    logs = tokens.logprobs_B_T
    total = torch.zeros_like(logs)
    if settings.kl_beta and not settings.kl_in_reward:
        reference_B_T = batch.get("reference_B_T")
        if reference_B_T is None:
            raise UsageError("kl_beta is set: policy_loss needs reference_B_T")
        anchor = reference_B_T.masked_fill(~tokens.mask_B_T, 0.0)
        penalty = kl(logs, anchor, settings.kl)
        if settings.kl_weighted:
            penalty = tokens.log_ratio_B_T.exp() * penalty
        total = total + settings.kl_beta * penalty
    return total


@torch.no_grad()
def _log(tokens: Tokens, term: Term, reference_B_T: Tensor | None) -> dict[str, float]:
    mask = tokens.mask_B_T
    count = mask.sum().clamp_min(1)
    ratio = tokens.log_ratio_B_T.exp() * mask
    logged = {
        "ratio_mean": ratio.sum() / count,
        "ratio_max": ratio.max(),
        "bounded_share": (term.bounded_B_T & mask).sum() / count,
        "old_kl": (kl(tokens.logprobs_B_T, tokens.old_B_T, "k3") * mask).sum() / count,
    }
    if reference_B_T is not None:
        anchor = reference_B_T.masked_fill(~mask, 0.0)
        logged["kl"] = (kl(tokens.logprobs_B_T, anchor, "k3") * mask).sum() / count
    values = numbers(torch.stack([item.float() for item in logged.values()]))
    return dict(zip(logged, values, strict=True))
