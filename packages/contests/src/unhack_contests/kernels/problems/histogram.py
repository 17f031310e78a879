"""Counts of byte values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import (
    Array,
    Arrays,
    KernelProblem,
    SizeAxis,
    Sizes,
    uniform_bytes,
)


def draw(rng: Generator, n: Sizes) -> Arrays:
    x = uniform_bytes(rng, (n["n"],), "uint8")
    # One, two or four values make up half of the input, and which ones is anybody's guess.
    common = np.uint8(rng.choice([0, 1, 3]))
    return {"x": np.where(x < 128, x & common, x) ^ np.uint8(rng.integers(256))}


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    return {"counts": np.bincount(given["x"], minlength=256)}


PROBLEM = KernelProblem(
    title="Histogram",
    text="counts[v] = how many of the n bytes x equal v, for the 256 values of v.",
    arrays=(
        Array("x", "uint8", ("n",), free=True),
        Array("counts", "int32", ("256",), out=True),
    ),
    axes=(SizeAxis("n", 4_000_000, 60_000),),
    draw=draw,
    oracle=oracle,
    traffic=lambda n: 1.0 * n["n"],
    exact=True,
)
