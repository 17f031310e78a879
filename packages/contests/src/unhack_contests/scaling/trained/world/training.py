"""Trains the models of a world: one shape, one setting, several seeds side by side.

A model is a decoder of learned positions, RMS norms without gain, attention with heads of eight
and a two-layer perceptron, in float32; its optimiser is AdamW with clipped gradients. Seeds are a
stack of weights: nothing is shared between them. What the recipe fixes is drawn (`recipe`).

Covered: on a processor the same seeds give the same losses, bit for bit, on one machine and one
version of torch, however many threads the process has; a run that diverges has the loss infinity.
Not covered: equal bits on different machines, and between a processor and a card.

Sources: AdamW (Loshchilov, Hutter 2019); pre-norm decoders (Radford et al. 2019).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Generator, Sequence
from typing import Any

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from unhack_contests.scaling.trained.world.recipe import ModelRecipe
from unhack_contests.scaling.trained.world.run_settings import (
    WIDTH_STEP,
    LabSettings,
    TrainingOutcome,
)
from unhack_contests.scaling.trained.world.world import WorldText

_CURVE = 8
"""Points of a curve, each at twice the tokens of the one before."""
_EVALUATED = 256
"""Windows of one evaluation batch."""
_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "gelu": functional.gelu,
    "relu": functional.relu,
    "silu": functional.silu,
    "squared": lambda x: functional.relu(x).square(),
}


def train(
    recipe: ModelRecipe,
    settings: LabSettings,
    *,
    seeds: Sequence[int],
    text: WorldText,
    device: str,
) -> list[TrainingOutcome]:
    """One run for each seed, side by side; `device`: `cpu`, or torch's name of a card."""
    with _one_thread(), sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION][device == "cpu"]):
        return _train(recipe, settings, seeds=seeds, text=text, device=device)


