"""Kind `svd`: gains on the singular directions of each matrix (AntiPaSTO's diagonal form).

    y = Wx + U ((s + on * s_q + c) * (Vh x)),   W = U diag(S) Vh (reduced),  N = K = min(O, D)

s and s_q start at zero; c is the additive probe, zero, whose gradient per rollout or token is the
gradient of s: (Vh x) * (U' dL/dy), summed over tokens. Both blocks act in one place, so they have
one gradient, whether or not the quarantine was on in that rollout.

Covered: any rectangular matrix; the decomposition is made in float32 on the matrix's device (in
float64 for float64) and kept in the matrix's dtype. A checkpoint holds S, not U and Vh: loading
decomposes again and compares, because the gains do not depend on the signs of the vectors. Not
covered: equal singular values, whose vectors are arbitrary up to a rotation; loading on another
machine may then turn them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unhack.training.adapters.forms import Diagonal, wide
from unhack.training.adapters.kinds import (
    BackwardCall,
    Draw,
    Knob,
    Parts,
    Pulled,
    Tensors,
    add_product,
)

GAINS = "gains"


class Svd:
    """Satisfies `AdapterKind`; `rank` plays no part."""

    name = "svd"
    stored: tuple[str, ...] = ()
    compared: tuple[str, ...] = ("singular",)

    def width(self, parts: Parts) -> int:
        return parts.deployed.trained()[0].numel()

    def basis(self, weight: Tensor, rank: int, draw: Draw) -> Tensors:
        linalg: Any = torch.linalg
        left, singular, right = linalg.svd(
            weight.detach().to(wide(weight.dtype)), full_matrices=False
        )
        frozen: dict[str, Tensor] = {
            "left": left.to(weight.dtype).contiguous(),
            "right": right.to(weight.dtype).contiguous(),
            "singular": singular,
        }
        return Tensors({}, frozen)

    def block(self, weight: Tensor, rank: int, draw: Draw) -> Tensors:
        dtype = wide(weight.dtype)
        return Tensors({GAINS: weight.new_zeros(min(weight.shape), dtype=dtype)}, {})

    def forward(
        self, x_BT_D: Tensor, base_BT_O: Tensor, *, parts: Parts, knob: Knob
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        dtype = x_BT_D.dtype
        hidden = torch.mm(x_BT_D, parts.basis.get("right", dtype).t())
        scaled = _scale(hidden, _gains(parts, knob, dtype))
        return add_product(base_BT_O, scaled, parts.basis.get("left", dtype).t()), (hidden,)

    def backward(self, call: BackwardCall) -> Pulled:
        batch, length, _ = call.grad_B_T_O.shape
        parts, dtype = call.parts, call.x_B_T_D.dtype
        right = parts.basis.get("right", dtype)
        (hidden,) = call.spared or (torch.mm(call.x_B_T_D.flatten(0, 1), right.t()),)
        flat = call.grad_B_T_O.reshape(batch * length, -1)
        pulled = torch.mm(flat, parts.basis.get("left", dtype))
        form = Diagonal((pulled * hidden).view(batch, length, -1))
        if call.entered_BT_D is not None:
            scaled = _scale(pulled, _gains(parts, call.knob, dtype))
            call.entered_BT_D.addmm_(scaled, right)
        return Pulled(form, None if parts.quarantine is None else form)

    def fold(self, onto_O_D: Tensor, *, basis: Tensors, block: Tensors) -> Tensor:
        dtype = onto_O_D.dtype
        scaled = basis.get("left", dtype) * block.get(GAINS, dtype)
        return torch.addmm(onto_O_D, scaled, basis.get("right", dtype))

    def factors(self, *, basis: Tensors, block: Tensors) -> tuple[Tensor, Tensor]:
        gains = block.trained()[0].detach()
        right = basis.get("right", gains.dtype)
        return gains[:, None] * right, basis.get("left", gains.dtype)


def _gains(parts: Parts, knob: Knob, dtype: torch.dtype) -> Tensor:
    """[K], or [B, 1, K] for a knob per rollout."""
    gains = parts.deployed.get(GAINS, dtype)
    if parts.quarantine is None or knob is False:
        return gains
    other = parts.quarantine.get(GAINS, dtype)
    return gains + other if knob is True else gains + knob * other


def _scale(hidden_BT_K: Tensor, gains: Tensor) -> Tensor:
    if gains.dim() == 1:
        return hidden_BT_K * gains
    return (hidden_BT_K.view(gains.shape[0], -1, gains.shape[2]) * gains).flatten(0, 1)
