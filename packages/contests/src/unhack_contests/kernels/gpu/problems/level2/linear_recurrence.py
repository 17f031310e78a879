"""A gated linear recurrence in time: a scan whose step is a product and a sum.

The reference doubles spans of time, so the card sets its pace. A loop over time launches hundreds
of small kernels, and its time is that of one processor core: two equal processes then differ by far
more than the judge's repeat error may be.
"""

from __future__ import annotations

import torch
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    shape = n["batch"], n["time"], n["features"]
    return [torch.sigmoid(2 * torch.randn(shape) + 1), torch.randn(shape)]


def eager(a: Tensor, b: Tensor) -> Tensor:
    span = 1
    while span < b.shape[1]:  # each pass joins spans of times to spans twice as long
        b = torch.cat([b[:, :span], b[:, span:] + a[:, span:] * b[:, :-span]], dim=1)
        a = torch.cat([a[:, :span], a[:, span:] * a[:, :-span]], dim=1)
        span *= 2
    return b


PROBLEM = GpuProblem(
    title="Gated linear recurrence",
    text="h[b][t][f] = a[b][t][f] * h[b][t - 1][f] + b[b][t][f] with h before the first time zero; "
    "0 < a < 1. All h are wanted.",
    axes=(
        InputAxis("batch", 48, 32, 64, 3),
        InputAxis("time", 500, 300, 700, 20),
        InputAxis("features", 1500, 1000, 2000, 19),
    ),
    draw=draw,
    eager=eager,
    steps=lambda n: 2.0 * n["time"],
)
