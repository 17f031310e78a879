"""Judge the honest GPU kernels and the cheats that ship, on one card, each in sealed workers.

    PYTHONPATH=src python3 benchmarks/tournament_gpu_kernels.py [--only WORDS] [--pairs N]
        [--seed N] [--device cuda:N] [--seconds S]

Every honest strategy and every cheat plays its problems through the judge that `unhack tournament
run kernels --option device=cuda` uses; so does each reference against itself (`control`). The exit
code is 0 when every honest row is valid and unflagged, every cheat scores 0 with the flag that it
names (none: it is invalid), and the repeat error of each control (A/A) is at most 2 %.

Rows are written as they end, to $OUT/gpu_kernels.jsonl where OUT is set, and a summary to
$OUT/tournament_gpu_kernels.json; `--seconds` starts no row after that time. Needs a CUDA build of
PyTorch, Triton and nvcc; no network.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[1] / "src"
sys.path.insert(0, str(SOURCE))

from measure import host  # noqa: E402
from unhack.tournament.contest import DataPool, Files  # noqa: E402
from unhack.tournament.contests.kernels import score  # noqa: E402
from unhack.tournament.contests.kernels.gpu import corpus, honest  # noqa: E402
from unhack.tournament.contests.kernels.gpu.measure import check_card, measure  # noqa: E402
from unhack.tournament.contests.kernels.gpu.problems.registry import NAMES  # noqa: E402
from unhack.tournament.contests.kernels.gpu.settings import GpuOptions  # noqa: E402

MOST_NOISE = 0.02
KEPT = ("kind", "name", "expected", "ok", "fitness", "low", "high", "aa_error", "seconds", "error")
"""Of a row in the summary."""


@dataclass(frozen=True, slots=True)
class Row:
    """One submission to judge."""

    kind: str
    """`control`, `honest` or `cheat`."""
    name: str
    problem: str
    files: Files
    flag: str = ""
    """Of a cheat; empty: it is invalid without an accusation."""


def rows() -> Iterator[Row]:
    """Everything that is judged, problem by problem."""
    for problem in NAMES:
        yield Row("control", f"reference.{problem}", problem, honest.reference([problem]))
    for kind in ("honest", "cheats"):
        for name, entry in corpus.entries(kind).items():
            yield Row(kind.removesuffix("s"), name, entry.problem, entry.files, entry.flag)


def run(row: Row, arguments: argparse.Namespace) -> dict[str, Any]:
    """Judge one row."""
    started = time.perf_counter()
    options = GpuOptions(arguments.device, (row.problem,), arguments.pairs)
    try:
        with tempfile.TemporaryDirectory(prefix="unhack-gpu-") as folder:
            for path, content in row.files.items():
                (Path(folder) / path).write_bytes(content)
            found = measure(options, Path(folder), pool=DataPool.JUDGE, seed=arguments.seed)
        flags = (*found.flags, *score.bounds(found))
        kinds = {flag.kind for flag in flags}
        outcome: dict[str, Any] = {
            "fitness": 0.0 if flags else found.fitness, "low": found.low, "high": found.high,
            "reason": found.reason, "metrics": dict(found.metrics),
            "flags": {flag.kind: flag.evidence for flag in flags},
        }  # fmt: skip
        if row.kind == "cheat":
            ok = not found.valid or bool(kinds)
            outcome["ok"] = ok and (not row.flag or row.flag in kinds)
        else:
            outcome["ok"] = found.valid and not kinds
            noise = float(found.metrics.get(score.AA_NOISE, 0.0))
            outcome["aa_error"] = round(2.0 ** abs(noise) - 1, 4)
            if row.kind == "control":
                outcome["ok"] = outcome["ok"] and outcome["aa_error"] <= MOST_NOISE
    except Exception as error:
        outcome = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        outcome["traceback"] = traceback.format_exc()[-2000:]
    seconds = round(time.perf_counter() - started, 1)
    return {"kind": row.kind, "name": row.name, "expected": row.flag, "seconds": seconds} | outcome


def show(row: dict[str, Any]) -> None:
    """One line, and more where something went wrong."""
    kinds = ",".join(row.get("flags", {})) or "-"
    words = row.get("error") or row.get("reason") or ""
    print(
        f"{'ok ' if row['ok'] else 'BAD'} {row['kind']:8s}{row['name']:28s} fitness "
        f"{row.get('fitness', 0):.3f} [{row.get('low', 0):.3f}, {row.get('high', 0):.3f}] A/A "
        f"{row.get('aa_error', '-')} {kinds} {row['seconds']} s {words[:200]}",
        flush=True,
    )
    if "traceback" in row:
        print(row["traceback"], flush=True)


def main() -> int:
    """Judge all rows; 0 when all came out as they have to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="words that a row's name or kind begins with")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--seed", type=int, default=20261125)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=3600.0)
    arguments = parser.parse_args()
    card = check_card(arguments.device).card
    print(f"{card.name}, {host()}", flush=True)
    wanted = [word for word in arguments.only.split(",") if word]
    chosen = [row for row in rows() if not wanted or f"{row.kind} {row.name}".startswith(
        tuple(wanted)) or row.name.startswith(tuple(wanted))]  # fmt: skip
    random.Random(arguments.seed).shuffle(chosen)
    started = time.monotonic()
    done: list[dict[str, Any]] = []
    for row in chosen:
        if time.monotonic() - started > arguments.seconds:
            print(f"stopped before {row.name}: the time is up", flush=True)
            break
        made = run(row, arguments)
        done.append(made)
        show(made)
        if os.environ.get("OUT"):
            with Path(os.environ["OUT"], "gpu_kernels.jsonl").open("a") as file:
                file.write(json.dumps({"card": card.name, **made}, default=str) + "\n")
    if os.environ.get("OUT"):
        summary = {
            "command": "python benchmarks/tournament_gpu_kernels.py",
            "machine": f"1 {card.name}; {host()}", "seed": arguments.seed, "pairs": arguments.pairs,
            "rows": [{key: row[key] for key in KEPT if key in row} for row in done],
        }  # fmt: skip
        path = Path(os.environ["OUT"], "tournament_gpu_kernels.json")
        path.write_text(json.dumps(summary, indent=1) + "\n")
    return 0 if all(row["ok"] for row in done) else 1


if __name__ == "__main__":
    raise SystemExit(main())
