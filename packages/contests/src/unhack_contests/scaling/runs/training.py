"""Many equal byte models trained side by side: one stack of weights, one batch each.

The model is the Qwen3 block: RMSNorm, grouped-query attention with normed queries and keys, rotary
positions, SwiGLU, tied embedding, no bias. A stack holds `M` models of one shape; each has its own
initial weights, its own windows, its own token budget and its own learning-rate schedule, and
leaves the stack when its budget is spent. That is what makes ladders of tiny runs cheap on a GPU.

Covered: losses are nats per byte in float32; every model of a stack is what it would be alone, up
to rounding (nothing is shared between them; gradients are clipped for each).
Not covered: several devices.

Sources: Qwen3 technical report 2025; AdamW (Loshchilov, Hutter 2019).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

WINDOW = 128
BATCH = 8
VOCABULARY = 256
_EVALUATED = 64
"""Windows of one evaluation batch."""
_CURVE = 6


@dataclass(frozen=True, slots=True)
class ModelShape:
    """One model."""

    width: int
    depth: int

    @property
    def heads(self) -> int:
        """Query heads; there are half as many for keys and values."""
        return 2 if self.width < 40 else 4

    @property
    def hidden(self) -> int:
        """Of the SwiGLU layer: 8/3 of the width, in steps of 8."""
        return 8 * round(self.width / 3)

    def tensors(self) -> list[tuple[str, tuple[int, ...]]]:
        """Name and shape of every weight, in the order of the flat vector."""
        size, head = self.width, self.width // self.heads
        narrow = size // 2
        found: list[tuple[str, tuple[int, ...]]] = [("embed", (VOCABULARY, size))]
        for layer in range(self.depth):
            found += [
                (f"{layer}.norm1", (size,)), (f"{layer}.q", (size, size)),
                (f"{layer}.k", (size, narrow)), (f"{layer}.v", (size, narrow)),
                (f"{layer}.qnorm", (head,)), (f"{layer}.knorm", (head,)),
                (f"{layer}.o", (size, size)), (f"{layer}.norm2", (size,)),
                (f"{layer}.gate", (size, self.hidden)), (f"{layer}.up", (size, self.hidden)),
                (f"{layer}.down", (self.hidden, size)),
            ]  # fmt: skip
        return [*found, ("norm", (size,))]

    @property
    def parameters(self) -> int:
        """All weights, the tied embedding once."""
        return sum(math.prod(dims) for _, dims in self.tensors())


@dataclass(frozen=True, slots=True)
class LadderRecipe:
    """How a family is trained."""

    peak: float = 4e-3
    """Learning rate of a model of width 64; others by the inverse root of the width."""
    schedule: str = "cosine"
    """`cosine`, `linear` or `plateau` (constant, then linear over the last fifth)."""
    decay: float = 0.1
    warmup: float = 0.05


@dataclass(frozen=True, slots=True)
class Trained:
    """One finished run."""

    loss: float
    """Nats per byte on the validation windows."""
    curve: tuple[tuple[int, float], ...]
    """(tokens seen, training loss averaged since the point before)."""


def train(
    shape: ModelShape,
    recipe: LadderRecipe,
    *,
    steps: list[int],
    seeds: list[int],
    data: tuple[Any, Any],
    device: str,
) -> list[Trained]:
    """Train one model for each of `steps` (in batches of BATCH x WINDOW bytes) with its seed.

    `data`: training bytes (n,) and validation windows (v, WINDOW + 1), uint8 arrays.
    """
    text, held = (torch.tensor(part, device=device) for part in data)
    draws = [torch.Generator().manual_seed(seed) for seed in seeds]
    flat = torch.stack([_initial(shape, draw) for draw in draws]).to(device).requires_grad_()
    mean, square = torch.zeros_like(flat), torch.zeros_like(flat)
    alive = list(range(len(steps)))
    sums = [0.0] * len(steps)
    curves: list[list[tuple[int, float]]] = [[] for _ in steps]
    done: dict[int, Trained] = {}
    marks = [_marks(count) for count in steps]
    last = [0] * len(steps)
    total = torch.zeros(len(steps), device=device)
    decayed = _decayed(shape).to(device)
    for step in range(1, max(steps) + 1):
        windows = torch.stack([_windows(text, draws[at]) for at in alive])
        losses = _losses(_unpack(shape, flat), shape, windows)
        losses.sum().backward()
        total[alive] += losses.detach()
        rates = [_rate(recipe, shape, step / steps[at]) for at in alive]
        _adamw(flat, mean, square, step=step, rates=rates, decay=recipe.decay * decayed)
        for at in alive:
            if step in marks[at]:
                now = float(total[at])
                point = (now - sums[at]) / (step - last[at])
                curves[at].append((step * BATCH * WINDOW, round(point, 6)))
                sums[at], last[at] = now, step
        finished = [place for place, at in enumerate(alive) if step == steps[at]]
        for place in finished:
            loss = _evaluate(shape, flat.detach()[place : place + 1], held)
            done[alive[place]] = Trained(loss, tuple(curves[alive[place]]))
        if finished:
            keep = [place for place in range(len(alive)) if place not in finished]
            flat = flat.detach()[keep].clone().requires_grad_()
            mean, square = mean[keep], square[keep]
            alive = [alive[place] for place in keep]
    return [done[at] for at in range(len(steps))]


def _marks(count: int) -> set[int]:
    return {max(1, round(count * 2.0 ** (at + 1 - _CURVE))) for at in range(_CURVE)}


def _rate(recipe: LadderRecipe, shape: ModelShape, part: float) -> float:
    peak = recipe.peak * math.sqrt(64 / shape.width)
    if part < recipe.warmup:
        return peak * part / recipe.warmup
    rest = (part - recipe.warmup) / (1 - recipe.warmup)
    laws: dict[str, Callable[[], float]] = {
        "cosine": lambda: 0.1 + 0.45 * (1 + math.cos(math.pi * rest)),
        "linear": lambda: 1 - 0.95 * rest,
        "plateau": lambda: min(1.0, (1 - rest) / 0.2 + 0.02),
    }
    return peak * laws[recipe.schedule]()


def _initial(shape: ModelShape, draw: Any) -> Any:
    parts: list[Any] = []
    for name, dims in shape.tensors():
        if len(dims) == 1:
            parts.append(torch.ones(dims))
            continue
        scale = 1 / math.sqrt(shape.width if name == "embed" else dims[0])
        if name.endswith((".o", ".down")):
            scale /= math.sqrt(2 * shape.depth)
        parts.append(torch.randn(dims, generator=draw).flatten() * scale)
    return torch.cat(parts)


def _decayed(shape: ModelShape) -> Any:
    """1 where weight decay acts: on matrices."""
    parts = [torch.full((math.prod(dims),), float(len(dims) > 1)) for _, dims in shape.tensors()]
    return torch.cat(parts)


def _unpack(shape: ModelShape, flat: Any) -> dict[str, Any]:
    named = shape.tensors()
    parts = flat.split([math.prod(dims) for _, dims in named], dim=1)
    return {name: part.view(-1, *dims) for (name, dims), part in zip(named, parts, strict=True)}


def _windows(text: Any, draw: Any) -> Any:
    starts = torch.randint(0, len(text) - WINDOW - 1, (BATCH, 1), generator=draw)
    places = (starts + torch.arange(WINDOW + 1)).to(text.device)
    return text[places]


def _norm(x: Any, weight: Any) -> Any:
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return x * scale * weight.view(weight.shape[0], *([1] * (x.dim() - 2)), weight.shape[-1])


def _rotated(x: Any) -> Any:
    """Rotary positions; x (M, batch, heads, T, head)."""
    half = x.shape[-1] // 2
    rate = 10000.0 ** (-torch.arange(half, device=x.device) / half)
    angle = torch.arange(x.shape[-2], device=x.device)[:, None] * rate
    cos, sin = angle.cos(), angle.sin()
    left, right = x[..., :half], x[..., half : 2 * half]
    turned = [left * cos - right * sin, right * cos + left * sin, x[..., 2 * half :]]
    return torch.cat(turned, dim=-1)


def _attention(x: Any, weights: dict[str, Any], *, layer: int, heads: int) -> Any:
    models, batch, length, size = x.shape
    head = size // heads

    def split(name: str, count: int) -> Any:
        flat = x.view(models, batch * length, size) @ weights[f"{layer}.{name}"]
        return flat.view(models, batch, length, count, head).transpose(2, 3)

    queries = _rotated(_norm(split("q", heads), weights[f"{layer}.qnorm"]))
    keys = _rotated(_norm(split("k", heads // 2), weights[f"{layer}.knorm"]))
    values = split("v", heads // 2)
    keys, values = (part.repeat_interleave(2, dim=2) for part in (keys, values))
    mixed = functional.scaled_dot_product_attention(
        *(part.flatten(0, 1) for part in (queries, keys, values)), is_causal=True
    )
    joined = mixed.transpose(1, 2).reshape(models, batch * length, size)
    return (joined @ weights[f"{layer}.o"]).view(x.shape)


def _losses(weights: dict[str, Any], shape: ModelShape, windows: Any) -> Any:
    """Mean nats per byte of each model; windows (M, batch, WINDOW + 1)."""
    given, wanted = windows[..., :-1].long(), windows[..., 1:].long()
    models, batch, length = given.shape
    embed = weights["embed"]
    rows = given.reshape(models, -1, 1).expand(-1, -1, shape.width)
    x = torch.gather(embed, 1, rows).view(models, batch, length, shape.width)
    for layer in range(shape.depth):
        normed = _norm(x, weights[f"{layer}.norm1"])
        x = x + _attention(normed, weights, layer=layer, heads=shape.heads)
        flat = _norm(x, weights[f"{layer}.norm2"]).view(models, batch * length, shape.width)
        gate = functional.silu(flat @ weights[f"{layer}.gate"])
        x = x + ((gate * (flat @ weights[f"{layer}.up"])) @ weights[f"{layer}.down"]).view(x.shape)
    flat = _norm(x, weights["norm"]).view(models, batch * length, shape.width)
    logits = flat @ embed.transpose(1, 2)
    each = functional.cross_entropy(logits.flatten(0, 1), wanted.reshape(-1), reduction="none")
    return each.view(models, -1).mean(1)


@torch.no_grad()
def _adamw(flat: Any, mean: Any, square: Any, *, step: int, rates: list[float], decay: Any) -> None:
    grad = flat.grad
    size = grad.norm(dim=1, keepdim=True)
    grad = grad * (1.0 / size.clamp(min=1.0))
    mean.mul_(0.9).add_(grad, alpha=0.1)
    square.mul_(0.95).addcmul_(grad, grad, value=0.05)
    rate = torch.tensor(rates, device=flat.device)[:, None]
    moved = (mean / (1 - 0.9**step)) / ((square / (1 - 0.95**step)).sqrt() + 1e-8)
    flat.sub_(rate * (moved + decay * flat))
    flat.grad = None


@torch.no_grad()
def _evaluate(shape: ModelShape, flat: Any, held: Any) -> float:
    weights = _unpack(shape, flat)
    total, count = 0.0, 0
    for start in range(0, len(held), _EVALUATED):
        part = held[start : start + _EVALUATED]
        total += float(_losses(weights, shape, part[None])[0]) * len(part)
        count += len(part)
    return total / count
