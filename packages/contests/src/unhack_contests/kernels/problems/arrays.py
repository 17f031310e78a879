"""Kernels on plain arrays: counts, orders, sums, distances, grids, bodies, transforms."""

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


def _draw_histogram(rng: Generator, n: Sizes) -> Arrays:
    x = uniform_bytes(rng, (n["n"],), "uint8")
    # One, two or four values make up half of the input, and which ones is anybody's guess.
    common = np.uint8(rng.choice([0, 1, 3]))
    return {"x": np.where(x < 128, x & common, x) ^ np.uint8(rng.integers(256))}


HISTOGRAM = KernelProblem(
    name="histogram",
    title="Histogram",
    text="counts[v] = how many of the n bytes x equal v, for the 256 values of v.",
    arrays=(
        Array("x", "uint8", ("n",), free=True),
        Array("counts", "int32", ("256",), out=True),
    ),
    axes=(SizeAxis("n", 4_000_000, 60_000),),
    draw=_draw_histogram,
    oracle=lambda given, n: {"counts": np.bincount(given["x"], minlength=256)},
    traffic=lambda n: 1.0 * n["n"],
    exact=True,
)
"""Counts of byte values."""


SORT = KernelProblem(
    name="sort",
    title="Sort",
    text="y = the n numbers of x in ascending order. There are no NaNs.",
    arrays=(
        Array("x", "float32", ("n",), free=True, scaled=True),
        Array("y", "float32", ("n",), out=True),
    ),
    axes=(SizeAxis("n", 200_000, 6000),),
    draw=lambda rng, n: {"x": normal(rng, n["n"])},
    oracle=lambda given, n: {"y": np.sort(given["x"])},
    traffic=lambda n: 8.0 * n["n"],
    exact=True,
)
"""Sorting of floating-point numbers."""


SCAN = KernelProblem(
    name="scan",
    title="Prefix sum",
    text="y[i] = x[0] + ... + x[i], in 64 bits.",
    arrays=(
        Array("x", "int32", ("n",), free=True),
        Array("y", "int64", ("n",), out=True),
    ),
    axes=(SizeAxis("n", 1_500_000, 40_000),),
    draw=lambda rng, n: {"x": rng.integers(-(2**31), 2**31, n["n"], np.int64).astype(np.int32)},
    oracle=lambda given, n: {"y": np.cumsum(given["x"], dtype=np.int64)},
    traffic=lambda n: 12.0 * n["n"],
    exact=True,
)
"""Prefix sums."""


def _draw_levenshtein(rng: Generator, n: Sizes) -> Arrays:
    a = rng.integers(0, 8, (n["pairs"], n["n"]), np.uint8)
    b = np.resize(a, (n["pairs"], n["m"]))
    changed = rng.random(b.shape, np.float32) < 0.5
    b[changed] = rng.integers(0, 8, int(changed.sum()), np.uint8)
    return {"a": a, "b": b}


