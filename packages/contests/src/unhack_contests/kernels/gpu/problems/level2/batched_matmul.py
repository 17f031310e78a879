"""Products of the matrices of a batch in float32."""

from __future__ import annotations

import torch
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    return [
        torch.randn(n["batch"], n["m"], n["k"]),
        torch.randn(n["batch"], n["k"], n["n"]),
    ]


def eager(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a, b)


PROBLEM = GpuProblem(
    title="Batched matrix product",
    text="y[b] = a[b] @ b[b] with float32 accuracy: TF32 and formats of 16 bits are not enough.",
    axes=(
        InputAxis("batch", 40, 30, 50, 3),
        InputAxis("m", 1000, 700, 1200, 45),
        InputAxis("k", 700, 500, 900, 70),
        InputAxis("n", 900, 700, 1100, 53),
    ),
    draw=draw,
    eager=eager,
    steps=lambda n: n["k"],
    flops=lambda n: 2.0 * n["batch"] * n["m"] * n["k"] * n["n"],
)
