"""Builds the checkpoint of a byte model that the package ships.

    python -m unhack.models.train_nano --device cuda

Text: in the first half of the steps a third is the library's training files as they are, the rest
programs of `models.programs` with their shapes; in the second half programs alone. That is what the
model is judged on, with other seeds and with the shapes of files it never saw.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from safetensors.numpy import save
from torch import Tensor

from unhack.models import corpus, programs
from unhack.models.config import NANO
from unhack.models.corpus import CorpusPart
from unhack.models.pretrain import (
    PretrainingRecipe,
    byte_tensor,
    mixed,
    nats_per_token,
    pretrain,
)
from unhack.models.qwen3 import Qwen3, export_weights, from_weights

CONTEXT = 256


def main(arguments: list[str] | None = None) -> int:
    """Train, write OUT (safetensors, float16) and OUT's manifest (JSON) beside it."""
    chosen = _parse(arguments)
    torch.random.manual_seed(chosen.seed)  # pyright: ignore[reportUnknownMemberType]
    device = torch.device(chosen.device)
    raw = "\n".join(corpus.text(name) for name in corpus.names(CorpusPart.TRAIN)).encode()
    made = programs.stream(CorpusPart.TRAIN, seed=chosen.seed, size=int(chosen.generated_mb * 1e6))
    batches = mixed(
        byte_tensor(raw, device), byte_tensor(made, device), batch=chosen.batch,
        length=CONTEXT + 1, steps=chosen.steps, seed=chosen.seed,
    )  # fmt: skip
    held = _windows(programs.stream(CorpusPart.DEV, seed=chosen.seed, size=200_000), device)
    model = Qwen3(NANO).to(device)
    compiled: Any = cast("Any", torch).compile(model) if chosen.compile else model
    recipe = PretrainingRecipe(
        steps=chosen.steps, rate=chosen.rate, seconds=chosen.seconds or float("inf")
    )

    def report(step: int, loss: float) -> None:
        if step % 500 == 0:
            print(f"step {step}: {loss / np.log(2):.3f} bits a byte", file=sys.stderr, flush=True)

    done = pretrain(model, batches, recipe=recipe, logits=compiled, report=report)
    weights = export_weights(model)
    kept = from_weights(NANO, weights).to(device)
    data = save(weights)
    manifest = {
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "parameters": NANO.parameters,
        "config": asdict(NANO),
        "steps": done,
        "bytes_seen": done * chosen.batch * CONTEXT,
        "dev_bits_per_byte": round(nats_per_token(kept, held) / float(np.log(2)), 4),
        "python": sys.version.split()[0],
        "command": f"python -m unhack.models.train_nano --steps {chosen.steps} "
        f"--batch {chosen.batch} --rate {chosen.rate} --generated-mb {chosen.generated_mb} "
        f"--seconds {chosen.seconds} --seed {chosen.seed} --device {chosen.device}",
    }
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_bytes(data)
    text = json.dumps(manifest, indent=2) + "\n"
    chosen.out.with_suffix(".json").write_text(text)
    print(text)
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("nano.safetensors"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=12_000)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rate", type=float, default=4e-3)
    parser.add_argument("--generated-mb", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so long; 0: never")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    return parser.parse_args(arguments)


def _windows(data: bytes, device: torch.device) -> Tensor:
    whole = len(data) // (CONTEXT + 1) * (CONTEXT + 1)
    return byte_tensor(data[:whole], device).view(-1, CONTEXT + 1).long()


if __name__ == "__main__":
    sys.exit(main())
