"""The interface of adapters with a deployed and a quarantine block.

Axes: B rollouts, T positions, M adapted modules, N numbers of a block's parameters (flattened).

One backward pass gives every rollout's own gradient: each adapted module keeps what it needs (its
input and the gradient at its bottleneck), so no second pass and no loop over rollouts is run. The
loss must be a sum of per-rollout terms. `Gradients` then answers inner products with a direction
and forms weighted sums, per rollout or per token.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from torch import Tensor, nn

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


class Adapters(Protocol):
    """All adapted modules of a model."""

    @property
    def kind(self) -> str: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    def parameters(self, block: Block) -> dict[str, list[nn.Parameter]]:
        """Trainable parameters by module."""
        ...

    def knob(self, quarantine: bool | Tensor) -> AbstractContextManager[None]:
        """Within: forwards have the quarantine on, off, or per rollout (bool [B])."""
        ...

    def off(self) -> AbstractContextManager[None]:
        """Within: forwards are those of the frozen base."""
        ...

    def merge(self, *, quarantine: bool) -> AbstractContextManager[None]:
        """Within: the adapters' effect is in the weights, forwards are plain linears (sampling)."""
        ...

    @property
    def halvable(self) -> bool:
        """True where `halves` can be entered and its copies are worth their memory."""
        ...

    def halves(self, *, quarantine_first: bool) -> AbstractContextManager[None]:
        """Within: as merged, but the first half of the rollouts runs in one knob state, the second
        in the other (sampling)."""
        ...

    def capture(self, rollouts: int, *, tokens: bool = True) -> AbstractContextManager[Gradients]:
        """Within: forward and backward record the gradients of so many rollouts, without `tokens`
        those of whole rollouts only (weights and answers per token are then refused)."""
        ...

    def assign(self, deployed: Mapping[str, Tensor], quarantine: Mapping[str, Tensor]) -> None:
        """Set `.grad` of both blocks from flattened [N] sums (added where a gradient is there)."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Tensors that restore the adapters, buffers that were drawn included."""
        ...

    def load(self, state: Mapping[str, Tensor]) -> None: ...

    def deploy(self) -> None:
        """Delete the quarantine in place: its weights are gone from the modules and from
        `state()`."""
        ...
