"""One GPU run of the quantization contest: train a Qwen3 model, save it, judge submissions of it.

    PYTHONPATH=src python3 benchmarks/tournament_gpu_quantization.py --out FOLDER --device cuda

Trains a model of at least 0.3 billion parameters on bytes of the standard library and of generated
programs, until it is clearly below the entropy of single bytes; writes it as a checkpoint that
transformers reads; then measures honest submissions and cheats with `model=PATH device=cuda`. The
reference runs on the GPU through transformers. Both stages of a submission run sealed on the CPU:
a process that may open the GPU's device nodes could read what the judge leaves in device memory.
`--tiny` is the same in a minute on two cores, with a model of the package's size.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file

from measure import host
from unhack.models import corpus, programs
from unhack.models.config import NANO, Config
from unhack.models.corpus import CorpusPart
from unhack.models.pretrain import PretrainingRecipe, crops, nats_per_token, pretrain
from unhack.models.qwen3 import Qwen3, export_weights
from unhack.tournament.contest import DataPool, Files
from unhack.tournament.contests.registry import load_contest

LARGE = Config(hidden=1024, layers=26, heads=16, kv_heads=8, head_dim=64, ffn=3072)
LENGTH = 257


def main() -> None:
    chosen = _parsed()
    chosen.out.mkdir(parents=True, exist_ok=True)
    device = torch.device(chosen.device)
    name = torch.cuda.get_device_name() if device.type == "cuda" else ""
    report: dict[str, Any] = {
        "command": "python benchmarks/tournament_gpu_quantization.py --out FOLDER --device cuda",
        "machine": f"1 {name}; {host()}" if name else host(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "checkpoint"
        report["training"] = train(folder, chosen, device)
        _write(chosen.out, report)
        torch.cuda.empty_cache()
        report["judged"] = []
        for row in judge(folder, chosen):
            report["judged"].append(row)
            _write(chosen.out, report)
            print(json.dumps(row), flush=True)


def train(folder: Path, chosen: argparse.Namespace, device: torch.device) -> dict[str, Any]:
    """Train for the given time and save; what came of it."""
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    shape = NANO if chosen.tiny else LARGE
    megabytes = 3 if chosen.tiny else 150
    raw = "\n".join(corpus.text(name) for name in corpus.names(CorpusPart.TRAIN)).encode()
    text = raw + programs.stream(CorpusPart.TRAIN, seed=1, size=megabytes * 1_000_000)
    data = torch.tensor(np.frombuffer(text, dtype=np.uint8), device=device)
    held = np.frombuffer(programs.stream(CorpusPart.DEV, seed=2, size=40 * LENGTH), dtype=np.uint8)
    windows = torch.tensor(held, device=device).view(-1, LENGTH).long()
    model = Qwen3(shape).to(device)
    batch = 8 if chosen.tiny else chosen.batch
    recipe = PretrainingRecipe(
        steps=1_000_000, rate=3e-3 if chosen.tiny else 6e-4, warmup=100, seconds=chosen.seconds
    )
    started = time.monotonic()

    def say(step: int, loss: float) -> None:
        spent = time.monotonic() - started
        print(f"step {step}: {loss / math.log(2):.3f} bits a byte, {spent:.0f} s", flush=True)

    steps = pretrain(
        model, crops(data, batch=batch, length=LENGTH, seed=1), recipe=recipe, report=say
    )
    seconds = time.monotonic() - started
    model.eval()
    bits = nats_per_token(model, windows) / math.log(2)
    counts = np.bincount(held, minlength=256) / len(held)
    unigram = float(-(counts[counts > 0] * np.log2(counts[counts > 0])).sum())
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(shape.to_huggingface(), indent=2))
    save_file(export_weights(model), folder / "model.safetensors", metadata={"format": "pt"})
    return {
        "parameters": shape.parameters,
        "steps": steps,
        "bytes_seen": steps * batch * (LENGTH - 1),
        "seconds": round(seconds, 1),
        "bytes_per_second": round(steps * batch * (LENGTH - 1) / seconds),
        "held_out_bits_per_byte": round(bits, 4),
        "unigram_bits_per_byte": round(unigram, 4),
    }


def judge(folder: Path, chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Measurements of some submissions, one at a time."""
    options = {"model": str(folder), "device": chosen.device, "windows": "16", "segments": "2"}
    if chosen.tiny:
        options |= {"length": "64", "positions": "0", "memory_mib": "3072"}
    contest = load_contest("quantization", options)
    honest, cheats = contest.submissions.honest(), contest.submissions.cheats()
    entries: list[tuple[str, Files, str]] = [
        ("rtn4", honest["rtn4"], ""),
        ("noncausal_peek", cheats["noncausal_peek"].files, cheats["noncausal_peek"].flag),
        ("rtn8", honest["rtn8"], ""),
        ("identity", contest.submissions.identity(), ""),
        ("online_learning", cheats["online_learning"].files, cheats["online_learning"].flag),
    ]
    started = time.monotonic()
    for name, files, expected in entries:
        if time.monotonic() - started > chosen.judge_seconds:
            return
        yield _measured(contest, name, files, expected)


def _measured(contest: Any, name: str, files: Files, expected: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        for path, content in files.items():
            (Path(folder) / path).write_bytes(content)
        started = time.monotonic()
        measured = contest.measure(Path(folder), pool=DataPool.JUDGE, seed=7)
        flags = [*measured.flags, *(contest.bounds(measured) if measured.valid else ())]
        return {
            "submission": name,
            "fitness": round(measured.fitness, 4),
            "interval": [round(measured.low, 4), round(measured.high, 4)],
            "reason": measured.reason,
            "flags": {flag.kind: flag.evidence for flag in flags},
            "expected_flag": expected,
            "seconds": round(time.monotonic() - started, 1),
            **measured.metrics,
        }


def _write(folder: Path, report: dict[str, Any]) -> None:
    path = folder / "tournament_gpu_quantization.json"
    path.write_text(json.dumps(report, indent=2) + "\n")


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=200.0, help="of training")
    parser.add_argument("--judge-seconds", type=float, default=240.0, help="no new one after that")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--tiny", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
