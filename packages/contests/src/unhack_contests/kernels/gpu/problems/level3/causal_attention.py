"""Causal attention with several heads in bfloat16 (Vaswani et al. 2017)."""

from __future__ import annotations

import torch
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    shape = n["batch"], n["heads"], n["time"], 64
    return [torch.randn(shape).to(torch.bfloat16) for _ in range(3)]


def eager(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    later = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).triu(1)
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    return torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1) @ v


PROBLEM = GpuProblem(
    title="Causal attention",
    text="q, k and v are batch by heads by time by 64. y[t] = sum over s <= t of p[t][s] v[s], "
    "p[t] the softmax over s <= t of q[t] . k[s] / 8.",
    axes=(
        InputAxis("batch", 4, 3, 4, 2),
        InputAxis("heads", 12, 9, 15, 2),
        InputAxis("time", 2000, 1300, 2400, 70),
    ),
    draw=draw,
    eager=eager,
    steps=lambda n: 16,  # scores of a size of 4 are stored, then the weights, then the result
    dtype="bfloat16",
    flops=lambda n: 128.0 * n["batch"] * n["heads"] * n["time"] * n["time"],
)
