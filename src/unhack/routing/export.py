"""The kept block, or both, as a LoRA folder in PEFT's format.

Covered: all kinds of adapters; models that PEFT has wrapped with plain LoRA layers, whose active
adapters go into the same file, factor beside factor; layers of different ranks. vLLM and other
readers of that format load it too, as far as they take such ranks. Not covered: DoRA, LoRA biases,
LoRA on embeddings, `modules_to_save`.

Axes: K rank, D inputs, O outputs.
"""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import safetensors.torch
import torch
from torch import Tensor, nn

from unhack.core.errors import UsageError
from unhack.training.adapters.attached import AttachedAdapters
from unhack.training.adapters.linears import WRAPPED, placed, variants

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
_PEFT, _COMPILED = "base_model.model.", "_orig_mod."
_MERGE = "merge its adapter (merge_and_unload) before `attach`, or keep `quarantine.state()`"
_safetensors: Any = safetensors.torch


def write_lora(
    model: nn.Module, adapters: AttachedAdapters, folder: Path, *, quarantine: bool = False
) -> Path:
    """Write configuration and weights; see `Quarantine.to_peft`. `quarantine`: of both blocks."""
    if not adapters.sites:
        raise UsageError("what was kept is in the weights: save the model as its library does")
    parts: dict[str, list[tuple[Tensor, Tensor]]] = {}
    places = placed(model)
    for name, site in adapters.sites.items():
        if len(places[id(site)]) > 1:
            raise UsageError(
                f"{name} stands at {len(places[id(site)])} places of the model, of which PEFT would"
                " adapt one; keep `quarantine.state()`, which loads onto this model"
            )
        blocks = [site.deployed, *([site.quarantine] if quarantine and site.quarantine else [])]
        parts.setdefault(base_name(name), []).extend(
            site.kind.factors(basis=site.basis, block=block) for block in blocks
        )
    for name, factors in _wrapped(model):
        parts.setdefault(name, []).append(factors)
    tensors: dict[str, Tensor] = {}
    ranks: dict[str, int] = {}
    for name, pieces in parts.items():
        read_K_D = torch.cat([read.float() for read, _ in pieces])
        out_O_K = torch.cat([out.float() for _, out in pieces], dim=1)
        ranks[name] = read_K_D.shape[0]
        tensors[f"{_PEFT}{name}.lora_A.weight"] = read_K_D.cpu().contiguous()
        tensors[f"{_PEFT}{name}.lora_B.weight"] = out_O_K.cpu().contiguous()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: no folder can be made there ({error.strerror})") from error
    config = json.dumps(_config(model, ranks), indent=2) + "\n"
    (folder / CONFIG).write_text(config, encoding="utf-8")
    _safetensors.save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    return folder


def left_out_by_peft(model: nn.Module, folder: Path) -> list[str]:
    """Maps of a written folder that the PEFT of this environment would not adapt.

    It renames what older versions of transformers called the experts of a mixture, and takes dense
    maps of the same names (a shared expert, a first layer) for them. Empty without PEFT.
    """
    try:  # optional, and asked by a name that other versions may lack
        peft: Any = import_module("peft")
        convert: Any = import_module("peft.utils.transformers_weight_conversion")
        settings = peft.LoraConfig.from_pretrained(folder)
        names = list(settings.target_modules)
        convert.convert_peft_config_for_transformers(settings, model, None)
    except (ImportError, AttributeError, TypeError):
        return []
    return sorted(set(names) - set(settings.target_modules))


def base_name(path: str) -> str:
    """The path of a map in the model without a wrapper of PEFT or torch.compile."""
    return path.replace(_COMPILED, "").removeprefix(_PEFT).removesuffix(WRAPPED)


def _config(model: nn.Module, ranks: dict[str, int]) -> dict[str, Any]:
    """PEFT's configuration: alpha is the rank everywhere, so that factors count as they are."""
    common = Counter(ranks.values()).most_common(1)[0][0]
    others = {name: rank for name, rank in ranks.items() if rank != common}
    settings: Any = getattr(model, "config", None)
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": getattr(settings, "_name_or_path", None) or None,
        "r": common,
        "lora_alpha": common,
        "rank_pattern": others,
        "alpha_pattern": others,
        "target_modules": sorted(ranks),
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": any(type(item).__name__ == "Conv1D" for item in model.modules()),
        "inference_mode": True,
    }


def _wrapped(model: nn.Module) -> list[tuple[str, tuple[Tensor, Tensor]]]:
    """The factors of the active LoRA layers of a model that PEFT has wrapped, scaled."""
    configs: dict[str, Any] = dict(getattr(model, "peft_config", None) or {})
    if any(getattr(config, "is_prompt_learning", False) for config in configs.values()):
        raise UsageError(
            "PEFT trained a prompt, which is no LoRA: keep `quarantine.state()` and it"
        )
    biases = {name: getattr(config, "bias", "none") for name, config in configs.items()}
    found: list[tuple[str, tuple[Tensor, Tensor]]] = []
    modules: list[tuple[str, Any]] = list(cast(Any, model).named_modules())
    for path, layer in modules:
        if hasattr(layer, "modules_to_save") and hasattr(layer, "original_module"):
            raise UsageError(f"{path}: PEFT trained a copy of this module; {_MERGE}")
        if not hasattr(layer, "base_layer"):
            continue
        linear = hasattr(layer, "lora_A") and not hasattr(layer, "parameter_name")
        if not linear or len(layer.lora_embedding_A):
            raise UsageError(
                f"{path}: only LoRA layers of linear maps can be written as one LoRA; {_MERGE}"
            )
        for name in () if layer.disable_adapters else layer.active_adapters:
            if name not in layer.lora_A:
                continue
            moved = layer.base_layer if biases.get(name) == "lora_only" else model
            biased = biases.get(name, "none") != "none" and _has_bias(moved)
            if variants(layer) or layer.lora_B[name].bias is not None or biased:
                raise UsageError(
                    f"{path}: DoRA and LoRA with a bias are no plain product; {_MERGE}"
                )
            out = layer.scaling[name] * layer.lora_B[name].weight.detach()
            found.append((base_name(path), (layer.lora_A[name].weight.detach(), out)))
    return found


def _has_bias(module: nn.Module) -> bool:
    return any(name.rpartition(".")[2] == "bias" for name, _ in module.named_parameters())
