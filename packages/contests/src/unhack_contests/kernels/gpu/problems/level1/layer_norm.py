"""Layer normalisation of rows (Ba, Kiros and Hinton 2016)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, Sizes, rows_and_cols


def draw(n: Sizes) -> list[Tensor]:
    cols = n["cols"]
    x = torch.randn(n["rows"], cols) * 2 + torch.randn(n["rows"], 1)
    return [x, torch.rand(cols) + 0.5, torch.randn(cols)]


def eager(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], weight, bias, 1e-5)


PROBLEM = GpuProblem(
    title="Layer normalisation",
    text="y[r][c] = (x[r][c] - mean(x[r])) / sqrt(var(x[r]) + 1e-5) * weight[c] + bias[c]; var is "
    "the mean square deviation of the row.",
    axes=rows_and_cols(40_000, 3000),
    draw=draw,
    eager=eager,
    steps=lambda n: n["cols"],
)
