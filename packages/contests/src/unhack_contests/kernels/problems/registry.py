"""The kernels to write, by name."""

from __future__ import annotations

from unhack.tournament.kit import UnknownNameError
from unhack_contests.kernels.problem import KernelProblem
from unhack_contests.kernels.problems import arrays, networks

_PROBLEMS = {
    one.name: one
    for one in (
        networks.RMSNORM, networks.GEMV_INT8, networks.ATTENTION, arrays.HISTOGRAM,
        arrays.SORT, networks.SOFTMAX_TOPK, networks.CONV_POOL, arrays.SPMV, arrays.SCAN,
        arrays.LEVENSHTEIN, arrays.STENCIL, arrays.NBODY, arrays.FFT,
        networks.LAYERNORM_BACKWARD,
    )
}  # fmt: skip
NAMES = tuple(_PROBLEMS)


def find(name: str) -> KernelProblem:
    """A problem by name. Raises UnknownNameError."""
    if name not in _PROBLEMS:
        raise UnknownNameError("problem", name, valid=NAMES)
    return _PROBLEMS[name]
