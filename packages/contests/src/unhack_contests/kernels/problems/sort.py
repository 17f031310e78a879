"""Sorting of floating-point numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, SizeAxis, Sizes, normal


def draw(rng: Generator, n: Sizes) -> Arrays:
    return {"x": normal(rng, n["n"])}


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    return {"y": np.sort(given["x"])}


PROBLEM = KernelProblem(
    title="Sort",
    text="y = the n numbers of x in ascending order. There are no NaNs.",
    arrays=(
        Array("x", "float32", ("n",), free=True, scaled=True),
        Array("y", "float32", ("n",), out=True),
    ),
    axes=(SizeAxis("n", 200_000, 6000),),
    draw=draw,
    oracle=oracle,
    traffic=lambda n: 8.0 * n["n"],
    exact=True,
)
