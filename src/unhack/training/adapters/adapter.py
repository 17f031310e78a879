"""Gradients of adapters with a deployed and a quarantine block, rollout by rollout.

Axes: B rollouts, T positions, M adapted modules, N numbers of a block's parameters (flattened).

One backward pass gives every rollout's own gradient: each adapted module keeps what it needs (its
input and the gradient at its bottleneck), so no second pass and no loop over rollouts is run. The
loss must be a sum of per-rollout terms. `Gradients` then answers inner products with a direction
and forms weighted sums, per rollout or per token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from torch import Tensor

Block = Literal["deployed", "quarantine"]


class Gradients(Protocol):
    """Per-rollout gradients of one backward pass, by module name."""

    @property
    def names(self) -> tuple[str, ...]:
        """The adapted modules, in the order of axis M."""
        ...

    def dots_B_M(self, direction: Mapping[str, Tensor]) -> Tensor:
        """<g_b, v_m> of the deployed block for each rollout and module; `direction` maps a module
        to [N]."""
        ...

    def norms_B_M(self) -> Tensor:
        """||g_b|| of the deployed block."""
        ...

    def dots_B_T_M(self, direction: Mapping[str, Tensor]) -> Tensor:
        """The same per token; padding gives 0."""
        ...

    def norms_B_T_M(self) -> Tensor: ...

    def sums(self, weights: Tensor, *, block: Block) -> dict[str, Tensor]:
        """sum over b (and t) of weights * g -> [N] per module. `weights` is [B, 1, 1], [B, 1, M],
        [B, T, 1] or [B, T, M]."""
        ...

    def differences(self) -> tuple[Tensor, dict[str, Tensor]]:
        """Of neighbours (the first less the second, the third less the fourth, ...): the squared
        norms [B / 2, M] of the deployed block's differences in float64, and their sums, [N] per
        module."""
        ...
