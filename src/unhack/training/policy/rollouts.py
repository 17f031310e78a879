"""Rollouts of a policy: tokens, behaviour log-probabilities, masks.

Axes: B rollouts (prompt-major: the G rollouts of a prompt are neighbours), P prompt tokens, T
completion tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Rollouts:
    """A batch of completions. Prompts are padded on the left, completions on the right."""

    prompt_B_P: Tensor
    """int64 token ids."""
    prompt_mask_B_P: Tensor
    """bool: False at padding."""
    tokens_B_T: Tensor
    """int64 token ids of completions."""
    mask_B_T: Tensor
    """bool: True up to and with the stop token."""
    logprobs_B_T: Tensor
    """float32 log-probabilities under the policy and knob state that sampled, at temperature 1;
    zero where masked."""
    quarantine_B: Tensor
    """bool: whether the quarantine was on while sampling (and is on while training)."""
    group: int
    """G: rollouts of one prompt."""

    @property
    def count(self) -> int:
        """B, the number of rollouts."""
        return self.tokens_B_T.shape[0]
