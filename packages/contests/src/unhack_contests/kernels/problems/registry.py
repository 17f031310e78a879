"""The kernels to write, by name."""

from __future__ import annotations

import importlib
from dataclasses import replace

from unhack.tournament.kit import UnknownNameError
from unhack_contests.kernels.problem import KernelProblem

NAMES = (
    "rmsnorm", "gemv_int8", "attention", "histogram", "sort", "softmax_topk", "conv_pool",
    "spmv", "scan", "levenshtein", "stencil", "nbody", "fft", "layernorm_backward",
)  # fmt: skip


def find(name: str) -> KernelProblem:
    """A problem by name. Raises UnknownNameError."""
    if name not in NAMES:
        raise UnknownNameError("problem", name, valid=NAMES)
    module = importlib.import_module(f"unhack_contests.kernels.problems.{name}")
    problem: KernelProblem = module.PROBLEM
    return replace(problem, name=name)
