"""Bias and GELU: element-wise with a broadcast."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, Sizes, rows_and_cols


def draw(n: Sizes) -> list[Tensor]:
    return [torch.randn(n["rows"], n["cols"]), torch.randn(n["cols"])]


def eager(x: Tensor, bias: Tensor) -> Tensor:
    return F.gelu(x + bias)


PROBLEM = GpuProblem(
    title="Bias and GELU",
    text="y[r][c] = GELU(x[r][c] + bias[c]) with the error function, not its tanh approximation.",
    axes=rows_and_cols(40_000, 3000),
    draw=draw,
    eager=eager,
    steps=lambda n: 32,  # the sum, an error function of some units in the last place, products
)
