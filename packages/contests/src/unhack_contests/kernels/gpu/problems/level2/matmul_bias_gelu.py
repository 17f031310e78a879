"""A product of matrices with bias and activation at odd shapes, in bfloat16."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    a = torch.randn(n["m"], n["k"]).to(torch.bfloat16)
    b = (torch.randn(n["k"], n["n"]) / n["k"] ** 0.5).to(torch.bfloat16)
    return [a, b, torch.randn(n["n"]).to(torch.bfloat16)]


def eager(a: Tensor, b: Tensor, bias: Tensor) -> Tensor:
    return F.gelu(a @ b + bias)


PROBLEM = GpuProblem(
    title="Matrix product, bias, GELU",
    text="y = GELU(a @ b + bias) in bfloat16 with sums in float32; a is m by k, b is k by n.",
    axes=(
        InputAxis("m", 8200, 6000, 9000, 45),
        InputAxis("k", 3096, 2000, 4000, 70),
        InputAxis("n", 5160, 4000, 6000, 53),
    ),
    draw=draw,
    eager=eager,
    steps=lambda n: 4,  # product, sum and activation are stored
    dtype="bfloat16",
    flops=lambda n: 2.0 * n["m"] * n["k"] * n["n"],
)
