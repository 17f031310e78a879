"""Gravitation of bodies on one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, SizeAxis, Sizes, normal


def draw(rng: Generator, n: Sizes) -> Arrays:
    return {"p": normal(rng, n["n"], 3), "m": rng.random(n["n"], np.float32)}


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    p, m = given["p"].astype(np.float64), given["m"].astype(np.float64)
    square = (p * p).sum(axis=1)
    apart = np.maximum(square[:, None] + square - 2 * (p @ p.T), 0) + 1e-2
    weight = m / (apart * np.sqrt(apart))
    return {"a": weight @ p - weight.sum(axis=1, keepdims=True) * p}


PROBLEM = KernelProblem(
    title="N bodies",
    text="a[i] = sum over j of m[j] * (p[j] - p[i]) / (|p[j] - p[i]|^2 + 0.01)^1.5, in three "
    "dimensions.",
    arrays=(
        Array("p", "float32", ("n", "3"), free=True),
        Array("m", "float32", ("n",), free=True, scaled=True),
        Array("a", "float32", ("n", "3"), out=True),
    ),
    axes=(SizeAxis("n", 1024, 160),),
    draw=draw,
    oracle=oracle,
    traffic=lambda n: 28.0 * n["n"],
)
