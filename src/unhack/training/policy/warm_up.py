"""The warm-up of a pretrained model: supervised steps on completions in a world's own form.

A small instruct model rarely answers in the form that a verifier reads, so reinforcement has
nothing to begin from. `model.warmup_hacks` is the share of hacks among the completions of prompts
with a loophole; with 0 a policy has to find every hack by itself.

The warmed model is kept in the user's cache as a folder that `from_pretrained` reads. The key is a
hash of the weights, the settings, the seed and the first completions.

Covered: loss on completions alone, float32 weights with bfloat16 products on a GPU, several
processes at once. Not covered: worlds without `demonstrations`.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from unhack.core.errors import UsageError
from unhack.core.hashing import content_hash
from unhack.training.config.settings import ModelSettings
from unhack.training.policy import huggingface
from unhack.training.policy.rollouts import given_rollouts
from unhack.training.worlds.programs.base import cache_folder
from unhack.training.worlds.world import World

BATCH, RATE, RISE = 64, 3e-5, 20
"""Completions of a step, the largest rate, and the steps over which it rises to it; from there it
falls in a line."""


def warmed(settings: ModelSettings, world: World) -> Path:
    """The folder of the warmed model of `settings.path`, from the cache or made now.

    Raises UsageError for a world that has nothing to show, or a folder without a model.
    """
    if not hasattr(world, "demonstrations"):
        raise UsageError(
            f"world {world.name} has no completions to warm up on: set model.warmup_steps=0"
        )
    out = cache_folder() / f"{world.name}-{_key(settings, world)}"
    if (out / "config.json").exists():
        return out
    model = huggingface.load(Path(settings.path), dtype=torch.float32).to(settings.device)
    _teach(model, settings, world)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, ignore_cleanup_errors=True) as made:
        model.save_pretrained(made)
        with contextlib.suppress(OSError):  # another process was quicker
            Path(made).rename(out)
    return out


def _teach(model: Any, settings: ModelSettings, world: World) -> None:
    """Supervised steps in place, on the mean negative log-likelihood of completion tokens."""
    steps, device = settings.warmup_steps, torch.device(settings.device)
    parameters: list[nn.Parameter] = list(model.requires_grad_(True).parameters())
    optimiser = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.0)
    for step in range(steps):
        rows = given_rollouts(_shown(settings, world, step), pad=world.pad, device=device)
        tokens_B_S = torch.cat([rows.prompt_B_P, rows.tokens_B_T], dim=1)
        mask_B_S = torch.cat([rows.prompt_mask_B_P, rows.mask_B_T], dim=1)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            hidden_B_S_D = huggingface.hidden(model, tokens_B_S, mask_B_S=mask_B_S)
            before_B_T_D = hidden_B_S_D[:, rows.prompt_B_P.shape[1] - 1 : -1]
            logits_N_V = huggingface.head(model)(before_B_T_D[rows.mask_B_T])
        loss = functional.cross_entropy(logits_N_V.float(), rows.tokens_B_T[rows.mask_B_T])
        loss.backward()  # pyright: ignore[reportUnknownMemberType]
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.param_groups[0]["lr"] = RATE * min((step + 1) / RISE, 1 - step / (steps + RISE))
        optimiser.step()  # pyright: ignore[reportUnknownMemberType]
        optimiser.zero_grad()
    model.requires_grad_(False)


def _shown(settings: ModelSettings, world: Any, step: int) -> list[Any]:
    """Tokens of the prompts of a step and of the completions that are taught."""
    order = f"{settings.base_seed} {step}"
    found = world.demonstrations(BATCH, hacks=settings.warmup_hacks, order=order)
    return [(prompt.tokens, taught) for prompt, taught in found]


def _key(settings: ModelSettings, world: World) -> str:
    marks: list[str] = []
    for path in sorted(Path(settings.path).glob("*.safetensors")):
        with path.open("rb") as file:
            marks.append(hashlib.file_digest(file, "sha256").hexdigest())
    shown = [_shown(settings, world, step) for step in range(4)]
    own = (settings.base_seed, settings.warmup_steps, settings.warmup_hacks, BATCH, RATE, RISE)
    return content_hash(*marks, repr(own), repr(shown))[:16]
