"""One adapted map whose weight is no plain matrix: quantised, or stored in another layout.

The map itself is called as it is; the adapter's output is added to it. What reaches the input
comes back by both ways. Nothing can be merged into such a weight, so it is sampled by factors.

Covered: what `AdaptedLinear` covers but merged forwards. Not covered: kind `svd`, which decomposes
the weight; maps that do not differentiate through (they raise in the backward pass by themselves).

Axes: B rollouts, T positions, D inputs, O outputs.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from unhack.core.errors import UsageError
from unhack.training.adapters.kinds import AdapterKind, Knob
from unhack.training.adapters.linears import placeholder_weight
from unhack.training.adapters.site import AdaptedLinear, Switch


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
        out: Any = self.base(x, *rest, **named)
        if not isinstance(out, Tensor) or out.shape != (*x.shape[:-1], self.out_features):
            raise UsageError(
                f"{self.name} is no linear map: what it gives is not [..., {self.out_features}];"
                " name the other maps as targets"
            )
        if self.switch.bypass:
            return out
        x = x.to(out.dtype) if x.dtype != out.dtype else x
        return out + self.adapted(x)

    def apply_factors(self, x: Tensor, knob: Knob) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The adapter's output alone."""
        flat = x.reshape(-1, self.in_features)
        nothing = flat.new_zeros(flat.shape[0], self.out_features)
        out, _ = self.kind.forward(flat, nothing, parts=self.parts, knob=knob)
        return out.view(*x.shape[:-1], self.out_features), ()

    def base_gradient(self, grad_B_T_O: Tensor, x_B_T_D: Tensor) -> Tensor:
        """Nothing: the base's own call carries its gradient."""
        return torch.zeros_like(x_B_T_D)

    def folds(self, x: Tensor, runs: int) -> bool:
        """Never: the adapter's factors are not the weight's."""
        return False


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
