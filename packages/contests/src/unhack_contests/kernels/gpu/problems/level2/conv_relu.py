"""A convolution of 3 by 3 with bias and ReLU in bfloat16."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    x = torch.randn(n["batch"], n["inner"], n["height"], n["width"])
    weight = torch.randn(n["outer"], n["inner"], 3, 3) / (9 * n["inner"]) ** 0.5
    bias = torch.randn(n["outer"])
    return [data.to(torch.bfloat16) for data in (x, weight, bias)]


def eager(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.relu(F.conv2d(x, weight, bias, padding=1))


PROBLEM = GpuProblem(
    title="Convolution, bias, ReLU",
    text="x is batch by inner by height by width, weight outer by inner by 3 by 3. y = ReLU(the "
    "cross-correlation with one zero around the picture, plus bias[outer]).",
    axes=(
        InputAxis("batch", 32, 20, 40, 2),
        InputAxis("inner", 96, 65, 130, 7),
        InputAxis("outer", 160, 97, 200, 11),
        InputAxis("height", 90, 70, 110, 13),
        InputAxis("width", 100, 70, 110, 17),
    ),
    draw=draw,
    eager=eager,
    steps=lambda n: 4,  # product and sum are stored; Winograd's transforms cost two more
    dtype="bfloat16",
)
