"""Errors of eager PyTorch and of narrower formats on the GPU problems, and the line between them.

    python benchmarks/tournament_gpu_errors.py [--seed N]

Runs on the processor: sums are as long as in the listed sizes, rows and pictures fewer. `eager` is
the largest error of the reference in the problem's own format, `bound` what honest arithmetic stays
below, `allowed` the line, `narrower` the error of inputs in the next narrower format (float32: 11
bits; bfloat16: 4). All are relative to an element and its row (`gpu.oracle`).
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "packages/contests/src"))

from unhack_contests.kernels.gpu import oracle
from unhack_contests.kernels.gpu.problem import NARROWER, UNITS
from unhack_contests.kernels.gpu.problems import registry

FEWER = {
    "rows": 150, "batch": 2, "m": 100, "n": 90, "nodes": 1500, "edges": 15_000, "tokens": 120,
    "heads": 2, "outer": 20, "height": 20, "width": 0, "patches": 6,
}  # fmt: skip
"""Sizes that no sum runs over; 0: as listed."""


def sizes_of(name: str) -> dict[str, int]:
    """Listed sizes with fewer rows."""
    listed = registry.find(name).listed(small=False)
    fewer = {key: FEWER.get(key) or size for key, size in listed.items()}
    if name == "segmented_cumsum":
        return {"n": 300_000, "segments": 200}
    if name == "csr_matmul":
        return {**fewer, "rows": 1500, "cols": 1500}
    if name == "transformer_block":
        return {**fewer, "time": 300, "heads": 4}
    return fewer


def main() -> None:
    """Print a row for each problem with a tolerance."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    oracle.DEVICE = "cpu"
    torch.set_num_threads(1)
    print(f"{'problem':18s} {'format':9s} {'eager':>8s} {'bound':>8s} {'allowed':>8s} narrower")
    for name in registry.NAMES:
        problem = registry.find(name)
        if problem.exact:
            continue
        shapes = dict.fromkeys((False, True), sizes_of(name))
        subject = oracle.OwnProblem(torch, problem, shapes, "cpu")
        case = oracle.GpuCase(torch, name, problem.level, "", [], {}, subject)
        inputs = case.inputs(hidden=False, seed=seed)
        truth = case.truth(inputs)
        eager = oracle.error_of(torch, subject.truth(inputs, {}, plain=True), truth)
        digits = NARROWER[problem.dtype][0]
        narrower = oracle.error_of(torch, case.truth(inputs, digits=digits), truth)
        bound = case.bound(inputs)
        base = max(UNITS[problem.dtype], bound / 32, min(eager, bound))
        line = max(2 * base, math.sqrt(base * min(narrower, 8 * 2.0**-digits)))
        print(
            f"{name:18s} {problem.dtype:9s} {eager:8.1e} {bound:8.1e} {line:8.1e} {narrower:8.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
