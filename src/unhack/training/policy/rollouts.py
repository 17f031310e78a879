"""Rollouts of a policy: tokens, behaviour log-probabilities, masks.

Axes: B rollouts (prompt-major: the G rollouts of a prompt are neighbours), P prompt tokens, T
completion tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
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


def given_rollouts(
    rows: Sequence[tuple[Sequence[int], Sequence[int]]], *, pad: int, device: torch.device
) -> Rollouts:
    """Prompts with given completions as rollouts with the quarantine off."""
    prompts, sides = [prompt for prompt, _ in rows], [side for _, side in rows]
    wide, long = max(map(len, prompts)), max(map(len, sides))
    prompt_B_P = torch.tensor([[pad] * (wide - len(item)) + list(item) for item in prompts])
    tokens_B_T = torch.tensor([list(item) + [pad] * (long - len(item)) for item in sides])
    widths_B = torch.tensor([len(item) for item in prompts])
    lengths_B = torch.tensor([len(item) for item in sides])
    return Rollouts(
        prompt_B_P=prompt_B_P.to(device),
        prompt_mask_B_P=(torch.arange(wide) >= wide - widths_B[:, None]).to(device),
        tokens_B_T=tokens_B_T.to(device),
        mask_B_T=(torch.arange(long) < lengths_B[:, None]).to(device),
        logprobs_B_T=torch.zeros(tokens_B_T.shape, device=device),
        quarantine_B=torch.zeros(len(sides), dtype=torch.bool, device=device),
        group=1,
    )
