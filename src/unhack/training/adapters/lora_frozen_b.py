"""Kind `lora_frozen_b`: a random read-out that stays as drawn, and a trained read-in.

    y = Wx + B ((A + on * A_q + c) x),   B [O, R] ~ N(0, 1 / R) frozen,  N = R D

A and A_q start at zero; the gradient of A in a rollout is the sum over tokens of (B' dL/dy) x'.
Both blocks act in one place, so they have one gradient, whether or not the quarantine was on in
that rollout.

Not covered: a trained B.
"""

from __future__ import annotations

import torch
from torch import Tensor

from unhack.training.adapters.forms import Outer, wide
from unhack.training.adapters.kinds import (
    BackwardCall,
    Draw,
    Knob,
    Parts,
    Pulled,
    Tensors,
    add_product,
)

READ, OUT = "read", "out"


class LoraFrozenB:
    """Satisfies `AdapterKind`."""

    name = "lora_frozen_b"
    stored: tuple[str, ...] = (OUT,)
    compared: tuple[str, ...] = ()

    def width(self, parts: Parts) -> int:
        return parts.deployed.trained()[0].shape[0] * (1 if parts.quarantine is None else 2)

    def basis(self, weight: Tensor, rank: int, draw: Draw) -> Tensors:
        out = draw(weight.shape[0], rank, scale=rank**-0.5)
        return Tensors({}, {OUT: out.to(weight.device, weight.dtype)})

    def block(self, weight: Tensor, rank: int, draw: Draw) -> Tensors:
        zeros = weight.new_zeros(rank, weight.shape[1], dtype=wide(weight.dtype))
        return Tensors({READ: zeros}, {})

    def forward(
        self, x_BT_D: Tensor, base_BT_O: Tensor, *, parts: Parts, knob: Knob
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        dtype = x_BT_D.dtype
        read, out = _read(parts, knob, dtype), parts.basis.get(OUT, dtype)
        hidden = torch.mm(x_BT_D, read.t())
        if isinstance(knob, Tensor) and parts.quarantine is not None:
            deployed, other = hidden.view(knob.shape[0], -1, hidden.shape[1]).chunk(2, dim=-1)
            hidden = torch.addcmul(deployed, other, knob).flatten(0, 1)
        return add_product(base_BT_O, hidden, out.t()), (read, out)

    def backward(self, call: BackwardCall) -> Pulled:
        batch, length, _ = call.grad_B_T_O.shape
        parts, knob, dtype = call.parts, call.knob, call.x_B_T_D.dtype
        read, out = call.spared or (None, parts.basis.get(OUT, dtype))
        pulled = torch.mm(call.grad_B_T_O.reshape(batch * length, -1), out)
        pulled_B_T_R = pulled.view(batch, length, -1)
        if call.entered_BT_D is not None:
            back = pulled
            if isinstance(knob, Tensor) and parts.quarantine is not None:
                back = torch.cat([pulled_B_T_R, pulled_B_T_R * knob], dim=-1).flatten(0, 1)
            read = _read(parts, knob, dtype) if read is None else read
            call.entered_BT_D.addmm_(back, read)
        form = Outer((pulled_B_T_R, call.x_B_T_D))
        return Pulled(form, None if parts.quarantine is None else form)

    def fold(self, onto_O_D: Tensor, *, basis: Tensors, block: Tensors) -> Tensor:
        dtype = onto_O_D.dtype
        return torch.addmm(onto_O_D, basis.get(OUT, dtype), block.get(READ, dtype))

    def factors(self, *, basis: Tensors, block: Tensors) -> tuple[Tensor, Tensor]:
        read = block.trained()[0].detach()
        return read, basis.get(OUT, read.dtype)


def _read(parts: Parts, knob: Knob, dtype: torch.dtype) -> Tensor:
    """A, A + A_q, or both stacked for a knob per rollout."""
    read = parts.deployed.get(READ, dtype)
    if parts.quarantine is None or knob is False:
        return read
    other = parts.quarantine.get(READ, dtype)
    return read + other if knob is True else torch.cat([read, other])
