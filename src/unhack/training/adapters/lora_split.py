"""Kind `lora_split`: a LoRA of rank 2R in two blocks, each the change from its own random start.

    y = Wx + [B A x - B0 A0 x]_deployed + on * [B A x - B0 A0 x]_quarantine
    A0 [R, D] ~ N(0, 1 / D),  B0 [O, R] ~ N(0, 1 / 2R),  N = R D + O R per block

Trained are the differences a = A - A0 and b = B - B0, which start at zero. The same map is computed
as B0 (a x) + b (A x): exactly zero at the start, and nothing cancels later in low precision.
Decoupled weight decay on a and b pulls towards the start, and deleting a block is what resetting it
to its start would be.

The blocks act in different places, so each has its own gradient, of its own A and B. For a rollout
that ran with the quarantine off, the quarantine's gradient is made of its own (A, B) and of the x
and dL/dy of that pass without it: what differentiation gives when the block's output is added and
its value taken off again. At the start this is exactly the gradient with the block on.

Not covered: a detached deployed output in routed rollouts (routing is done in the sums instead).
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

CHANGE_A, CHANGE_B, START_A, START_B = "change_a", "change_b", "start_a", "start_b"


class LoraSplit:
    """Satisfies `AdapterKind`. The hidden layer is [a x, A x] of each block."""

    name = "lora_split"
    stored: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()

    def width(self, parts: Parts) -> int:
        return 2 * parts.deployed.trained()[0].shape[0] * len(_blocks(parts, off=False))

    def basis(self, weight: Tensor, rank: int, draw: Draw) -> Tensors:
        return Tensors({}, {})

    def block(self, weight: Tensor, rank: int, draw: Draw) -> Tensors:
        (rows, columns), dtype = weight.shape, wide(weight.dtype)
        trained = {
            CHANGE_A: weight.new_zeros(rank, columns, dtype=dtype),
            CHANGE_B: weight.new_zeros(rows, rank, dtype=dtype),
        }
        frozen = {
            START_A: draw(rank, columns, scale=columns**-0.5).to(weight.device, dtype),
            START_B: draw(rows, rank, scale=(2 * rank) ** -0.5).to(weight.device, dtype),
        }
        return Tensors(trained, frozen)

    def forward(
        self, x_BT_D: Tensor, base_BT_O: Tensor, *, parts: Parts, knob: Knob
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        blocks = _blocks(parts, off=knob is False)
        hidden = _lift(torch.mm(x_BT_D, _read(blocks, x_BT_D.dtype).t()), knob, len(blocks))
        return add_product(base_BT_O, hidden, _out(blocks, x_BT_D.dtype).t()), ()

    def backward(self, call: BackwardCall) -> Pulled:
        grad_B_T_O, x_B_T_D, dtype = call.grad_B_T_O, call.x_B_T_D, call.x_B_T_D.dtype
        batch, length, _ = grad_B_T_O.shape
        flat = grad_B_T_O.reshape(batch * length, -1)
        blocks = _blocks(call.parts, off=False)
        if call.entered_BT_D is not None:
            acting = _blocks(call.parts, off=call.knob is False)
            back = _lift(torch.mm(flat, _out(acting, dtype)), call.knob, len(acting))
            call.entered_BT_D.addmm_(back, _read(acting, dtype))
        pulled = torch.mm(flat, torch.cat([_sum(block, "b", dtype) for block in blocks], dim=1))
        read = torch.cat([_sum(block, "a", dtype) for block in blocks])
        hidden = torch.mm(x_B_T_D.flatten(0, 1), read.t())
        forms = [
            Outer((through, x_B_T_D), (grad_B_T_O, seen))
            for through, seen in zip(
                pulled.view(batch, length, -1).chunk(len(blocks), dim=-1),
                hidden.view(batch, length, -1).chunk(len(blocks), dim=-1),
                strict=True,
            )
        ]
        return Pulled(forms[0], forms[1] if len(forms) > 1 else None)

    def fold(self, onto_O_D: Tensor, *, basis: Tensors, block: Tensors) -> Tensor:
        dtype = onto_O_D.dtype
        start, change = block.get(START_B, dtype), block.get(CHANGE_B, dtype)
        sum_O_D = torch.addmm(onto_O_D, start, block.get(CHANGE_A, dtype))
        return sum_O_D.addmm_(change, _sum(block, "a", dtype))

    def factors(self, *, basis: Tensors, block: Tensors) -> tuple[Tensor, Tensor]:
        dtype = block.trained()[0].dtype
        return _read([block], dtype).detach(), _out([block], dtype).detach()


def _blocks(parts: Parts, *, off: bool) -> list[Tensors]:
    if parts.quarantine is None or off:
        return [parts.deployed]
    return [parts.deployed, parts.quarantine]


def _sum(block: Tensors, side: str, dtype: torch.dtype) -> Tensor:
    """A = A0 + a or B = B0 + b."""
    start, change = block.get(f"start_{side}", dtype), block.get(f"change_{side}", dtype)
    return start + change


def _read(blocks: list[Tensors], dtype: torch.dtype) -> Tensor:
    """[a; A] of each block, [2R per block, D]."""
    return torch.cat(
        [rows for block in blocks for rows in (block.get(CHANGE_A, dtype), _sum(block, "a", dtype))]
    )


def _out(blocks: list[Tensors], dtype: torch.dtype) -> Tensor:
    """[B0, b] of each block, [O, 2R per block]."""
    return torch.cat(
        [
            columns
            for block in blocks
            for columns in (block.get(START_B, dtype), block.get(CHANGE_B, dtype))
        ],
        dim=1,
    )


def _lift(hidden: Tensor, knob: Knob, count: int) -> Tensor:
    """A hidden layer with the quarantine's half taken to zero where the knob is off."""
    if count == 1 or not isinstance(knob, Tensor):
        return hidden
    half = hidden.shape[1] // 2
    lift = torch.cat([torch.ones_like(knob).expand(-1, 1, half), knob.expand(-1, 1, half)], dim=-1)
    return (hidden.view(knob.shape[0], -1, 2 * half) * lift).flatten(0, 1)
