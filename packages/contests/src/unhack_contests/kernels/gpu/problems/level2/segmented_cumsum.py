"""Running sums that begin anew at the start of each segment."""

from __future__ import annotations

import torch
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    inner = torch.randperm(n["n"] - 1)[: n["segments"] - 1].sort().values + 1
    edges = torch.tensor([0, n["n"]])
    return [torch.randn(n["n"]), torch.cat([edges[:1], inner, edges[1:]])]


def eager(x: Tensor, start: Tensor) -> Tensor:
    total = torch.cumsum(x.double(), dim=0)
    before = torch.cat([total.new_zeros(1), total])[start[:-1]]
    return (total - torch.repeat_interleave(before, start.diff())).to(x.dtype)


PROBLEM = GpuProblem(
    title="Segmented running sums",
    text="Segment s holds the elements start[s] to start[s + 1] - 1 (int64; none is empty). y[i] "
    "is the sum of x from the start of the segment of i up to i.",
    axes=(
        InputAxis("n", 30_000_000, 20_000_000, 40_000_000, 3000),
        InputAxis("segments", 20_000, 5000, 40_000, 17),
    ),
    draw=draw,
    eager=eager,
    steps=lambda n: 16.0 * n["n"] / n["segments"],  # the longest of many segments
)
