"""Depthwise convolution, rectifier and pooling in one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, SizeAxis, Sizes, normal


def draw(rng: Generator, n: Sizes) -> Arrays:
    return {"x": normal(rng, n["c"], n["h"], n["w"]), "f": normal(rng, n["c"], 3, 3)}


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    x = np.pad(given["x"].astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    f = given["f"].astype(np.float64)
    h, w = n["h"], n["w"]
    total = np.zeros((n["c"], h, w))
    for i in range(3):
        for j in range(3):
            total += f[:, i, j, None, None] * x[:, i : i + h, j : j + w]
    pooled = total[:, : h // 2 * 2, : w // 2 * 2].reshape(n["c"], h // 2, 2, w // 2, 2)
    return {"y": np.maximum(pooled.max(axis=(2, 4)), 0)}


PROBLEM = KernelProblem(
    title="Depthwise convolution, ReLU, max-pool",
    text="t[c] = the 3x3 cross-correlation of x[c] with f[c], zeros beyond the border, same size; "
    "y[c][i][j] = max(0, the four t[c][2i..2i+1][2j..2j+1]). y is h2 x w2, h2 = h/2 and w2 = w/2 "
    "rounded down.",
    arrays=(
        Array("x", "float32", ("c", "h", "w"), free=True, scaled=True),
        Array("f", "float32", ("c", "3", "3"), free=True),
        Array("y", "float32", ("c", "h2", "w2"), out=True),
    ),
    axes=(SizeAxis("c", 32, 4), SizeAxis("h", 128, 24), SizeAxis("w", 128, 24)),
    derived=lambda n: {"h2": n["h"] // 2, "w2": n["w"] // 2},
    draw=draw,
    oracle=oracle,
    traffic=lambda n: 4.0 * n["c"] * (n["h"] * n["w"] + n["h2"] * n["w2"]),
)
