"""One adapted map whose weight is no plain matrix: quantised, or stored in another layout.

The map itself is called as it is; the adapter's output is added to it. What reaches the input
comes back by both ways. Nothing can be merged into such a weight, so it is sampled by factors.

Covered: what `AdaptedLinear` covers but merged forwards. Not covered: kind `svd`, which decomposes
the weight; maps that do not differentiate through (they raise in the backward pass by themselves).

Axes: B rollouts, T positions, D inputs, O outputs.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from unhack.core.errors import UsageError
from unhack.training.adapters.kinds import AdapterKind, Knob
from unhack.training.adapters.linears import placeholder_weight
from unhack.training.adapters.site import AdaptedLinear, BackwardRecord, Switch


class AdaptedBeside(AdaptedLinear):
    """Stands in for such a map; `base` is the map."""

    def __init__(self, base: nn.Module, *, name: str, kind: AdapterKind, switch: Switch) -> None:
        if kind.name == "svd":
            raise UsageError(f"{name}: kind svd decomposes the weight; use lora_frozen_b here")
        weight = placeholder_weight(base)
        super().__init__(_Shape(weight), name=name, kind=kind, switch=switch)
        self.base = base
        # What is saved has the names of the base model, so that it loads without adapters too.
        hooked: Any = self
        hooked.register_state_dict_post_hook(_name_as_base)
        hooked.register_load_state_dict_pre_hook(_name_as_here)

    def forward(self, x: Tensor, *rest: Any, **named: Any) -> Tensor:
        """The map's output and the adapter's."""
        switch = self.switch
        out: Any = self.base(x, *rest, **named)
        if not isinstance(out, Tensor) or out.shape != (*x.shape[:-1], self.out_features):
            raise UsageError(
                f"{self.name} is no linear map: what it gives is not [..., {self.out_features}];"
                " name the other maps as targets"
            )
        if switch.bypass:
            return out
        x = x.to(out.dtype) if x.dtype != out.dtype else x
        knob, record = switch.now(), switch.record
        if isinstance(knob, Tensor) and self.quarantine is None:
            knob = False
        if record is None and isinstance(knob, bool):
            return out + self.added(x, knob)
        rollouts = len(cast(Tensor, knob)) if record is None else record.rollouts
        rows_B_T_D = switch.laid_out(x, rollouts=rollouts, name=self.name)
        lift = switch.lifted(knob, x.dtype, x.device)
        if record is None:
            return out + self.added(rows_B_T_D, lift).view(out.shape)
        self.called = record.mark
        call, anchor = (self, lift, record), self.deployed.trained()[0]
        added_B_T_O = cast(Tensor, _CapturedBeside.apply(rows_B_T_D, anchor, call))  # pyright: ignore
        return out + added_B_T_O.view(out.shape)

    def added(self, x: Tensor, knob: Knob) -> Tensor:
        """The adapter's output alone."""
        flat = x.reshape(-1, self.in_features)
        nothing = flat.new_zeros(flat.shape[0], self.out_features)
        out, _ = self.kind.forward(flat, nothing, parts=self.parts, knob=knob)
        return out.view(*x.shape[:-1], self.out_features)


class _CapturedBeside(torch.autograd.Function):
    """The adapter's output whose backward pass leaves per-rollout gradients in a record."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, anchor: Tensor, call: tuple[AdaptedBeside, Knob, BackwardRecord]
    ) -> Tensor:
        ctx.call = call
        ctx.save_for_backward(x)
        return call[0].added(x.detach(), call[1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_B_T_O: Tensor) -> Any:  # pyright: ignore
        site, knob, record = ctx.call
        (x,) = ctx.saved_tensors
        entered = torch.zeros_like(x) if ctx.needs_input_grad[0] else None
        record.put(
            site.name,
            site.kind.backward(
                grad_B_T_O,
                x,
                spared=(),
                parts=site.parts,
                knob=knob,
                entered_BT_D=None if entered is None else entered.flatten(0, 1),
            ),
        )
        return entered, None, None


class _Shape(nn.Linear):
    """A linear map's shape without its numbers."""

    def __init__(self, weight: Tensor) -> None:
        nn.Module.__init__(self)
        self.out_features, self.in_features = weight.shape
        self.register_buffer("weight", weight, persistent=False)
        self.register_parameter("bias", None)


_OWN = ("base.", "basis.", "deployed.", "quarantine.")


def _name_as_base(module: nn.Module, state: dict[str, Any], prefix: str, _: Any) -> None:
    start = f"{prefix}base."
    for name in [name for name in state if name.startswith(start)]:
        state[prefix + name.removeprefix(start)] = state.pop(name)


def _name_as_here(module: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    for name in [name for name in state if name.startswith(prefix)]:
        rest = name.removeprefix(prefix)
        if not rest.startswith(_OWN):
            state[f"{prefix}base.{rest}"] = state.pop(name)
