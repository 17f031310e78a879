"""Train small attention-only models on induction data: checkpoints for `trained=DIR`.

    python -m unhack_contests.interpretability.models.train_checkpoints --out DIR

Each checkpoint is an `.npz` with the fields of `Network` in float16 and `family`. A model that has
not learnt its task (loss above a quarter of chance) is not written.

Covered: seeded runs; the numpy forward pass of `Network` is what is trained, term for term.
Not covered: MLPs, layer norms.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unhack_contests.interpretability.models.behaviours import Behaviour, sequences
from unhack_contests.interpretability.models.draw import generator
from unhack_contests.interpretability.models.network import Array, Network, losses, trace


@dataclass(frozen=True, slots=True)
class CheckpointRecipe:
    """One training run."""

    seed: int
    layers: int = 2
    heads: int = 4
    width: int = 64
    vocabulary: int = 32
    length: int = 48
    steps: int = 3000
    batch: int = 64
    rate: float = 2e-3
    device: str = "cpu"


def train(recipe: CheckpointRecipe) -> tuple[dict[str, Array], float]:
    """Weights by field of `Network` as float16, and the loss on fresh sequences in nats."""
    import torch as library

    torch: Any = library

    task = Behaviour("induction", recipe.vocabulary, recipe.length, {})
    rng = generator("interp", "training", recipe.seed)
    weights = _initial(recipe, rng=rng, torch=torch)
    optimiser = torch.optim.AdamW(weights.values(), lr=recipe.rate, weight_decay=0.01)
    ahead = torch.ones(recipe.length, recipe.length, device=recipe.device).triu(1).bool()
    for step in range(recipe.steps):
        warm = min(1.0, (step + 1) / 100)
        late = 0.5 * (1 + math.cos(math.pi * step / recipe.steps))
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * warm * (0.05 + 0.95 * late)
        drawn = sequences(task, recipe.batch, rng=rng)
        tokens, targets, mask = (
            torch.from_numpy(part).to(recipe.device)
            for part in (drawn.tokens, drawn.targets, drawn.mask)
        )
        logits = _forward(weights, tokens, ahead=ahead)
        each = torch.nn.functional.cross_entropy(logits.mT, targets, reduction="none")
        loss = (each * mask).sum() / mask.sum()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimiser.step()
    plain = {name: value.detach().cpu().numpy() for name, value in weights.items()}
    plain["qkv"] = plain["qkv"].copy()
    plain["qkv"][:, 0] /= math.sqrt(plain["qkv"].shape[-1])
    plain["mlp_in"] = np.zeros((recipe.layers, recipe.width, 1))
    plain["mlp_out"] = np.zeros((recipe.layers, 1, recipe.width))
    half = {name: plain[name].astype(np.float16) for name in Network.__slots__}
    fresh = sequences(task, 256, rng=rng)
    net = Network(**{name: value.astype(np.float32) for name, value in half.items()})
    return half, float(
        losses(trace(net, fresh.tokens).logits, fresh.targets, mask=fresh.mask).mean()
    )


def _initial(recipe: CheckpointRecipe, *, rng: np.random.Generator, torch: Any) -> dict[str, Any]:
    layers, heads, wide = recipe.layers, recipe.heads, recipe.width
    size = wide // heads
    shapes = {
        "embed": (recipe.vocabulary, wide), "position": (recipe.length, wide),
        "qkv": (layers, 3, heads, wide, size), "output": (layers, heads, size, wide),
        "unembed": (wide, recipe.vocabulary),
    }  # fmt: skip
    scales = {
        "embed": 0.3,
        "position": 0.3,
        "qkv": wide**-0.5,
        "output": wide**-0.5,
        "unembed": wide**-0.5,
    }
    return {
        name: torch.tensor(
            rng.normal(0, scales[name], shape), dtype=torch.float32, device=recipe.device
        ).requires_grad_()
        for name, shape in shapes.items()
    }  # fmt: skip


def _forward(weights: dict[str, Any], tokens: Any, *, ahead: Any) -> Any:
    stream = weights["embed"][tokens] + weights["position"]
    for qkv, output in zip(weights["qkv"], weights["output"], strict=True):
        query, key, value = (stream[:, None] @ part for part in qkv)
        scores = (query @ key.mT) / math.sqrt(query.shape[-1])
        pattern = scores.masked_fill(ahead, -1e9).softmax(-1)
        stream = stream + (pattern @ value @ output).sum(1)
    return stream @ weights["unembed"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write checkpoints; 1 if one has not learnt its task."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    for name in ("layers", "heads", "width", "vocabulary", "length", "steps", "batch"):
        parser.add_argument(
            f"--{name}", type=int, default=CheckpointRecipe.__dataclass_fields__[name].default
        )
    told = parser.parse_args(arguments)
    told.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    names = ("layers", "heads", "width", "vocabulary", "length", "steps", "batch", "device")
    for seed in range(told.first_seed, told.first_seed + told.count):
        recipe = CheckpointRecipe(seed, **{name: getattr(told, name) for name in names})
        weights, loss = train(recipe)
        good = loss < math.log(recipe.vocabulary) / 4
        failed += not good
        sys.stdout.write(f"seed {seed}: loss {loss:.3f} nats{'' if good else ', not written'}\n")
        if good:
            fields: dict[str, Any] = {"family": np.array("induction"), **weights}
            np.savez_compressed(told.out / f"induction-{seed}.npz", **fields)
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
