"""Rows gathered along edges and added up where the edges end: gather and scatter."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    source, target = torch.randint(0, n["nodes"], (2, n["edges"])).unbind()
    return [torch.randn(n["nodes"], n["features"]), source.contiguous(), target.contiguous()]


def eager(x: Tensor, source: Tensor, target: Tensor) -> Tensor:
    return torch.zeros_like(x).index_add_(0, target, x[source])


def touched(inputs: list[Any]) -> float:
    used = inputs[1].unique().numel() * inputs[0].shape[1]
    return 4.0 * used + 8.0 * (inputs[1].numel() + inputs[2].numel())


PROBLEM = GpuProblem(
    title="Messages along edges",
    text="y[v] = sum over the edges e with target[e] = v of x[source[e]]; edges (int64) are in no "
    "order; nodes without an edge get zeros.",
    axes=(
        InputAxis("nodes", 150_000, 100_000, 200_000, 60),
        InputAxis("edges", 1_500_000, 1_000_000, 2_000_000, 700),
        InputAxis("features", 96, 65, 130, 21),
    ),
    draw=draw,
    eager=eager,
    steps=lambda n: 16.0 * n["edges"] / n["nodes"],
    touched=touched,
)
