"""Running sums of rows: an inclusive scan."""

from __future__ import annotations

import torch
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, Sizes, rows_and_cols


def draw(n: Sizes) -> list[Tensor]:
    return [torch.randn(n["rows"], n["cols"])]


def eager(x: Tensor) -> Tensor:
    return torch.cumsum(x, dim=-1)


PROBLEM = GpuProblem(
    title="Running sums of rows",
    text="y[r][c] = sum over j <= c of x[r][j].",
    axes=rows_and_cols(40_000, 3000),
    draw=draw,
    eager=eager,
    steps=lambda n: n["cols"],
)
