"""The largest probabilities of each row, as samplers of language models need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, SizeAxis, Sizes, normal


def draw(rng: Generator, n: Sizes) -> Arrays:
    return {"x": normal(rng, n["rows"], n["cols"]) * np.float32(3)}


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    x = given["x"].astype(np.float64)
    index = np.argsort(-x, axis=1, kind="stable")[:, : n["k"]]
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return {"p": np.take_along_axis(weights, index, axis=1), "index": index}


PROBLEM = KernelProblem(
    title="Softmax and its k largest",
    text="p[r][0..k) are the k largest values of softmax(x[r]), largest first, and index[r] their "
    "columns; of equal values the lower column comes first.",
    arrays=(
        Array("x", "float32", ("rows", "cols"), free=True),
        Array("p", "float32", ("rows", "k"), out=True),
        Array("index", "int32", ("rows", "k"), out=True),
    ),
    axes=(SizeAxis("rows", 512, 24), SizeAxis("cols", 1024, 128), SizeAxis("k", 8, 8, fixed=True)),
    draw=draw,
    oracle=oracle,
    traffic=lambda n: 4.0 * n["rows"] * n["cols"],
)
