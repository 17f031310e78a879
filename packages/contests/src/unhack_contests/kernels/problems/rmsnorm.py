"""Root-mean-square normalisation of rows (Zhang and Sennrich, 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, SizeAxis, Sizes, normal


def draw(rng: Generator, n: Sizes) -> Arrays:
    x = normal(rng, n["rows"], n["stride"])
    x[:, n["cols"] :] = np.nan  # padding that must not be read
    return {"x": x, "w": normal(rng, n["cols"])}


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    x = given["x"][:, : n["cols"]].astype(np.float64)
    scale = 1 / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 1e-6)
    return {"y": x * scale * given["w"]}


PROBLEM = KernelProblem(
    title="RMSNorm",
    text="y[r][c] = x[r][c] * w[c] / sqrt(mean over c of x[r][c]^2 + 1e-6). Row r of x starts at "
    "x + r*stride; only its first cols elements count. y has no padding.",
    arrays=(
        Array("x", "float32", ("rows", "stride"), scaled=True),
        Array("w", "float32", ("cols",), free=True),
        Array("y", "float32", ("rows", "cols"), out=True),
    ),
    axes=(SizeAxis("rows", 2048, 96), SizeAxis("cols", 1024, 128)),
    derived=lambda n: {"stride": n["cols"] + (n["cols"] % 2) * 8},
    draw=draw,
    oracle=oracle,
    traffic=lambda n: 8.0 * n["rows"] * n["cols"],
)
