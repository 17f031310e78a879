"""Kernels of neural networks: norms, softmax, attention, products, convolution."""

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


def _draw_rmsnorm(rng: Generator, n: Sizes) -> Arrays:
    x = normal(rng, n["rows"], n["stride"])
    x[:, n["cols"] :] = np.nan  # padding that must not be read
    return {"x": x, "w": normal(rng, n["cols"])}


def _rmsnorm(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    x = given["x"][:, : n["cols"]].astype(np.float64)
    scale = 1 / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 1e-6)
    return {"y": x * scale * given["w"]}


RMSNORM = KernelProblem(
    name="rmsnorm",
    title="RMSNorm",
    text="y[r][c] = x[r][c] * w[c] / sqrt(mean over c of x[r][c]^2 + 1e-6). Row r of x starts at "
    "x + r*stride; only its first cols elements count. y has no padding.",
    arrays=(
        Array("x", "float32", ("rows", "stride"), scaled=True),
        Array("w", "float32", ("cols",), free=True),
        Array("y", "float32", ("rows", "cols"), out=True),
    ),
    axes=(SizeAxis("rows", 2048, 96), SizeAxis("cols", 1024, 128)),
    derived=lambda n: {"stride": n["cols"] + (n["cols"] % 2) * 8},
    draw=_draw_rmsnorm,
    oracle=_rmsnorm,
    traffic=lambda n: 8.0 * n["rows"] * n["cols"],
)
"""Root-mean-square normalisation of rows (Zhang and Sennrich, 2019)."""


def _draw_layernorm_backward(rng: Generator, n: Sizes) -> Arrays:
    shape = n["rows"], n["cols"]
    return {"x": normal(rng, *shape), "w": normal(rng, n["cols"]), "dy": normal(rng, *shape)}


def _layernorm_backward(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    x, w, dy = (given[name].astype(np.float64) for name in ("x", "w", "dy"))
    centred = x - x.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5)
    unit = centred * scale
    g = dy * w
    mean, along = g.mean(axis=1, keepdims=True), (g * unit).mean(axis=1, keepdims=True)
    dx = scale * (g - mean - unit * along)
    return {"dx": dx, "dw": (dy * unit).sum(axis=0), "db": dy.sum(axis=0)}


LAYERNORM_BACKWARD = KernelProblem(
    name="layernorm_backward",
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
    draw=_draw_layernorm_backward,
    oracle=_layernorm_backward,
    traffic=lambda n: 12.0 * n["rows"] * n["cols"],
)
"""Gradients of layer normalisation (Ba, Kiros and Hinton, 2016)."""


def _softmax_topk(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    x = given["x"].astype(np.float64)
    index = np.argsort(-x, axis=1, kind="stable")[:, : n["k"]]
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return {"p": np.take_along_axis(weights, index, axis=1), "index": index}


SOFTMAX_TOPK = KernelProblem(
    name="softmax_topk",
    title="Softmax and its k largest",
    text="p[r][0..k) are the k largest values of softmax(x[r]), largest first, and index[r] their "
    "columns; of equal values the lower column comes first.",
    arrays=(
        Array("x", "float32", ("rows", "cols"), free=True),
        Array("p", "float32", ("rows", "k"), out=True),
        Array("index", "int32", ("rows", "k"), out=True),
    ),
    axes=(SizeAxis("rows", 512, 24), SizeAxis("cols", 1024, 128), SizeAxis("k", 8, 8, fixed=True)),
    draw=lambda rng, n: {"x": normal(rng, n["rows"], n["cols"]) * np.float32(3)},
    oracle=_softmax_topk,
    traffic=lambda n: 4.0 * n["rows"] * n["cols"],
)
"""The largest probabilities of each row, as samplers of language models need them."""


def _draw_attention(rng: Generator, n: Sizes) -> Arrays:
    shape = n["heads"], n["n"], n["d"]
    return {name: normal(rng, *shape) for name in "qkv"}


def _attention(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    q, k, v = (given[name].astype(np.float64) for name in "qkv")
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(n["d"])
    scores[:, ~np.tri(n["n"], dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return {"o": weights / weights.sum(axis=2, keepdims=True) @ v}


ATTENTION = KernelProblem(
    name="attention",
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
    draw=_draw_attention,
    oracle=_attention,
    traffic=lambda n: 16.0 * n["heads"] * n["n"] * n["d"],
    flops=lambda n: 2.0 * n["heads"] * n["n"] * (n["n"] + 1) * n["d"],
)
"""Causal scaled dot-product attention (Vaswani et al., 2017)."""


def _draw_gemv_int8(rng: Generator, n: Sizes) -> Arrays:
    return {
        "q": uniform_bytes(rng, (n["rows"], n["cols"]), "int8"),
        "s": rng.random((n["rows"], n["groups"]), np.float32),
        "x": normal(rng, n["cols"]),
    }


def _gemv_int8(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    x = given["x"].astype(np.float64).reshape(n["groups"], 32, 1)
    q = given["q"].reshape(n["rows"], n["groups"], 32)
    sums = np.matmul(q.transpose(1, 0, 2).astype(np.float64), x)[:, :, 0]
    return {"y": np.einsum("gr,rg->r", sums, given["s"].astype(np.float64))}


GEMV_INT8 = KernelProblem(
    name="gemv_int8",
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
    draw=_draw_gemv_int8,
    oracle=_gemv_int8,
    traffic=lambda n: n["rows"] * (n["cols"] + 4.0 * n["groups"]),
)
"""Matrix-vector product with weights in 8 bits and one scale for each group of 32."""


def _conv_pool(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    x = np.pad(given["x"].astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    f = given["f"].astype(np.float64)
    h, w = n["h"], n["w"]
    total = np.zeros((n["c"], h, w))
    for i in range(3):
        for j in range(3):
            total += f[:, i, j, None, None] * x[:, i : i + h, j : j + w]
    pooled = total[:, : h // 2 * 2, : w // 2 * 2].reshape(n["c"], h // 2, 2, w // 2, 2)
    return {"y": np.maximum(pooled.max(axis=(2, 4)), 0)}


CONV_POOL = KernelProblem(
    name="conv_pool",
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
    draw=lambda rng, n: {"x": normal(rng, n["c"], n["h"], n["w"]), "f": normal(rng, n["c"], 3, 3)},
    oracle=_conv_pool,
    traffic=lambda n: 4.0 * n["c"] * (n["h"] * n["w"] + n["h2"] * n["w2"]),
)
"""Depthwise convolution, rectifier and pooling in one."""
