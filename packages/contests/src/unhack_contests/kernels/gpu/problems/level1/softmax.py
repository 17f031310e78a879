"""Softmax of rows."""

from __future__ import annotations

import torch
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, Sizes, rows_and_cols


def draw(n: Sizes) -> list[Tensor]:
    x = 3 * torch.randn(n["rows"], n["cols"])
    x[3::11] += 120  # the exponential of such a number is infinite in float32,
    x[7::11] -= 120  # and of such a one zero
    return [x]


def eager(x: Tensor) -> Tensor:
    return torch.softmax(x, dim=-1)


PROBLEM = GpuProblem(
    title="Softmax of rows",
    text="y[r][c] = exp(x[r][c]) / sum over j of exp(x[r][j]), without overflow.",
    axes=rows_and_cols(40_000, 3000),
    draw=draw,
    eager=eager,
    steps=lambda n: n["cols"],
)
