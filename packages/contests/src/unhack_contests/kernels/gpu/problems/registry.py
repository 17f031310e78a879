"""The GPU problems by name."""

from __future__ import annotations

import importlib
from dataclasses import replace

from unhack.tournament.kit import UnknownNameError
from unhack_contests.kernels.gpu.problem import GpuProblem

LEVELS = {
    1: (
        "bias_gelu", "swiglu", "softmax", "layer_norm", "rmsnorm", "argmax", "cumsum", "transpose",
    ),
    2: (
        "matmul_bias_gelu", "batched_matmul", "segmented_cumsum", "topk", "csr_matmul",
        "message_passing", "conv_relu", "linear_recurrence",
    ),
    3: ("causal_attention", "mlp", "transformer_block", "patch_classifier"),
}  # fmt: skip
NAMES = tuple(name for names in LEVELS.values() for name in names)
DEFAULT = ("softmax", "layer_norm", "matmul_bias_gelu", "causal_attention")


def level(name: str) -> int:
    """1 to 3. Raises UnknownNameError."""
    for number, names in LEVELS.items():
        if name in names:
            return number
    raise UnknownNameError("problem", name, valid=NAMES)


def find(name: str) -> GpuProblem:
    """A problem by name. Raises UnknownNameError."""
    number = level(name)
    module = importlib.import_module(f"{__package__}.level{number}.{name}")
    problem: GpuProblem = module.PROBLEM
    return replace(problem, name=name, level=number)
