"""A transformer block: norm, causal attention, norm, gated perceptron; in bfloat16."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    width = 64 * n["heads"]
    drawn = [
        torch.randn(n["batch"], n["time"], width),
        torch.rand(2, width) + 0.5,
        torch.randn(width, 3 * width) / width**0.5,
        torch.randn(width, width) / width**0.5,
        torch.randn(width, 6 * width) / width**0.5,
        torch.randn(3 * width, width) / (3 * width) ** 0.5,
    ]
    return [data.to(torch.bfloat16) for data in drawn]


def eager(x: Tensor, norms: Tensor, qkv: Tensor, mix: Tensor, up: Tensor, down: Tensor) -> Tensor:
    batch, time, width = x.shape
    seen = F.rms_norm(x, (width,), norms[0], 1e-6) @ qkv
    q, k, v = seen.view(batch, time, 3, width // 64, 64).permute(2, 0, 3, 1, 4).unbind()
    later = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)
    scores = (q @ k.transpose(-1, -2) / 8).masked_fill(later, -torch.inf)
    heard = (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(batch, time, width)
    x = x + heard @ mix
    gate, value = (F.rms_norm(x, (width,), norms[1], 1e-6) @ up).chunk(2, dim=-1)
    return x + (F.silu(gate) * value) @ down


def flops(n: Sizes) -> float:
    width, tokens = 64 * n["heads"], n["batch"] * n["time"]
    return 2.0 * tokens * 13 * width * width + 2.0 * tokens * n["time"] * width


PROBLEM = GpuProblem(
    title="Transformer block",
    text="x is batch by time by width, width = 64 * heads. "
    "z = x + attention(RMSNorm(x) * norms[0]) @ mix: q, k, v are the thirds of the product "
    "with qkv, each heads by 64, attention is causal with scale 1/8. "
    "y = z + (silu(g) * u) @ down, g and u the halves of (RMSNorm(z) * norms[1]) @ up. "
    "RMSNorm adds 1e-6 to the mean square.",
    axes=(
        InputAxis("batch", 8, 5, 9, 2),
        InputAxis("time", 1000, 600, 1200, 30),
        InputAxis("heads", 12, 9, 14, 2),
    ),
    draw=draw,
    eager=eager,
    steps=lambda n: 25,
    dtype="bfloat16",
    flops=flops,
)
