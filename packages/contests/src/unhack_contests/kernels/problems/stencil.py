"""Jacobi steps on a grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, SizeAxis, Sizes, normal


def draw(rng: Generator, n: Sizes) -> Arrays:
    return {"u": normal(rng, n["h"], n["w"])}


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    y = given["u"].astype(np.float64)
    for _ in range(n["steps"]):
        inner = y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:]
        y = y.copy()
        y[1:-1, 1:-1] = 0.25 * inner
    return {"y": y}


PROBLEM = KernelProblem(
    title="Jacobi steps",
    text="y = u after `steps` steps. A step replaces every inner point of the h x w grid by the "
    "mean of its four neighbours before the step; the border stays as it is.",
    arrays=(
        Array("u", "float32", ("h", "w"), free=True, scaled=True),
        Array("y", "float32", ("h", "w"), out=True),
    ),
    axes=(SizeAxis("h", 768, 64), SizeAxis("w", 768, 64), SizeAxis("steps", 6, 4, fixed=True)),
    draw=draw,
    oracle=oracle,
    traffic=lambda n: 8.0 * n["h"] * n["w"],
)