@contextlib.contextmanager
def _one_thread() -> Generator[None]:
    """Sums of one thread have one order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _train(
    recipe: ModelRecipe,
    settings: LabSettings,
    *,
    seeds: Sequence[int],
    text: WorldText,
    device: str,
) -> list[TrainingOutcome]:
    draws = [torch.Generator().manual_seed(seed) for seed in seeds]
    pools = [torch.tensor(part, device=device) for part in text.components]
    flat = torch.stack([_initial(recipe, settings, draw) for draw in draws]).to(device)
    flat.requires_grad_()
    mean, square = torch.zeros_like(flat), torch.zeros_like(flat)
    sums = torch.zeros(len(seeds), device=device)
    curves: list[list[tuple[int, float]]] = [[] for _ in seeds]
    marks = _marks(settings.steps)
    last, before = 0, [0.0] * len(seeds)
    for step in range(1, settings.steps + 1):
        windows = torch.stack([_windows(recipe, settings, pools, draw) for draw in draws])
        losses = _losses(recipe, settings, flat, windows)
        (gradient,) = torch.autograd.grad(losses.sum(), flat)
        sums += losses.detach()
        rate = recipe.rate(settings, step / settings.steps)
        _adamw(recipe, flat, gradient, (mean, square), step=step, rate=rate)
        if step in marks:
            now: list[float] = sums.tolist()
            for curve, total, earlier in zip(curves, now, before, strict=True):
                tokens = step * settings.batch * recipe.window
                curve.append((tokens, _number((total - earlier) / (step - last))))
            last, before = step, now
    held = torch.tensor(text.held, device=device)
    found = [
        _evaluate(recipe, settings, flat.detach()[at : at + 1], held) for at in range(len(seeds))
    ]
    return [TrainingOutcome(loss, tuple(curve)) for loss, curve in zip(found, curves, strict=True)]


def _marks(steps: int) -> set[int]:
    return {max(1, round(steps * 2.0 ** (at + 1 - _CURVE))) for at in range(_CURVE)}


def _number(value: float) -> float:
    return round(value, 6) if math.isfinite(value) else math.inf


def _initial(recipe: ModelRecipe, settings: LabSettings, draw: Any) -> Any:
    parts: list[Any] = []
    for name, dims in recipe.tensors(settings.width, settings.depth):
        scale = 0.3 if name in ("embed", "place") else recipe.start / math.sqrt(dims[0])
        if name.endswith((".out", ".down")):
            scale /= math.sqrt(2 * settings.depth)
        parts.append(torch.randn(dims, generator=draw).flatten() * scale)
    return torch.cat(parts)


def _unpack(recipe: ModelRecipe, settings: LabSettings, flat: Any) -> dict[str, Any]:
    named = recipe.tensors(settings.width, settings.depth)
    parts = flat.split([math.prod(dims) for _, dims in named], dim=1)
    return {name: part.view(-1, *dims) for (name, dims), part in zip(named, parts, strict=True)}


def _windows(recipe: ModelRecipe, settings: LabSettings, pools: list[Any], draw: Any) -> Any:
    """(batch, window + 1): drawn from documents of both components by the mix."""
    count, length = settings.batch, recipe.window + 1
    first = torch.rand(count, generator=draw) < settings.mix
    rows = torch.randint(0, len(pools[0]), (count, 1), generator=draw)
    starts = torch.randint(0, pools[0].shape[1] - length + 1, (count, 1), generator=draw)
    places = (starts + torch.arange(length)).to(pools[0].device)
    rows, first = rows.to(pools[0].device), first.to(pools[0].device)
    return torch.where(first[:, None], pools[0][rows, places], pools[1][rows, places])


def _norm(x: Any) -> Any:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


def _losses(recipe: ModelRecipe, settings: LabSettings, flat: Any, windows: Any) -> Any:
    """(models,): mean nats per token; windows (models, batch, window + 1)."""
    weights = _unpack(recipe, settings, flat)
    given, wanted = windows[..., :-1].long(), windows[..., 1:].long()
    models, batch, length = given.shape
    width, heads = settings.width, settings.width // WIDTH_STEP
    # One-hot rows, not a look-up: its gradient has one order of summation on every device.
    rows = functional.one_hot(given.view(models, -1), recipe.vocabulary).float()
    x = (rows @ weights["embed"]).view(models, batch, length, width)
    x = (x + weights["place"][:, None, :length]).view(models, batch * length, width)
    act = _ACTIVATIONS[recipe.activation]
    for layer in range(settings.depth):
        joined = _norm(x) @ weights[f"{layer}.qkv"]
        split = joined.view(models * batch, length, 3, heads, WIDTH_STEP).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(
            split[0], split[1], split[2], is_causal=True
        )
        back = mixed.transpose(1, 2).reshape(models, batch * length, width)
        x = x + back @ weights[f"{layer}.out"]
        x = x + act(_norm(x) @ weights[f"{layer}.up"]) @ weights[f"{layer}.down"]
    head = weights["embed"].transpose(1, 2) if recipe.tied else weights["head"]
    logits = (_norm(x) @ head).view(-1, recipe.vocabulary)
    each = functional.cross_entropy(logits, wanted.reshape(-1), reduction="none")
    return each.view(models, -1).mean(1)


@torch.no_grad()
def _adamw(
    recipe: ModelRecipe,
    flat: Any,
    gradient: Any,
    moments: tuple[Any, Any],
    *,
    step: int,
    rate: float,
) -> None:
    mean, square = moments
    size = gradient.norm(dim=1, keepdim=True)
    gradient = gradient * (recipe.clip / size.clamp(min=recipe.clip))
    first, second = recipe.betas
    mean.mul_(first).add_(gradient, alpha=1 - first)
    square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
    moved = (mean / (1 - first**step)) / ((square / (1 - second**step)).sqrt() + 1e-8)
    flat.sub_(rate * (moved + recipe.decay * flat))


@torch.no_grad()
def _evaluate(recipe: ModelRecipe, settings: LabSettings, flat: Any, held: Any) -> float:
    total = 0.0
    for start in range(0, len(held), _EVALUATED):
        part = held[start : start + _EVALUATED]
        total += float(_losses(recipe, settings, flat, part[None])[0]) * len(part)
    return _number(total / len(held))
