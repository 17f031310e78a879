"""Batches of rollouts: which prompts run with the quarantine off, and joining and cutting.

Axes: B rollouts (prompt-major), P prompt tokens, T completion tokens, M adapted modules.

Covered: exact, balanced, repeatable shares; batches of different lengths; gradients of several
backward passes seen as one. Not covered: sampling and scoring (the policy does).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

from unhack.training.adapters.adapter import Block, Gradients
from unhack.training.policy.rollouts import Rollouts
from unhack.training.worlds.world import Judged, Prompt


@dataclass(frozen=True, slots=True)
class RolloutBatch:
    """Judged rollouts of some prompts."""

    prompts: Sequence[Prompt]
    """One per group, in the order of the rollouts."""
    rollouts: Rollouts
    judged: Sequence[Judged]
    """One per rollout."""

    @property
    def rewards_B(self) -> Tensor:
        """float32, on the device of the rollouts."""
        device = self.rollouts.tokens_B_T.device
        return torch.tensor([item.reward for item in self.judged], device=device)


def knob_off(prompts: Sequence[Prompt], *, share: float, step: int) -> list[bool]:
    """Choose the prompts of a step that run with the quarantine off.

    Over the steps exactly `share` of the prompts, in each step the nearest whole number below or
    above it; spread evenly over the prompts sorted by mode, so each mode has its share to within
    one. The pattern moves on by one prompt a step.
    """
    count = len(prompts)
    total = int((step + 1) * share * count + 1e-9) - int(step * share * count + 1e-9)
    order = sorted(range(count), key=lambda index: (prompts[index].mode, index))
    off = [False] * count
    for place in range(count):
        if (place + 1) * total // count > place * total // count:
            off[order[(place + step) % count]] = True
    return off


def join_rollouts(parts: Sequence[Rollouts], *, pad: int) -> Rollouts:
    """Rollouts one after the other, prompts padded on the left, completions on the right."""
    width = max(part.prompt_B_P.shape[1] for part in parts)
    length = max(part.tokens_B_T.shape[1] for part in parts)

    def left(tensor: Tensor, value: int) -> Tensor:
        return functional.pad(tensor, (width - tensor.shape[1], 0), value=value)

    def right(tensor: Tensor, value: float) -> Tensor:
        return functional.pad(tensor, (0, length - tensor.shape[1]), value=value)

    return Rollouts(
        prompt_B_P=torch.cat([left(part.prompt_B_P, pad) for part in parts]),
        prompt_mask_B_P=torch.cat([left(part.prompt_mask_B_P, 0) for part in parts]),
        tokens_B_T=torch.cat([right(part.tokens_B_T, pad) for part in parts]),
        mask_B_T=torch.cat([right(part.mask_B_T, 0) for part in parts]),
        logprobs_B_T=torch.cat([right(part.logprobs_B_T, 0.0) for part in parts]),
        quarantine_B=torch.cat([part.quarantine_B for part in parts]),
        group=parts[0].group,
    )


def select_rollouts(rollouts: Rollouts, rows: Tensor) -> Rollouts:
    """Some rollouts, as indices [B'] or bool [B]; columns that are padding in all go away."""
    mask_B_T, prompt_mask_B_P = rollouts.mask_B_T[rows], rollouts.prompt_mask_B_P[rows]
    length = int(mask_B_T.any(0).sum().item()) if mask_B_T.numel() else 0
    first = prompt_mask_B_P.shape[1] - int(prompt_mask_B_P.any(0).sum().item())
    return replace(
        rollouts,
        prompt_B_P=rollouts.prompt_B_P[rows, first:],
        prompt_mask_B_P=prompt_mask_B_P[:, first:],
        tokens_B_T=rollouts.tokens_B_T[rows, :length],
        mask_B_T=mask_B_T[:, :length],
        logprobs_B_T=rollouts.logprobs_B_T[rows, :length],
        quarantine_B=rollouts.quarantine_B[rows],
    )


def cut_out(rollouts: Rollouts, cut: slice) -> Rollouts:
    """Neighbouring rollouts, with all columns."""
    return replace(
        rollouts,
        prompt_B_P=rollouts.prompt_B_P[cut],
        prompt_mask_B_P=rollouts.prompt_mask_B_P[cut],
        tokens_B_T=rollouts.tokens_B_T[cut],
        mask_B_T=rollouts.mask_B_T[cut],
        logprobs_B_T=rollouts.logprobs_B_T[cut],
        quarantine_B=rollouts.quarantine_B[cut],
    )


def slices(count: int, *, size: int) -> Iterator[slice]:
    """Consecutive parts of at most `size` of `count` things; one part where `size` is 0."""
    step = size or max(count, 1)
    for first in range(0, count, step):
        yield slice(first, min(first + step, count))


@dataclass(frozen=True, slots=True)
class JoinedGradients:
    """Gradients of several backward passes over parts of one batch, as those of the batch."""

    parts: Sequence[Gradients]
    counts: Sequence[int]
    """Rollouts of each part."""

    @property
    def names(self) -> tuple[str, ...]:
        """As of each part."""
        return self.parts[0].names

    def dots_B_M(self, direction: Mapping[str, Tensor]) -> Tensor:
        """Part after part."""
        return torch.cat([part.dots_B_M(direction) for part in self.parts])

    def norms_B_M(self) -> Tensor:
        """Part after part."""
        return torch.cat([part.norms_B_M() for part in self.parts])

    def dots_B_T_M(self, direction: Mapping[str, Tensor]) -> Tensor:
        """Part after part."""
        return torch.cat([part.dots_B_T_M(direction) for part in self.parts])

    def norms_B_T_M(self) -> Tensor:
        """Part after part."""
        return torch.cat([part.norms_B_T_M() for part in self.parts])

    def sums(self, weights: Tensor, *, block: Block) -> dict[str, Tensor]:
        """The parts' sums added."""
        rows = torch.split(weights, list(self.counts))
        found = [part.sums(row, block=block) for part, row in zip(self.parts, rows, strict=True)]
        return {
            name: torch.stack([item[name] for item in found]).sum(0)
            for name in found[0]
        }  # fmt: skip

    def differences(self) -> tuple[Tensor, dict[str, Tensor]]:
        """Part after part; each has whole pairs."""
        found = [part.differences() for part in self.parts]
        sums = {name: torch.stack([item[name] for _, item in found]).sum(0) for name in found[0][1]}
        return torch.cat([squares for squares, _ in found]), sums
