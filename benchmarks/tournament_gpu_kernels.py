"""Judge the honest GPU kernels and the cheats that ship, on one card, each in sealed workers.

    PYTHONPATH=src python3 benchmarks/tournament_gpu_kernels.py [--only WORDS] [--pairs N]
        [--seed N] [--device cuda:N] [--seconds S] [--share K/N] [--out FILE]
    PYTHONPATH=src python3 benchmarks/tournament_gpu_kernels.py --join FILE... [--machine TEXT]

Every honest strategy and every cheat plays its problems through the judge that `unhack tournament
run kernels --option device=cuda` uses; so does each reference against itself (`control`). The exit
code is 0 when every honest row is valid and unflagged, every cheat scores 0 with the flag that it
names (none: it is invalid), and the repeat error of each control (A/A) is at most 2 %.

The repeat error is 2^n - 1, where n (`aa_noise`) is the end of the 95 % interval of the control's
gain (in log2) that is farther from 0. Pairs are the least number of calls: see
`kernels.calls.stopping`.

Rows are written as they end, to FILE (`$OUT/gpu_kernels.jsonl`). A row that stands there is not
judged again, unless its judging failed: the same command resumes. `--share 2/4` judges the second
of four parts of the shuffled rows, so that four cards share them; `--seconds` starts no row after
that time. A summary of FILE is written beside it at the end, also when it is interrupted, and
`--join` writes that of several files to `tournament_gpu_kernels.json` in $OUT or here. Judging
needs a CUDA build of PyTorch, Triton and nvcc; joining does not. No network.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[1] / "src"
sys.path[:0] = [str(SOURCE), str(SOURCE.parent / "packages/contests/src")]

import gpu_kernel_rows  # noqa: E402
from measure import host  # noqa: E402
from unhack.core.errors import UsageError  # noqa: E402
from unhack.tournament.contest import DataPool, Files  # noqa: E402
from unhack_contests.kernels import score  # noqa: E402
from unhack_contests.kernels.calls.stopping import MOST_ERROR  # noqa: E402
from unhack_contests.kernels.gpu import corpus, honest  # noqa: E402
from unhack_contests.kernels.gpu.measure import check_card, measure  # noqa: E402
from unhack_contests.kernels.gpu.problems.registry import NAMES  # noqa: E402
from unhack_contests.kernels.gpu.settings import GpuOptions  # noqa: E402

SUMMARY = "tournament_gpu_kernels.json"


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
                outcome["ok"] = outcome["ok"] and outcome["aa_error"] <= MOST_ERROR
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


def judge_all(arguments: argparse.Namespace) -> dict[str, Any]:
    """Judge what is left of the share: the summary of the file. Ctrl-C and SIGTERM end it early."""
    card = check_card(arguments.device).card
    place = {"card": card.name, "machine": f"1 {card.name}; {host()}"}
    print(place["machine"], flush=True)
    words = [word for word in arguments.only.split(",") if word]
    every = gpu_kernel_rows.chosen(rows(), words=words, seed=arguments.seed, share=arguments.share)
    waiting = gpu_kernel_rows.left(every, _read(arguments))
    print(f"{len(waiting)} of {len(every)} rows are left", flush=True)
    started = time.monotonic()
    try:
        for row in waiting:
            if time.monotonic() - started > arguments.seconds:
                print(f"stopped before {row.name}: the time is up", flush=True)
                break
            made = run(row, arguments)
            made |= {"seed": arguments.seed, "pairs": arguments.pairs, **place}
            gpu_kernel_rows.append(arguments.out, made)
            show(made)
    except KeyboardInterrupt:
        print("interrupted: the same command goes on where this one stopped", flush=True)
    found = gpu_kernel_rows.summary(_read(arguments), every)
    arguments.out.with_suffix(".summary.json").write_text(gpu_kernel_rows.text_of(found))
    return found


def _read(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of the file. Raises UsageError where they were judged in another way."""
    found = gpu_kernel_rows.read(arguments.out)
    for row in found:
        for name in gpu_kernel_rows.SAME:
            if row.get(name) != getattr(arguments, name):
                raise UsageError(
                    f"{arguments.out} has rows with {name}={row.get(name)}, not "
                    f"{getattr(arguments, name)}: give another file with --out"
                )
    return found


def join(arguments: argparse.Namespace) -> dict[str, Any]:
    """The summary of several files. Raises UsageError."""
    for path in arguments.join:
        if not path.exists():
            raise UsageError(f"{path} is not there: give files of rows to --join")
    every = [row for path in arguments.join for row in gpu_kernel_rows.read(path)]
    found = gpu_kernel_rows.summary(every, rows(), machine=arguments.machine)
    path = Path(os.environ.get("OUT", "."), SUMMARY)
    path.write_text(gpu_kernel_rows.text_of(found))
    print(f"{path}: {found['as_they_must_be']} of {found['judged']} rows are as they must be, "
          f"{found['not_judged']} were not judged")  # fmt: skip
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Judge or join; 0 when all rows came out as they have to, 2 for what cannot be done."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="words that a row's name or kind begins with")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--seed", type=int, default=20261125)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--share", default="1/1", metavar="K/N", help="the K-th of N parts")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "."),
                                                         "gpu_kernels.jsonl"))  # fmt: skip
    parser.add_argument("--join", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--machine", default="", help="of joined rows that do not say")
    arguments = parser.parse_args(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        found = join(arguments) if arguments.join else judge_all(arguments)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if found["as_they_must_be"] == found["judged"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
