"""The place where each row is largest: a reduction with a whole answer."""

from __future__ import annotations

import torch
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, Sizes, rows_and_cols


def draw(n: Sizes) -> list[Tensor]:
    x = torch.randn(n["rows"], n["cols"])
    x[1::7] = (8 * x[1::7]).round()  # rows in which the largest number stands more than once
    return [x]


def eager(x: Tensor) -> Tensor:
    return torch.argmax(x, dim=-1)


def oracle(x: Tensor) -> Tensor:
    best = x.amax(dim=-1, keepdim=True)
    place = torch.arange(x.shape[-1], device=x.device)
    return torch.where(x == best, place, x.shape[-1]).amin(dim=-1)


PROBLEM = GpuProblem(
    title="Argmax of rows",
    text="y[r] (int64) is the column of the largest number of row r, the first of several.",
    axes=rows_and_cols(50_000, 3600),
    draw=draw,
    eager=eager,
    oracle=oracle,
    steps=lambda n: 0,
    dtype="int64",
    exact=True,
)
