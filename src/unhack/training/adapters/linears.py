"""The linear maps of a model that an adapter can stand in for.

Covered: `nn.Linear` with a plain weight; the base layer of a map that PEFT has wrapped; maps that
keep their weight in another form (quantised ones, the transposed `Conv1D` of GPT-2), have a forward
of their own or hooks, which are called as they are. Not covered: fused experts, which are no
modules of their own; routers of mixtures, which give more than a product.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

WRAPPED = ".base_layer"
"""End of the path of a map that PEFT has wrapped."""

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def linear_maps(model: nn.Module) -> dict[str, nn.Module]:
    """Path -> map, without the low-rank parts that a wrapper adds to it."""
    untyped: Any = model
    modules: dict[str, nn.Module] = dict(untyped.named_modules())
    wrappers = {name for name, item in modules.items() if hasattr(item, "base_layer")}
    return {
        name: item
        for name, item in modules.items()
        if name not in wrappers and shape(item) is not None and not _is_added(name, wrappers)
    }


def placed(model: nn.Module) -> dict[int, list[tuple[nn.Module, str]]]:
    """The modules that hold a module, and its name there, by its id: one map may have several."""
    found: dict[int, list[tuple[nn.Module, str]]] = {}
    for parent in list(model.modules()):
        for name, item in vars(parent)["_modules"].items():
            found.setdefault(id(item), []).append((parent, name))
    return found


def plain_name(path: str) -> str:
    """The last part of a map's path, as the model without a wrapper names it."""
    return path.removesuffix(WRAPPED).rpartition(".")[2]


def variants(wrapper: nn.Module) -> bool:
    """True where PEFT's layer reads the weight that it wraps, beside calling it (DoRA)."""
    used: Any = getattr(wrapper, "use_dora", None) or {}
    return any(used.values()) or bool(getattr(wrapper, "lora_variant", None))


def shape(item: nn.Module) -> tuple[int, int] | None:
    """Outputs and inputs of a linear map; None for any other module."""
    if type(item).__name__.endswith("Router"):
        return None
    if type(item).__name__ == "Conv1D" and hasattr(item, "nf"):
        return int(untyped(item).nf), int(untyped(item).nx)
    if isinstance(item, nn.Linear):
        return item.out_features, item.in_features
    inputs, outputs = getattr(item, "in_features", None), getattr(item, "out_features", None)
    held = any(True for _ in (*item.parameters(False), *item.buffers(False)))
    if isinstance(inputs, int) and isinstance(outputs, int) and held:
        return outputs, inputs
    return None


def is_plain(item: nn.Module) -> bool:
    """True where the module does what `nn.Linear` does, and no more, and its weight is an ordinary
    floating matrix [outputs, inputs]."""
    if not isinstance(item, nn.Linear) or type(item).forward is not nn.Linear.forward:
        return False
    if "forward" in vars(item) or any(vars(item)[name] for name in _HOOKS):
        return False
    weight: Any = item.weight
    ordinary = type(weight) in (nn.Parameter, Tensor) and weight.is_floating_point()
    return ordinary and tuple(weight.shape) == (item.out_features, item.in_features)


def placeholder_weight(item: nn.Module) -> Tensor:
    """A matrix of a map's shape, device and computing type that takes no memory: all zeros."""
    outputs_inputs = shape(item)
    assert outputs_inputs is not None
    tensors: list[Tensor] = [*item.parameters(), *item.buffers()]
    wide = [tensor.dtype for tensor in tensors if tensor.is_floating_point()]
    dtype = torch.float64 if torch.float64 in wide else torch.float32
    return torch.zeros((), device=tensors[0].device, dtype=dtype).expand(outputs_inputs)


def untyped(item: nn.Module) -> Any:
    """The same module, for attributes that its type does not declare."""
    return item


def _is_added(path: str, wrappers: set[str]) -> bool:
    """True within a wrapper, but for what it wraps."""
    parts = path.split(".")
    above = (".".join(parts[:count]) for count in range(1, len(parts)))
    return any(
        name in wrappers and not f"{path}.".startswith(f"{name}{WRAPPED}.") for name in above
    )
