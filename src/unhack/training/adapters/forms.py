"""Per-rollout gradients in the form in which a backward pass leaves them.

A form answers inner products, norms and weighted sums. `Outer` keeps the two factors of each
token's gradient (a token's gradient is an outer product), `Diagonal` the token's gradient itself,
`Solid` only each rollout's. A form makes [B, N] where that is cheaper than working on factors.

Covered: float32 and float64 factors, bfloat16 factors with float32 results, norms by the ghost
identity ||L'R||^2 = <LL', RR'> where rollouts are shorter than the rank. Not covered: packed
sequences (axis B must be the rollouts).

Axes: B rollouts, T positions, P and Q the sides of a matrix of parameters, K a bottleneck,
N = the numbers of a block.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor

from unhack.core.errors import UsageError

_linalg: Any = torch.linalg


class GradientForm(Protocol):
    """The gradients of one module and block. Weights are [B, 1] or [B, T]."""

    def dots_B(self, direction_N: Tensor) -> Tensor:
        """Inner product of each rollout's gradient with a vector."""
        ...

    def norms_B(self) -> Tensor:
        """Euclidean norm of each rollout's gradient."""
        ...

    def dots_B_T(self, direction_N: Tensor) -> Tensor:
        """The same per token. Raises UsageError for a form without tokens."""
        ...

    def norms_B_T(self) -> Tensor:
        """The norm of each token's gradient. Raises UsageError for a form without tokens."""
        ...

    def total_N(self, weights: Tensor) -> Tensor:
        """Weighted sum over rollouts, or over rollouts and tokens."""
        ...

    def solid(self) -> GradientForm:
        """The same without factors, where that takes less memory."""
        ...

    def rows(self) -> Solid:
        """Each rollout's gradient; the form itself keeps what it has."""
        ...


class Solid:
    """Each rollout's gradient as rows; the parts stand side by side."""

    def __init__(self, *parts_B_N: Tensor) -> None:
        self.parts = parts_B_N

    def plus(self, other: Solid) -> Solid:
        """The sum of two gradients of each rollout."""
        return Solid(*(one + two for one, two in zip(self.parts, other.parts, strict=True)))

    def dots_B(self, direction_N: Tensor) -> Tensor:
        pieces = torch.split(direction_N.to(self.parts[0]), [part.shape[1] for part in self.parts])
        dots = [torch.mv(part, piece) for part, piece in zip(self.parts, pieces, strict=True)]
        return dots[0] if len(dots) == 1 else torch.stack(dots).sum(0)

    def norms_B(self) -> Tensor:
        norms = [vector_norm(part, dim=1) for part in self.parts]
        return norms[0] if len(norms) == 1 else vector_norm(torch.stack(norms), dim=0)

    def dots_B_T(self, direction_N: Tensor) -> Tensor:
        raise _no_tokens()

    def norms_B_T(self) -> Tensor:
        raise _no_tokens()

    def total_N(self, weights: Tensor) -> Tensor:
        if weights.shape[1] != 1:
            raise _no_tokens()
        weights_B = weights[:, 0].to(self.parts[0])
        sums = [torch.mv(part.t(), weights_B) for part in self.parts]
        return sums[0] if len(sums) == 1 else torch.cat(sums)

    def solid(self) -> GradientForm:
        return self

    def rows(self) -> Solid:
        return self


class Diagonal:
    """A token's gradient is a short vector, and is kept."""

    def __init__(self, product_B_T_K: Tensor) -> None:
        self.product = product_B_T_K
        self._solid: Solid | None = None

    def solid(self) -> Solid:
        if self._solid is None:
            dtype = wide(self.product.dtype)
            self._solid = Solid(self.product.sum(1, dtype=dtype))
        return self._solid

    def rows(self) -> Solid:
        return self.solid()

    def dots_B(self, direction_N: Tensor) -> Tensor:
        return self.solid().dots_B(direction_N)

    def norms_B(self) -> Tensor:
        return self.solid().norms_B()

    def dots_B_T(self, direction_N: Tensor) -> Tensor:
        dtype = wide(self.product.dtype)
        return torch.matmul(self.product.to(dtype), direction_N.to(self.product.device, dtype))

    def norms_B_T(self) -> Tensor:
        return vector_norm(self.product, dim=-1, dtype=wide(self.product.dtype))

    def total_N(self, weights: Tensor) -> Tensor:
        if weights.shape[1] == 1:
            return self.solid().total_N(weights)
        dtype = wide(self.product.dtype)
        flat = self.product.flatten(0, 1).to(dtype)
        return torch.mv(flat.t(), weights.to(self.product.device, dtype).flatten())


