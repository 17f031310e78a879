"""Prefix sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, SizeAxis, Sizes


def draw(rng: Generator, n: Sizes) -> Arrays:
    return {"x": rng.integers(-(2**31), 2**31, n["n"], np.int64).astype(np.int32)}


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    return {"y": np.cumsum(given["x"], dtype=np.int64)}


PROBLEM = KernelProblem(
    title="Prefix sum",
    text="y[i] = x[0] + ... + x[i], in 64 bits.",
    arrays=(
        Array("x", "int32", ("n",), free=True),
        Array("y", "int64", ("n",), out=True),
    ),
    axes=(SizeAxis("n", 1_500_000, 40_000),),
    draw=draw,
    oracle=oracle,
    traffic=lambda n: 12.0 * n["n"],
    exact=True,
)
