"""Matrix-vector product with weights in 8 bits and one scale for each group of 32."""

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
    normal,
    uniform_bytes,
)


def draw(rng: Generator, n: Sizes) -> Arrays:
    return {
        "q": uniform_bytes(rng, (n["rows"], n["cols"]), "int8"),
        "s": rng.random((n["rows"], n["groups"]), np.float32),
        "x": normal(rng, n["cols"]),
    }


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    x = given["x"].astype(np.float64).reshape(n["groups"], 32, 1)
    q = given["q"].reshape(n["rows"], n["groups"], 32)
    sums = np.matmul(q.transpose(1, 0, 2).astype(np.float64), x)[:, :, 0]
    return {"y": np.einsum("gr,rg->r", sums, given["s"].astype(np.float64))}


PROBLEM = KernelProblem(
    title="Matrix-vector product with 8-bit weights",
    text="y[r] = sum over c of q[r][c] * s[r][c/32] * x[c]. cols is a multiple of 32, groups is "
    "cols/32, and s has groups scales in each row.",
    arrays=(
        Array("q", "int8", ("rows", "cols"), free=True),
        Array("s", "float32", ("rows", "groups"), free=True),
        Array("x", "float32", ("cols",), free=True, scaled=True),
        Array("y", "float32", ("rows",), out=True),
    ),
    axes=(SizeAxis("rows", 2048, 96), SizeAxis("cols", 2048, 256, step=32)),
    derived=lambda n: {"groups": n["cols"] // 32},
    draw=draw,
    oracle=oracle,
    traffic=lambda n: n["rows"] * (n["cols"] + 4.0 * n["groups"]),
)
