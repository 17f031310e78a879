"""A perceptron of two layers with a residual, in bfloat16."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    width, hidden = n["width"], n["hidden"]
    drawn = [
        torch.randn(n["tokens"], width),
        torch.randn(width, hidden) / width**0.5,
        torch.randn(hidden),
        torch.randn(hidden, width) / hidden**0.5,
        torch.randn(width),
    ]
    return [data.to(torch.bfloat16) for data in drawn]


def eager(x: Tensor, up: Tensor, up_bias: Tensor, down: Tensor, down_bias: Tensor) -> Tensor:
    return x + (F.gelu(x @ up + up_bias) @ down + down_bias)


PROBLEM = GpuProblem(
    title="Perceptron with a residual",
    text="y = x + (GELU(x @ up + up_bias) @ down + down_bias).",
    axes=(
        InputAxis("tokens", 16_000, 10_000, 20_000, 40),
        InputAxis("width", 1000, 700, 1300, 50),
        InputAxis("hidden", 4000, 2600, 5000, 90),
    ),
    draw=draw,
    eager=eager,
    steps=lambda n: 9,
    dtype="bfloat16",
    flops=lambda n: 4.0 * n["tokens"] * n["width"] * n["hidden"],
)
