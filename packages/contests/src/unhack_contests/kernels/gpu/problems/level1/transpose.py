"""Transposition of the matrices of a batch: data movement alone."""

from __future__ import annotations

import torch
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    x = torch.randn(n["batch"], n["rows"], n["cols"])
    x[:, :, ::61] *= 1e-40  # subnormal numbers, which have to arrive as they are
    return [x]


def eager(x: Tensor) -> Tensor:
    return x.transpose(1, 2).contiguous()


PROBLEM = GpuProblem(
    title="Transposition",
    text="y[b][c][r] = x[b][r][c], bit by bit; numbers may be subnormal. y is contiguous.",
    axes=(
        InputAxis("batch", 40, 20, 48, 3),
        InputAxis("rows", 1500, 900, 1900, 45),
        InputAxis("cols", 1800, 900, 2300, 70),
    ),
    draw=draw,
    eager=eager,
    steps=lambda n: 0,
    exact=True,
)