class Outer:
    """A token's gradient is one outer product left x right, or two of them side by side."""

    def __init__(self, *pairs: tuple[Tensor, Tensor]) -> None:
        self.pairs = pairs
        self._solid: Solid | None = None

    def solid(self) -> GradientForm:
        return self if self._short() else self._rows()

    def rows(self) -> Solid:
        if self._solid is not None:
            return self._solid
        return Solid(
            *(
                _wider(torch.bmm(left.transpose(1, 2), right).flatten(1))
                for left, right in self.pairs
            )
        )

    def dots_B(self, direction_N: Tensor) -> Tensor:
        if self._solid is None and self._short():
            return self.dots_B_T(direction_N).sum(1)
        return self._rows().dots_B(direction_N)

    def norms_B(self) -> Tensor:
        if self._solid is not None or not self._short():
            return self._rows().norms_B()
        squares = [
            (_gram(left) * _gram(right)).sum((1, 2)).clamp(min=0) for left, right in self.pairs
        ]
        return torch.stack(squares).sum(0).sqrt()

    def dots_B_T(self, direction_N: Tensor) -> Tensor:
        total: Tensor | None = None
        first = 0
        for left, right in self.pairs:
            rows, columns = left.shape[-1], right.shape[-1]
            piece = direction_N[first : first + rows * columns].view(rows, columns).to(left)
            first += rows * columns
            if rows <= columns:
                dots = (torch.matmul(right, piece.t()) * left).sum(-1, dtype=wide(left.dtype))
            else:
                dots = (torch.matmul(left, piece) * right).sum(-1, dtype=wide(left.dtype))
            total = dots if total is None else total + dots
        assert total is not None
        return total

    def norms_B_T(self) -> Tensor:
        norms = [
            vector_norm(left, dim=-1, dtype=wide(left.dtype))
            * vector_norm(right, dim=-1, dtype=wide(left.dtype))
            for left, right in self.pairs
        ]
        return norms[0] if len(norms) == 1 else vector_norm(torch.stack(norms), dim=0)

    def total_N(self, weights: Tensor) -> Tensor:
        if weights.shape[1] == 1 and self._solid is not None:
            return self._solid.total_N(weights)
        sums = [_weigh(left, right, weights) for left, right in self.pairs]
        return sums[0] if len(sums) == 1 else torch.cat(sums)

    def _rows(self) -> Solid:
        if self._solid is None:
            self._solid = self.rows()
        return self._solid

    def _short(self) -> bool:
        """Tell whether factors take less work than rows: T (P + Q) < P Q for every pair."""
        return all(
            left.shape[1] * (left.shape[2] + right.shape[2]) < left.shape[2] * right.shape[2]
            for left, right in self.pairs
        )


def wide(dtype: torch.dtype) -> torch.dtype:
    """float32 for what is narrower, else the same."""
    return dtype if dtype in (torch.float32, torch.float64) else torch.float32


def vector_norm(tensor: Tensor, *, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    """Euclidean norm along one axis."""
    return _linalg.vector_norm(tensor, dim=dim, dtype=dtype)


def _wider(tensor: Tensor) -> Tensor:
    return tensor.to(wide(tensor.dtype))


def _gram(factor_B_T_P: Tensor) -> Tensor:
    """Inner products of all pairs of tokens, [B, T, T]."""
    factor = _wider(factor_B_T_P)
    return torch.bmm(factor, factor.transpose(1, 2))


def _weigh(left: Tensor, right: Tensor, weights: Tensor) -> Tensor:
    """One product over all tokens; the narrower factor carries the weights."""
    left, right = _wider(left), _wider(right)
    weights = weights.to(left).unsqueeze(-1)
    if left.shape[-1] <= right.shape[-1]:
        left = left * weights
    else:
        right = right * weights
    return torch.mm(left.flatten(0, 1).t(), right.flatten(0, 1)).flatten()


def _no_tokens() -> UsageError:
    return UsageError(
        "per-token gradients were not kept: capture(rollouts, tokens=True) keeps them"
    )
