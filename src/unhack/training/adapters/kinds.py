"""The interface of the three kinds of adapters, and the block that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from unhack.training.adapters.forms import GradientForm

Draw = Callable[..., Tensor]
"""draw(rows, columns, scale=...) -> float32 Gaussian matrix, the same for a seed and a module."""

Knob = bool | Tensor
"""True, False, or [B, 1, 1] in the dtype of the input: 1 where the quarantine is on."""


class Tensors(nn.Module):
    """Named parameters and frozen tensors of a block, or of what the blocks share."""

    def __init__(self, trained: Mapping[str, Tensor], frozen: Mapping[str, Tensor]) -> None:
        super().__init__()
        for name, tensor in trained.items():
            self.register_parameter(name, nn.Parameter(tensor))
        for name, tensor in frozen.items():
            self.register_buffer(name, tensor, persistent=False)

    def trained(self) -> list[nn.Parameter]:
        """The parameters in the order in which a flat gradient has them."""
        return list(self.parameters(recurse=False))

    def get(self, name: str, dtype: torch.dtype) -> Tensor:
        """A tensor in the dtype of the computation."""
        tensor: Any = getattr(self, name)
        return tensor if tensor.dtype == dtype else tensor.to(dtype)


@dataclass(frozen=True, slots=True)
class Parts:
    """An adapted module's tensors. `quarantine` is None once deleted."""

    basis: Tensors
    deployed: Tensors
    quarantine: Tensors | None


@dataclass(frozen=True, slots=True)
class BackwardCall:
    """The start of a backward pass through one module."""

    grad_B_T_O: Tensor
    x_B_T_D: Tensor
    parts: Parts
    knob: Knob
    spared: tuple[Tensor, ...]
    """The result of `forward`, or empty."""
    entered_BT_D: Tensor | None
    """The base's gradient at the input, to which the adapter's is added in place; None where it is
    not asked for."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """Results of a backward pass through one module."""

    deployed: GradientForm
    quarantine: GradientForm | None
    """None where the quarantine is deleted."""


class AdapterKind(Protocol):
    """One way to add a low-dimensional change to a frozen linear map y = Wx.

    Blocks flatten their parameters in the order of `Tensors.trained`.
    """

    @property
    def name(self) -> str: ...

    @property
    def stored(self) -> tuple[str, ...]:
        """Names of the basis that a checkpoint holds and `load` copies."""
        ...

    @property
    def compared(self) -> tuple[str, ...]:
        """Names of the basis that a checkpoint holds and `load` compares."""
        ...

    def width(self, parts: Parts) -> int:
        """Columns of the factors that a forward multiplies by, all blocks together."""
        ...

    def basis(self, weight: Tensor, rank: int, draw: Draw) -> Tensors:
        """Frozen tensors that both blocks share."""
        ...

    def block(self, weight: Tensor, rank: int, draw: Draw) -> Tensors:
        """A block without effect."""
        ...

    def forward(
        self, x_BT_D: Tensor, base_BT_O: Tensor, *, parts: Parts, knob: Knob
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The adapted output from the base's, and what spares `backward` work."""
        ...

    def backward(self, call: BackwardCall) -> Pulled:
        """The gradients, with the adapter's share of `entered_BT_D` added to it."""
        ...

    def fold(self, onto_O_D: Tensor, *, basis: Tensors, block: Tensors) -> Tensor:
        """A new matrix: `onto`, which is at least float32, plus what a block adds to the base's."""
        ...

    def factors(self, *, basis: Tensors, block: Tensors) -> tuple[Tensor, Tensor]:
        """Read-in [K, D] and read-out [O, K] whose product is what a block adds to the base's
        matrix."""
        ...


def add_product(output_N_O: Tensor, hidden_N_R: Tensor, matrix_R_O: Tensor) -> Tensor:
    """output + hidden @ matrix; in place where nothing is differentiated."""
    if output_N_O.requires_grad or hidden_N_R.requires_grad or matrix_R_O.requires_grad:
        return output_N_O.addmm(hidden_N_R, matrix_R_O)
    return output_N_O.addmm_(hidden_N_R, matrix_R_O)