def _levenshtein(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    a, b = given["a"], given["b"]
    steps = np.arange(n["m"] + 1)
    row = np.tile(steps, (n["pairs"], 1))
    for i in range(n["n"]):
        same = (a[:, i, None] == b).astype(np.int64)
        best = np.empty_like(row)
        best[:, 0] = i + 1
        best[:, 1:] = np.minimum(row[:, 1:] + 1, row[:, :-1] + (1 - same))
        # What one gets by inserting: the least of all that lies to the left, plus the distance.
        row = np.minimum.accumulate(best - steps, axis=1) + steps
    return {"distance": row[:, -1]}


LEVENSHTEIN = KernelProblem(
    name="levenshtein",
    title="Edit distance",
    text="distance[p] = the least number of insertions, deletions and replacements of single bytes "
    "that turn the n bytes of a[p] into the m bytes of b[p].",
    arrays=(
        Array("a", "uint8", ("pairs", "n"), free=True),
        Array("b", "uint8", ("pairs", "m"), free=True),
        Array("distance", "int32", ("pairs",), out=True),
    ),
    axes=(SizeAxis("pairs", 16, 8), SizeAxis("n", 320, 40), SizeAxis("m", 320, 40)),
    draw=_draw_levenshtein,
    oracle=_levenshtein,
    traffic=lambda n: n["pairs"] * (n["n"] + n["m"] + 4.0),
    exact=True,
)
"""Edit distance (Wagner and Fischer, 1974)."""


def _draw_spmv(rng: Generator, n: Sizes) -> Arrays:
    ends = np.sort(rng.integers(0, n["nnz"] + 1, n["rows"] - 1))
    return {
        "a": normal(rng, n["nnz"]),
        "col": rng.integers(0, n["cols"], n["nnz"], np.int32),
        "start": np.concatenate([[0], ends, [n["nnz"]]]).astype(np.int32),
        "x": normal(rng, n["cols"]),
    }


def _spmv(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    products = given["a"].astype(np.float64) * given["x"].astype(np.float64)[given["col"]]
    row = np.repeat(np.arange(n["rows"]), np.diff(given["start"]))
    return {"y": np.bincount(row, weights=products, minlength=n["rows"])}


SPMV = KernelProblem(
    name="spmv",
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
    draw=_draw_spmv,
    oracle=_spmv,
    traffic=lambda n: 8.0 * n["nnz"] + 8.0 * n["rows"],
)
"""Sparse matrix times vector."""


def _stencil(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    y = given["u"].astype(np.float64)
    for _ in range(n["steps"]):
        inner = y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:]
        y = y.copy()
        y[1:-1, 1:-1] = 0.25 * inner
    return {"y": y}


STENCIL = KernelProblem(
    name="stencil",
    title="Jacobi steps",
    text="y = u after `steps` steps. A step replaces every inner point of the h x w grid by the "
    "mean of its four neighbours before the step; the border stays as it is.",
    arrays=(
        Array("u", "float32", ("h", "w"), free=True, scaled=True),
        Array("y", "float32", ("h", "w"), out=True),
    ),
    axes=(SizeAxis("h", 768, 64), SizeAxis("w", 768, 64), SizeAxis("steps", 6, 4, fixed=True)),
    draw=lambda rng, n: {"u": normal(rng, n["h"], n["w"])},
    oracle=_stencil,
    traffic=lambda n: 8.0 * n["h"] * n["w"],
)
"""Jacobi steps on a grid."""


def _nbody(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    p, m = given["p"].astype(np.float64), given["m"].astype(np.float64)
    square = (p * p).sum(axis=1)
    apart = np.maximum(square[:, None] + square - 2 * (p @ p.T), 0) + 1e-2
    weight = m / (apart * np.sqrt(apart))
    return {"a": weight @ p - weight.sum(axis=1, keepdims=True) * p}


NBODY = KernelProblem(
    name="nbody",
    title="N bodies",
    text="a[i] = sum over j of m[j] * (p[j] - p[i]) / (|p[j] - p[i]|^2 + 0.01)^1.5, in three "
    "dimensions.",
    arrays=(
        Array("p", "float32", ("n", "3"), free=True),
        Array("m", "float32", ("n",), free=True, scaled=True),
        Array("a", "float32", ("n", "3"), out=True),
    ),
    axes=(SizeAxis("n", 1024, 160),),
    draw=lambda rng, n: {"p": normal(rng, n["n"], 3), "m": rng.random(n["n"], np.float32)},
    oracle=_nbody,
    traffic=lambda n: 28.0 * n["n"],
)
"""Gravitation of bodies on one another."""


def _fft(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    x = given["x"].astype(np.float64)
    y = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=1)
    return {"y": np.stack([y.real, y.imag], axis=2)}


FFT = KernelProblem(
    name="fft",
    title="Fourier transforms",
    text="For each of the batch: y[k] = sum over j of x[j] * exp(-2 pi i j k / n); real and "
    "imaginary parts alternate. n is a power of two.",
    arrays=(
        Array("x", "float32", ("batch", "n", "2"), free=True, scaled=True),
        Array("y", "float32", ("batch", "n", "2"), out=True),
    ),
    axes=(SizeAxis("batch", 96, 6), SizeAxis("n", 1024, 128, fixed=True)),
    draw=lambda rng, n: {"x": normal(rng, n["batch"], n["n"], 2)},
    oracle=_fft,
    traffic=lambda n: 16.0 * n["batch"] * n["n"],
)
"""Discrete Fourier transforms of many short signals."""
