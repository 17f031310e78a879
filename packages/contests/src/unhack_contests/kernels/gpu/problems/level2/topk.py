"""The largest numbers of each row, in order."""

from __future__ import annotations

import torch
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, Sizes, rows_and_cols


def draw(n: Sizes) -> list[Tensor]:
    return [torch.randn(n["rows"], n["cols"])]


def eager(x: Tensor) -> Tensor:
    return torch.topk(x, 40, dim=-1).values


PROBLEM = GpuProblem(
    title="Largest numbers of rows",
    text="y[r] holds the 40 largest numbers of row r, the largest first.",
    axes=rows_and_cols(20_000, 4000),
    draw=draw,
    eager=eager,
    steps=lambda n: 0,
    exact=True,
)
