"""Trains a causal model over bytes and saves it as a Hugging Face folder: the stock example.

    python -m unhack.models.train_stock --out stock --device cuda
    python -m unhack.models.train_stock --size tiny --out small

`large` has 53.4 million parameters, the sizes of training's `model.size=large`; `tiny` has 90
thousand and is done in seconds on a processor. Text: in the first half of the steps a third is the
library's training files as they are, the rest programs of `models.programs` with their shapes; then
programs alone. The folder holds `config.json` and `model.safetensors` (float16), which
`AutoModelForCausalLM` reads, and `stock.json`: how it was trained, and the loss on held-out
programs. One seed gives the same weights on the same device and version of PyTorch; `--seconds`
ends early, by the clock.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.numpy import save

from unhack.models import corpus, programs
from unhack.models.config import Config
from unhack.models.corpus import CorpusPart
from unhack.models.pretrain import (
    PretrainingRecipe,
    byte_tensor,
    mixed,
    nats_per_token,
    pretrain,
)
from unhack.models.qwen3 import Qwen3, export_weights, from_weights

LARGE = Config(hidden=640, layers=10, heads=10, kv_heads=10, head_dim=64, ffn=1920)
TINY = Config(hidden=64, layers=2, heads=4, kv_heads=2, head_dim=16, ffn=128)
CONTEXT = 256


@dataclass(frozen=True, slots=True)
class StockPlan:
    """A model's sizes and the length of its training."""

    shape: Config
    steps: int
    batch: int
    rate: float
    text_mb: float
    """Megabytes of programs that are made for it."""


PLANS = {
    "tiny": StockPlan(TINY, steps=150, batch=8, rate=6e-3, text_mb=0.3),
    "large": StockPlan(LARGE, steps=3000, batch=128, rate=6e-4, text_mb=50.0),
}


def main(arguments: list[str] | None = None) -> int:
    """Train, write the folder, print its record."""
    chosen = _parse(arguments)
    record = train(
        PLANS[chosen.size], chosen.out, device=chosen.device, seed=chosen.seed,
        steps=chosen.steps, seconds=chosen.seconds,
    )  # fmt: skip
    print(json.dumps(record, indent=2))
    return 0


def train(
    plan: StockPlan, out: Path, *, device: str = "cpu", seed: int = 1, steps: int = 0,
    seconds: float = 0.0,
) -> dict[str, Any]:  # fmt: skip
    """Train the model of a plan and save it below `out`; its record. `steps`, `seconds`: 0 for the
    plan's, and for no end by the clock. Raises OSError where the folder cannot be written."""
    out.mkdir(parents=True, exist_ok=True)
    torch.random.manual_seed(seed)  # pyright: ignore[reportUnknownMemberType]
    place, count = torch.device(device), steps or plan.steps
    model = Qwen3(plan.shape).to(place)
    raw = "\n".join(corpus.text(name) for name in corpus.names(CorpusPart.TRAIN)).encode()
    made = programs.stream(CorpusPart.TRAIN, seed=seed, size=int(plan.text_mb * 1e6))
    batches = mixed(
        byte_tensor(raw, place), byte_tensor(made, place), batch=plan.batch, length=CONTEXT + 1,
        steps=count, seed=seed,
    )  # fmt: skip
    recipe = PretrainingRecipe(
        steps=count, rate=plan.rate, warmup=min(200, count // 10 + 1), seconds=seconds or math.inf
    )
    done = pretrain(model, batches, recipe=recipe, report=_report)
    weights = export_weights(model)
    held = programs.stream(CorpusPart.DEV, seed=seed, size=100 * (CONTEXT + 1))
    windows = byte_tensor(held, place).view(-1, CONTEXT + 1).long()
    kept = from_weights(plan.shape, weights).to(place)
    record = {
        "parameters": plan.shape.parameters,
        "steps": done,
        "bytes_seen": done * plan.batch * CONTEXT,
        "dev_bits_per_byte": round(nats_per_token(kept, windows) / math.log(2), 4),
        "device": device,
        "seed": seed,
        "torch": torch.__version__,
    }
    (out / "model.safetensors").write_bytes(save(weights, metadata={"format": "pt"}))
    (out / "config.json").write_text(json.dumps(plan.shape.to_huggingface(), indent=2) + "\n")
    (out / "stock.json").write_text(json.dumps(record, indent=2) + "\n")
    return record


def _report(step: int, loss: float) -> None:
    print(f"step {step}: {loss / math.log(2):.3f} bits a byte", file=sys.stderr, flush=True)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder to be written")
    parser.add_argument("--size", choices=sorted(PLANS), default="large")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=0, help="0: those of the size")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so long; 0: never")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
