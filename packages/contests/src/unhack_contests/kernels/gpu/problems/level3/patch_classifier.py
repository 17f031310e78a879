"""A small model in float32: patches of pictures, one residual layer, a mean, classes."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    width = n["width"]
    return [
        torch.randn(n["batch"], 3, 8 * n["patches"], 8 * n["patches"]),
        torch.randn(192, width) / 192**0.5,
        torch.randn(width),
        torch.randn(width, width) / width**0.5,
        torch.randn(width),
        torch.randn(width, n["classes"]) / width**0.5,
    ]


def eager(
    x: Tensor, embed: Tensor, embed_bias: Tensor, layer: Tensor, layer_bias: Tensor, head: Tensor
) -> Tensor:
    patches = F.unfold(x, kernel_size=8, stride=8).transpose(1, 2)
    tokens = patches @ embed + embed_bias
    tokens = tokens + F.gelu(tokens @ layer + layer_bias)
    return torch.log_softmax(tokens.mean(dim=1) @ head, dim=-1)


def flops(n: Sizes) -> float:
    tokens = n["batch"] * n["patches"] ** 2
    return 2.0 * tokens * n["width"] * (192 + n["width"])


PROBLEM = GpuProblem(
    title="Patch classifier",
    text="Pictures with three channels are cut into patches of 8 by 8 (192 numbers: channel, row, "
    "column). t = patches @ embed + embed_bias; t = t + GELU(t @ layer + layer_bias); y = "
    "log_softmax(mean over the patches of t @ head), with float32 accuracy.",
    axes=(
        InputAxis("batch", 256, 150, 300, 4),
        InputAxis("patches", 14, 10, 16, 3),
        InputAxis("width", 384, 260, 500, 24),
        InputAxis("classes", 100, 65, 130, 9),
    ),
    draw=draw,
    eager=eager,
    steps=lambda n: n["width"] + 192.0,
    flops=flops,
)
