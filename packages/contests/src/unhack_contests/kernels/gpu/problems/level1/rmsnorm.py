"""Root-mean-square normalisation of rows (Zhang and Sennrich 2019)."""

from __future__ import annotations

import torch
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, Sizes, rows_and_cols


def draw(n: Sizes) -> list[Tensor]:
    return [torch.randn(n["rows"], n["cols"]), torch.rand(n["cols"]) + 0.5]


def eager(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


PROBLEM = GpuProblem(
    title="RMSNorm",
    text="y[r][c] = x[r][c] * weight[c] / sqrt(mean over j of x[r][j]^2 + 1e-6).",
    axes=rows_and_cols(40_000, 3000),
    draw=draw,
    eager=eager,
    steps=lambda n: n["cols"],
)
