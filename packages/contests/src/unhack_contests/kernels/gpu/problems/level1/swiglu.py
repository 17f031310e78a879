"""SwiGLU (Shazeer 2020): a gate on half of the columns, in bfloat16."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    return [torch.randn(n["rows"], 2 * n["cols"]).to(torch.bfloat16)]


def eager(x: Tensor) -> Tensor:
    gate, value = x.chunk(2, dim=-1)
    return F.silu(gate) * value


PROBLEM = GpuProblem(
    title="SwiGLU",
    text="x has 2*cols columns: y[r][c] = silu(x[r][c]) * x[r][cols+c], silu(t) = t / (1 + e^-t).",
    axes=(InputAxis("rows", 40_000, 20_000, 50_000, 37), InputAxis("cols", 3000, 1500, 4500, 50)),
    draw=draw,
    eager=eager,
    steps=lambda n: 2,  # the gate and the product are stored
    dtype="bfloat16",
)
