"""A sparse matrix in CSR form times a dense one."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unhack_contests.kernels.gpu.problem import GpuProblem, InputAxis, Sizes


def draw(n: Sizes) -> list[Tensor]:
    rows, nnz = n["rows"], 16 * n["rows"]
    ends = torch.randint(0, nnz + 1, (rows - 1,)).sort().values
    start = torch.cat([torch.tensor([0]), ends, torch.tensor([nnz])])
    columns = torch.randint(0, n["cols"], (nnz,))
    return [torch.randn(nnz), columns, start, torch.randn(n["cols"], n["features"])]


def eager(values: Tensor, columns: Tensor, start: Tensor, dense: Tensor) -> Tensor:
    row = torch.repeat_interleave(start.diff())
    out = dense.new_zeros(start.numel() - 1, dense.shape[1])
    return out.index_add_(0, row, values[:, None] * dense[columns])


def touched(inputs: list[Any]) -> float:
    used = inputs[1].unique().numel() * inputs[3].shape[1]
    return 4.0 * (inputs[0].numel() + used) + 8.0 * (inputs[1].numel() + inputs[2].numel())


PROBLEM = GpuProblem(
    title="CSR times dense",
    text="y[r] = sum over e from start[r] to start[r + 1] - 1 of values[e] * dense[columns[e]]. "
    "Rows may be empty, columns (int64) come in any order and may repeat.",
    axes=(
        InputAxis("rows", 150_000, 100_000, 200_000, 90),
        InputAxis("cols", 150_000, 100_000, 200_000, 80),
        InputAxis("features", 96, 65, 130, 21),
    ),
    draw=draw,
    eager=eager,
    steps=lambda n: 256,  # products of the longest rows
    touched=touched,
)
