"""The adapters as weights of the base, by the names of the base.

Covered: maps with a plain weight and the transposed `Conv1D` of GPT-2, at one place or several.
Not covered, and refused: quantised weights, weights that another module has or reads too (tied
embeddings, DoRA). A sum is made in float32 and rounded to the type of the weight.

Axes: D inputs, O outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from unhack.core.errors import UsageError
from unhack.training.adapters.attached import AttachedAdapters
from unhack.training.adapters.beside import AdaptedBeside
from unhack.training.adapters.linears import placed
from unhack.training.adapters.site import AdaptedLinear

_PARTS = ("basis.", "deployed.", "quarantine.")


@torch.no_grad()
def merged_weights(adapters: AttachedAdapters) -> dict[str, Tensor]:
    """By adapted map: its weight with the deployed block in it. Raises UsageError."""
    return {name: _merged(site) for name, site in adapters.sites.items()}


def merged_state(model: nn.Module, adapters: AttachedAdapters) -> dict[str, Tensor]:
    """The model's `state_dict` as it is deployed, by the names that it had before `attach`; the
    model stays as it is. Raises UsageError."""
    weights = merged_weights(adapters)
    state: dict[str, Tensor] = model.state_dict()
    modules: Any = cast(Any, model).named_modules(remove_duplicate=False)
    for path, site in modules:
        if isinstance(site, AdaptedLinear):
            for name in [name for name in state if name.startswith(f"{path}.")]:
                if name.removeprefix(f"{path}.").startswith(_PARTS):
                    del state[name]
            state[f"{path}.weight"] = weights[site.name]
    return state


@torch.no_grad()
def merge_into(model: nn.Module, adapters: AttachedAdapters, weights: Mapping[str, Tensor]) -> None:
    """Put maps without adapters back in the model, with the weights of `merged_weights`."""
    places = placed(model)
    for name, weight in weights.items():
        site = adapters.sites[name]
        plain: Any = site.base if isinstance(site, AdaptedBeside) else _linear(site)
        plain.weight.copy_(weight)
        plain.train(site.training)
        for parent, last in places[id(site)]:
            setattr(parent, last, plain)


def _merged(site: AdaptedLinear) -> Tensor:
    if site.tied:
        raise UsageError(
            f"{site.name}: another module has this weight too, so it takes no block; write a LoRA"
            " with `to_peft`, or keep the state of the adapters"
        )
    if not isinstance(site, AdaptedBeside):
        return site.fold(both=False)[0].to(site.weight.dtype)
    if type(site.base).__name__ != "Conv1D" or not _base(site).is_floating_point():
        raise UsageError(
            f"{site.name}: {type(site.base).__name__} keeps its weight in a form that takes no"
            " block; write a LoRA with `to_peft`, or keep the state of the adapters"
        )
    weight_D_O = _base(site)
    read_K_D, out_O_K = site.kind.factors(basis=site.basis, block=site.deployed)
    added_O_D = out_O_K.float() @ read_K_D.float()
    return (weight_D_O.float() + added_O_D.t()).to(weight_D_O.dtype)


def _base(site: AdaptedBeside) -> Tensor:
    weight: Any = site.base.weight
    return weight


def _linear(site: AdaptedLinear) -> nn.Linear:
    """A linear map with a site's own weight and bias."""
    plain = nn.Linear(site.in_features, site.out_features, bias=False, device="meta")
    plain.weight = cast(nn.Parameter, site.weight)
    plain.bias = site.bias
    return plain
