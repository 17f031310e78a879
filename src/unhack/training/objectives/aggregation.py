"""From numbers per token to a loss: constants that weigh each token.

| name | weight of a token of rollout b | who |
|---|---|---|
| sequence_mean | 1 / (rows x len_b) | GRPO, GSPO |
| sequence_sum | 1 / rows | RLOO, MaxRL |
| token_mean | 1 / tokens | DAPO, CISPO |
| constant | 1 / (B x max_new) | Dr. GRPO |
| prompt_mean | 1 / (prompts x tokens of the prompt) | ScaleRL |

rows, tokens and prompts count what the mask leaves active; B counts all rows, dropped ones too, so
`constant` really is constant. Traps: sequence_mean weighs a token of a long answer less (length
bias), token_mean a short answer less; verl's `seq-mean-token-sum-norm` divides by the rows that
are not fully masked and by the *padded* width unless `loss_scale_factor` is set, so the scale moves
from batch to batch; TRL's `dr_grpo` divides by all rows and `max_completion_length`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from unhack.core.errors import UnknownNameError


def counts(mask_B_T: Tensor, *, group: int) -> Tensor:
    """[4] float64: all rows, active rows, active prompts, active tokens.

    Sums of these over ranks or micro-batches are the `whole` of `policy_loss`.
    """
    lengths_B = mask_B_T.sum(1)
    prompts_P = lengths_B.view(-1, group).sum(1)
    rows = lengths_B.new_tensor(len(lengths_B))
    return torch.stack(
        [rows, (lengths_B > 0).sum(), (prompts_P > 0).sum(), lengths_B.sum()]
    ).double()


def aggregation_weights(
    mask_B_T: Tensor, *, kind: str, group: int, max_new: int, whole: Tensor | None = None
) -> Tensor:
    """Constants [B, T] (float64, 0 where masked); the loss is their sum with the terms.

    `whole`: summed `counts` where this is a part of the batch. Raises UnknownNameError.
    """
    if kind not in _DIVISORS:
        raise UnknownNameError("aggregation", kind, valid=_DIVISORS)
    whole_4 = counts(mask_B_T, group=group) if whole is None else whole.to(mask_B_T.device)
    lengths_B = mask_B_T.sum(1).double()
    divisor_B = _DIVISORS[kind](lengths_B, whole_4, group, max_new)
    return mask_B_T * (1.0 / divisor_B.clamp_min(1.0)).unsqueeze(1)


def _sequence_mean(lengths_B: Tensor, whole_4: Tensor, group: int, max_new: int) -> Tensor:
    return lengths_B * whole_4[1]


def _sequence_sum(lengths_B: Tensor, whole_4: Tensor, group: int, max_new: int) -> Tensor:
    return whole_4[1].expand_as(lengths_B)


def _token_mean(lengths_B: Tensor, whole_4: Tensor, group: int, max_new: int) -> Tensor:
    return whole_4[3].expand_as(lengths_B)


def _constant(lengths_B: Tensor, whole_4: Tensor, group: int, max_new: int) -> Tensor:
    return (whole_4[0] * max_new).expand_as(lengths_B)


def _prompt_mean(lengths_B: Tensor, whole_4: Tensor, group: int, max_new: int) -> Tensor:
    tokens_P = lengths_B.view(-1, group).sum(1)
    return tokens_P.repeat_interleave(group) * whole_4[2]


_DIVISORS: dict[str, Callable[[Tensor, Tensor, int, int], Tensor]] = {
    "sequence_mean": _sequence_mean,
    "sequence_sum": _sequence_sum,
    "token_mean": _token_mean,
    "constant": _constant,
    "prompt_mean": _prompt_mean,
}
