"""A gated linear recurrence in time: a scan whose step is a product and a sum."""

from __future__ import annotations

import torch
from torch import Tensor

from unhack.tournament.contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    shape = n["batch"], n["time"], n["features"]
    return [torch.sigmoid(2 * torch.randn(shape) + 1), torch.randn(shape)]


def eager(a: Tensor, b: Tensor) -> Tensor:
    state = torch.zeros_like(b[:, 0])
    states: list[Tensor] = []
    for t in range(b.shape[1]):
        state = a[:, t] * state + b[:, t]
        states.append(state)
    return torch.stack(states, dim=1)


PROBLEM = GpuProblem(
    name="linear_recurrence",
    level=2,
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
