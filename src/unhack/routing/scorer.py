"""Log-probabilities of a model under training, for the directions of pairs.

Each row is packed as prompt and completion without a gap and padded behind: a causal model needs
no mask then. Covered: Hugging Face causal models, and models that are called with token ids
[B, S] alone and give logits [B, S, V]. Not covered: models that are not causal.

Axes: B rows, P prompt tokens, T completion tokens, S positions, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unhack.routing.quarantine import Quarantine
from unhack.training.adapters.attached import AttachedAdapters
from unhack.training.policy.rollouts import Rollouts

_LOGITS_PER_PASS = 1 << 26


class PairScorer:
    """Satisfies `directions.AdaptedPolicy`."""

    def __init__(self, quarantine: Quarantine) -> None:
        self._quarantine = quarantine
        config: Any = getattr(quarantine.model, "config", None)
        vocabulary = getattr(config, "vocab_size", None)
        self.tokens_per_pass = max(1, _LOGITS_PER_PASS // int(vocabulary or 1 << 12))

    @property
    def adapters(self) -> AttachedAdapters:
        """The blocks of the model."""
        return self._quarantine.adapters

    @property
    def device(self) -> torch.device:
        """Device of the model."""
        return self._quarantine.device

    def score(self, rollouts: Rollouts) -> Tensor:
        """Teacher-forced log-probabilities, each row in its knob state."""
        present_B_S = torch.cat([rollouts.prompt_mask_B_P, rollouts.mask_B_T], dim=1)
        tokens_B_S = torch.cat([rollouts.prompt_B_P, rollouts.tokens_B_T], dim=1)
        # A stable sort brings what is present to the front, in its order.
        order_B_S = (~present_B_S).long().argsort(dim=1, stable=True)
        packed_B_S = tokens_B_S.gather(1, order_B_S)
        with self.adapters.knob(rollouts.quarantine_B):
            logits_B_S_V = logits(self._quarantine.model, packed_B_S)
        logprobs_B_S = logits_B_S_V[:, :-1].float().log_softmax(-1)
        logprobs_B_S = logprobs_B_S.gather(2, packed_B_S[:, 1:, None]).squeeze(2)
        widths_B_1 = rollouts.prompt_mask_B_P.sum(1, keepdim=True)
        places_T = torch.arange(rollouts.tokens_B_T.shape[1], device=widths_B_1.device)
        places_B_T = (widths_B_1 + places_T - 1).clamp(max=logprobs_B_S.shape[1] - 1)
        return logprobs_B_S.gather(1, places_B_T) * rollouts.mask_B_T


def logits(model: Any, tokens_B_S: Tensor) -> Tensor:
    """The logits [B, S, V] of a model, whichever way it is called."""
    if hasattr(model, "generate") and hasattr(model, "config"):
        mask_B_S = torch.ones_like(tokens_B_S)  # what lies behind a row is not seen by it
        return model(input_ids=tokens_B_S, attention_mask=mask_B_S, use_cache=False).logits
    found = model(tokens_B_S)
    return found if isinstance(found, Tensor) else found.logits
