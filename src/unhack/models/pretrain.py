# ruff: noqa: N806 - axes are part of a tensor's name
"""The pretraining loop: next-token cross-entropy, AdamW, warm-up and cosine.

Axes: B windows, T tokens, V vocabulary.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class PretrainingRecipe:
    """Length and rate of pretraining."""

    steps: int
    rate: float = 3e-3
    """Largest learning rate."""
    warmup: int = 200
    decay: float = 0.1
    """Weight decay of matrices."""
    clip: float = 1.0
    seconds: float = math.inf
    """Wall time after which the rate falls to its end and training stops."""


def pretrain(
    model: nn.Module,
    batches: Iterator[Tensor],
    *,
    recipe: PretrainingRecipe,
    logits: Callable[[Tensor], Tensor] | None = None,
    report: Callable[[int, float], None] | None = None,
) -> int:
    """Train in place on int64 windows [B, T + 1]; returns the steps done.

    `logits`: what computes them (a compiled form of the model, say); the model itself otherwise.
    `report(step, loss)` is called every hundred steps, with nats per token.
    """
    device = next(model.parameters()).device
    matrices = [item for item in model.parameters() if item.dim() >= 2]
    gains = [item for item in model.parameters() if item.dim() < 2]
    groups = [{"params": matrices, "weight_decay": recipe.decay},
              {"params": gains, "weight_decay": 0.0}]  # fmt: skip
    optimiser = torch.optim.AdamW(
        groups, lr=recipe.rate, betas=(0.9, 0.95), fused=device.type == "cuda"
    )
    compute = logits or model
    started = time.monotonic()
    for step in range(recipe.steps):
        share = max(step / recipe.steps, (time.monotonic() - started) / recipe.seconds)
        if share >= 1.0:
            return step
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * _shape(step, share, warmup=recipe.warmup)
        tokens = next(batches).to(device, non_blocking=True)
        with _narrow(device):
            logits_B_T_V = compute(tokens[:, :-1])
        loss = functional.cross_entropy(logits_B_T_V.float().flatten(0, 1), tokens[:, 1:].flatten())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # pyright: ignore[reportUnknownMemberType]
        nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
        optimiser.step()  # pyright: ignore[reportUnknownMemberType]
        if report is not None and step % 100 == 0:
            report(step, loss.item())
    return recipe.steps


@torch.no_grad()
def nats_per_token(model: Callable[[Tensor], Tensor], windows: Tensor, *, batch: int = 32) -> float:
    """Mean cross-entropy of int64 windows [N, T + 1] in nats; `model`: tokens [B, T] to logits."""
    total = 0.0
    for first in range(0, windows.shape[0], batch):
        part = windows[first : first + batch]
        logits_B_T_V = model(part[:, :-1]).float()
        loss = functional.cross_entropy(
            logits_B_T_V.flatten(0, 1), part[:, 1:].flatten(), reduction="sum"
        )
        total += loss.item()
    return total / (windows.shape[0] * (windows.shape[1] - 1))


def crops(data: Tensor, *, batch: int, length: int, seed: int) -> Iterator[Tensor]:
    """Endless int64 [batch, length] windows of a flat uint8 or integer tensor, on its device."""
    generator = torch.Generator(device=data.device).manual_seed(seed)
    steps_T = torch.arange(length, device=data.device)
    while True:
        starts_B = torch.randint(
            0, data.numel() - length, (batch, 1), generator=generator, device=data.device
        )
        yield data[starts_B + steps_T].long()


def byte_tensor(data: bytes, device: torch.device) -> Tensor:
    """uint8 [N] on a device."""
    return torch.tensor(np.frombuffer(data, dtype=np.uint8), device=device)


def mixed(
    raw: Tensor, made: Tensor, *, batch: int, length: int, steps: int, seed: int
) -> Iterator[Tensor]:
    """`steps` windows [batch, length]: a third of them raw until half of the steps are done."""
    third = max(1, batch // 3)
    from_raw = crops(raw, batch=third, length=length, seed=seed)
    from_made = crops(made, batch=batch, length=length, seed=seed + 1)
    for step in range(steps):
        windows = next(from_made)
        yield torch.cat([next(from_raw), windows[third:]]) if step < steps // 2 else windows


def _shape(step: int, share: float, *, warmup: int) -> float:
    """Up in a line, down along a cosine to a hundredth."""
    rise = min(1.0, (step + 1) / warmup)
    return rise * (0.01 + 0.99 * 0.5 * (1.0 + math.cos(math.pi * min(1.0, share))))


def _narrow(device: torch.device) -> contextlib.AbstractContextManager[object]:
    """bfloat16 where the device is made for it."""
    if device.type == "cuda":
        return torch.autocast("cuda", dtype=torch.bfloat16)
    return contextlib.nullcontext()
