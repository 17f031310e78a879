"""Sparse matrix times vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, SizeAxis, Sizes, normal


def draw(rng: Generator, n: Sizes) -> Arrays:
    ends = np.sort(rng.integers(0, n["nnz"] + 1, n["rows"] - 1))
    return {
        "a": normal(rng, n["nnz"]),
        "col": rng.integers(0, n["cols"], n["nnz"], np.int32),
        "start": np.concatenate([[0], ends, [n["nnz"]]]).astype(np.int32),
        "x": normal(rng, n["cols"]),
    }


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    products = given["a"].astype(np.float64) * given["x"].astype(np.float64)[given["col"]]
    row = np.repeat(np.arange(n["rows"]), np.diff(given["start"]))
    return {"y": np.bincount(row, weights=products, minlength=n["rows"])}


PROBLEM = KernelProblem(
    title="Sparse matrix times vector",
    text="y[r] = sum over e from start[r] to start[r+1]-1 of a[e] * x[col[e]]. Rows may be empty; "
    "columns come in any order and may repeat.",
    arrays=(
        Array("a", "float32", ("nnz",), free=True, scaled=True),
        Array("col", "int32", ("nnz",), free=True),
        Array("start", "int32", ("rows+1",)),
        Array("x", "float32", ("cols",), free=True),
        Array("y", "float32", ("rows",), out=True),
    ),
    axes=(SizeAxis("rows", 40_000, 2000), SizeAxis("cols", 40_000, 2000)),
    derived=lambda n: {"nnz": 16 * n["rows"]},
    draw=draw,
    oracle=oracle,
    traffic=lambda n: 8.0 * n["nnz"] + 8.0 * n["rows"],
)
