"""Causal scaled dot-product attention (Vaswani et al., 2017)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, SizeAxis, Sizes, normal


def draw(rng: Generator, n: Sizes) -> Arrays:
    shape = n["heads"], n["n"], n["d"]
    return {name: normal(rng, *shape) for name in "qkv"}


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    q, k, v = (given[name].astype(np.float64) for name in "qkv")
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(n["d"])
    scores[:, ~np.tri(n["n"], dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return {"o": weights / weights.sum(axis=2, keepdims=True) @ v}


PROBLEM = KernelProblem(
    title="Causal attention",
    text="For each head: o[i] = sum over j <= i of p[i][j] * v[j], with p[i] the softmax over "
    "j <= i of (q[i] . k[j]) / sqrt(d). All arrays are heads x n x d.",
    arrays=(
        Array("q", "float32", ("heads", "n", "d"), free=True),
        Array("k", "float32", ("heads", "n", "d"), free=True),
        Array("v", "float32", ("heads", "n", "d"), free=True, scaled=True),
        Array("o", "float32", ("heads", "n", "d"), out=True),
    ),
    axes=(SizeAxis("heads", 4, 2), SizeAxis("n", 256, 48), SizeAxis("d", 64, 32, step=8)),
    draw=draw,
    oracle=oracle,
    traffic=lambda n: 16.0 * n["heads"] * n["n"] * n["d"],
    flops=lambda n: 2.0 * n["heads"] * n["n"] * (n["n"] + 1) * n["d"],
)
