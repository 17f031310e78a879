"""Log-probabilities of a model under training, for the directions of pairs.

Each row is packed as prompt and completion without a gap and padded behind: a causal model needs
no mask then. Logits are made from the first completion on, where the model lets one ask for the
last ones (`logits_to_keep`), and turned into log-probabilities at completions alone.

Covered: Hugging Face causal models, and models that are called with token ids [B, S] alone and give
logits [B, S, V]. Not covered: models that are not causal.

Axes: B rows, P prompt tokens, T completion tokens, S positions, K last positions, N completion
tokens of all rows, V vocabulary.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from unhack.routing.quarantine import Quarantine, output_embedding
from unhack.training.adapters.attached import AttachedAdapters
from unhack.training.policy.rollouts import Rollouts

_UNKNOWN = 1 << 12
"""Logits of a position where a model does not say."""
_POSITIONS, _NUMBERS = 1 << 11, 1 << 26
"""Positions of a pass: the first, or as many as have the second in logits."""


class PairScorer:
    """Satisfies `directions.AdaptedPolicy`."""

    def __init__(self, quarantine: Quarantine) -> None:
        self._quarantine = quarantine
        head: Any = output_embedding(quarantine.model)
        config: Any = getattr(quarantine.model, "config", None)
        known = getattr(head, "out_features", None) or getattr(config, "vocab_size", None)
        self.vocabulary = int(known or _UNKNOWN)
        self.tokens_per_pass = max(_POSITIONS, _NUMBERS // self.vocabulary)

    @property
    def model(self) -> nn.Module:
        """The model with its blocks."""
        return self._quarantine.model

    @property
    def adapters(self) -> AttachedAdapters:
        """The blocks of the model."""
        return self._quarantine.adapters

    @property
    def device(self) -> torch.device:
        """Device of the model."""
        return self._quarantine.device

    def score(self, rollouts: Rollouts) -> Tensor:
        """Teacher-forced log-probabilities [B, T], each row in its knob state; 0 where masked."""
        present_B_S = torch.cat([rollouts.prompt_mask_B_P, rollouts.mask_B_T], dim=1)
        tokens_B_S = torch.cat([rollouts.prompt_B_P, rollouts.tokens_B_T], dim=1)
        # A stable sort brings what is present to the front, in its order.
        order_B_S = (~present_B_S).long().argsort(dim=1, stable=True)
        ends_B_1 = present_B_S.sum(1, keepdim=True)
        packed_B_S = tokens_B_S.gather(1, order_B_S)[:, : int(ends_B_1.max())]
        widths_B_1 = rollouts.prompt_mask_B_P.sum(1, keepdim=True)
        first = int(widths_B_1.min()) - 1
        places_K = torch.arange(first, packed_B_S.shape[1], device=packed_B_S.device)
        with self.adapters.knob(rollouts.quarantine_B):
            logits_B_K_V = logits(self.model, packed_B_S, last=len(places_K))
        counted_B_K = (places_K >= widths_B_1 - 1) & (places_K < ends_B_1 - 1)
        wanted_B_K = packed_B_S[:, first:].roll(-1, dims=1)
        losses_N = functional.cross_entropy(
            logits_B_K_V[counted_B_K].float(), wanted_B_K[counted_B_K], reduction="none"
        )
        nothing = torch.zeros(rollouts.mask_B_T.shape, dtype=losses_N.dtype, device=losses_N.device)
        return nothing.masked_scatter(rollouts.mask_B_T, -losses_N)


def logits(model: Any, tokens_B_S: Tensor, *, last: int) -> Tensor:
    """The logits [B, K, V] of the last K positions, whichever way a model is called."""
    if hasattr(model, "generate") and hasattr(model, "config"):
        mask_B_S = torch.ones_like(tokens_B_S)  # what lies behind a row is not seen by it
        fewer = {"logits_to_keep": last} if _keeps(model) else {}
        found = model(input_ids=tokens_B_S, attention_mask=mask_B_S, use_cache=False, **fewer)
    else:
        found = model(tokens_B_S)
    return (found if isinstance(found, Tensor) else found.logits)[:, -last:]


def _keeps(model: Any) -> bool:
    """True where the model, inside the wrappers of torch and PEFT, makes only the logits that it is
    asked for."""
    plain = getattr(model, "_orig_mod", model)
    plain = plain.get_base_model() if hasattr(plain, "get_base_model") else plain
    return "logits_to_keep" in inspect.signature(plain.forward).parameters
