"""Rollouts of a policy (tokens, behaviour log-probabilities, masks) and its interface.

Axes: B rollouts (prompt-major: the G rollouts of a prompt are neighbours), P prompt tokens, T
completion tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Generator, Tensor, nn

from unhack.training.adapters.adapter import Adapters


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


@dataclass(frozen=True, slots=True)
class Scores:
    """The policy's view of given rollouts, differentiable."""

    logprobs_B_T: Tensor
    entropy_B_T: Tensor
    """Entropy of each step's distribution in nats, detached."""


class Policy(Protocol):
    """A model with adapters that samples and scores."""

    @property
    def model(self) -> nn.Module:
        """The base with its adapters."""
        ...

    @property
    def adapters(self) -> Adapters: ...

    @property
    def device(self) -> torch.device:
        """Device of the model, and of the rollouts that it samples."""
        ...

    @property
    def tokens_per_pass(self) -> int:
        """Positions that it scores in one pass, padding included."""
        ...

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        group: int,
        max_new: int,
        temperature: float,
        generator: Generator,
        quarantine: bool,
    ) -> Rollouts:
        """`group` completions of each prompt, with adapters merged into the weights.

        Draws depend on the generator alone, so a resumed run samples the same.
        """
        ...

    @property
    def samples_halves(self) -> bool:
        """True where `sample_halves` is there and quicker than two calls of `sample`: on a GPU,
        which waits for one position after the other, with weights that can be folded twice."""
        ...

    def sample_halves(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        group: int,
        max_new: int,
        temperature: float,
        generators: Mapping[bool, Generator],
    ) -> Rollouts:
        """As `sample`, the first half of the prompts in the first knob state and the second in the
        second, each from its own generator: what two calls draw, in one loop."""
        ...

    def score(self, rollouts: Rollouts) -> Scores:
        """Teacher-forced log-probabilities, each rollout in its own knob state."""
        ...

    def reference(self, rollouts: Rollouts) -> Tensor:
        """Log-probabilities [B, T] of the frozen base (adapters off), without gradient."""
        ...
