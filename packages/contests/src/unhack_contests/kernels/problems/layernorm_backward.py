"""Gradients of layer normalisation (Ba, Kiros and Hinton, 2016)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, SizeAxis, Sizes, normal


def draw(rng: Generator, n: Sizes) -> Arrays:
    shape = n["rows"], n["cols"]
    return {"x": normal(rng, *shape), "w": normal(rng, n["cols"]), "dy": normal(rng, *shape)}


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    x, w, dy = (given[name].astype(np.float64) for name in ("x", "w", "dy"))
    centred = x - x.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5)
    unit = centred * scale
    g = dy * w
    mean, along = g.mean(axis=1, keepdims=True), (g * unit).mean(axis=1, keepdims=True)
    dx = scale * (g - mean - unit * along)
    return {"dx": dx, "dw": (dy * unit).sum(axis=0), "db": dy.sum(axis=0)}


PROBLEM = KernelProblem(
    title="LayerNorm backward",
    text="With m and v the mean and variance of row x[r], s = 1/sqrt(v + 1e-5), t = (x[r]-m)*s and "
    "g = dy[r]*w: dx[r] = s*(g - mean(g) - t*mean(g*t)); dw = sum over r of dy[r]*t; db = sum over "
    "r of dy[r].",
    arrays=(
        Array("x", "float32", ("rows", "cols"), free=True),
        Array("w", "float32", ("cols",), free=True),
        Array("dy", "float32", ("rows", "cols"), free=True, scaled=True),
        Array("dx", "float32", ("rows", "cols"), out=True),
        Array("dw", "float32", ("cols",), out=True),
        Array("db", "float32", ("cols",), out=True),
    ),
    axes=(SizeAxis("rows", 1024, 48), SizeAxis("cols", 768, 96)),
    draw=draw,
    oracle=oracle,
    traffic=lambda n: 12.0 * n["rows"] * n["cols"],
)
