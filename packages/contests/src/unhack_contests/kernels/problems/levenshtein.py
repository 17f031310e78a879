"""Edit distance (Wagner and Fischer, 1974)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, SizeAxis, Sizes


def draw(rng: Generator, n: Sizes) -> Arrays:
    a = rng.integers(0, 8, (n["pairs"], n["n"]), np.uint8)
    b = np.resize(a, (n["pairs"], n["m"]))
    changed = rng.random(b.shape, np.float32) < 0.5
    b[changed] = rng.integers(0, 8, int(changed.sum()), np.uint8)
    return {"a": a, "b": b}


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    a, b = given["a"], given["b"]
    steps = np.arange(n["m"] + 1)
    row = np.tile(steps, (n["pairs"], 1))
    for i in range(n["n"]):
        same = (a[:, i, None] == b).astype(np.int64)
        best = np.empty_like(row)
        best[:, 0] = i + 1
        best[:, 1:] = np.minimum(row[:, 1:] + 1, row[:, :-1] + (1 - same))
        # What one gets by inserting: the least of all that lies to the left, plus the distance.
        row = np.minimum.accumulate(best - steps, axis=1) + steps
    return {"distance": row[:, -1]}


PROBLEM = KernelProblem(
    title="Edit distance",
    text="distance[p] = the least number of insertions, deletions and replacements of single bytes "
    "that turn the n bytes of a[p] into the m bytes of b[p].",
    arrays=(
        Array("a", "uint8", ("pairs", "n"), free=True),
        Array("b", "uint8", ("pairs", "m"), free=True),
        Array("distance", "int32", ("pairs",), out=True),
    ),
    axes=(SizeAxis("pairs", 16, 8), SizeAxis("n", 320, 40), SizeAxis("m", 320, 40)),
    draw=draw,
    oracle=oracle,
    traffic=lambda n: n["pairs"] * (n["n"] + n["m"] + 4.0),
    exact=True,
)
