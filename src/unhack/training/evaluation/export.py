"""The deployed model of a run as a folder that Hugging Face's `from_pretrained` takes.

The quarantine is deleted, with the proof that this changes nothing, and what is left of the
adapters is added to the weights.

Covered: models from a folder (with their tokenizer), and our own sizes (weights and `config.json`;
their tokens are the world's). Not covered: quantised bases.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import (
    save_file,  # pyright: ignore[reportUnknownVariableType]
)
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.models.qwen3 import Qwen3
from unhack.training.adapters.merged import merged_state
from unhack.training.config.settings import Settings
from unhack.training.evaluation.evaluate import delete_quarantine, open_run
from unhack.training.policy import huggingface
from unhack.training.policy.policy import ModelPolicy
from unhack.training.worlds.texts import load_tokenizer


def export_run(folder: Path, out: Path) -> dict[str, Any]:
    """Write the deployed model of a run's last checkpoint to `out`; return what was done.

    Raises UsageError where `out` holds anything or the run has no checkpoint, UnhackError where
    deleting the quarantine changes the model.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out}: not an empty folder; name another one")
    run = open_run(folder)
    gap, deleted = delete_quarantine(run.policy, run.world, run.world.final())
    weights = _deployed_weights(run.policy)
    out.mkdir(parents=True, exist_ok=True)
    if run.settings.model.path:
        _save_pretrained(run.settings, weights, out)
    else:
        _save_own(run.policy.model, weights, out)
    count = sum(tensor.numel() for tensor in weights.values())
    return {
        "run": str(folder), "step": run.steps[-1], "out": str(out), "parameters": count,
        "deploy_gap": gap, "deleted": deleted,
    }  # fmt: skip


def _deployed_weights(policy: ModelPolicy) -> dict[str, Tensor]:
    """The weights with the deployed block added, by the names of the base."""
    state = merged_state(policy.model, policy.adapters)
    return {name: tensor.detach().cpu().clone() for name, tensor in state.items()}


def _save_pretrained(settings: Settings, weights: dict[str, Tensor], out: Path) -> None:
    dtype = torch.bfloat16 if settings.model.precision == "bfloat16" else torch.float32
    model = huggingface.load(Path(settings.model.path), dtype=dtype)
    model.load_state_dict(weights)
    model.save_pretrained(out)
    tokenizer = settings.world.tokenizer or settings.model.path
    if (Path(tokenizer) / "tokenizer.json").exists():
        load_tokenizer(tokenizer).save_pretrained(out)


def _save_own(model: Any, weights: dict[str, Tensor], out: Path) -> None:
    assert isinstance(model, Qwen3)
    if model.config.tied:
        weights.pop("lm_head.weight", None)
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
    fields = {**model.config.to_huggingface(), "dtype": "float32"}
    (out / "config.json").write_text(json.dumps(fields, indent=1) + "\n")
