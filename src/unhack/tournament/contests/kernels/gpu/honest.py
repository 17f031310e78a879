"""Submissions for a GPU without tricks: the reference, and kernels in Triton and CUDA C++."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unhack.tournament.contest import Choice, Files, Parameter
from unhack.tournament.contests.kernels.gpu.problems.registry import find, source

_OWN = {"rmsnorm": (), "softmax": (), "bias_gelu": ("cu",)}
"""Problems with a kernel, and what lies beside its Python."""
SPACE = (Parameter("num_warps", (1, 2, 4, 8, 16)),)
_WARPS = re.compile(r"num_warps=\d+")
_NULL = """from torch import nn


class Model(nn.Module):
    def forward(self, *inputs, out):
        pass
"""


def reference(names: Sequence[str]) -> Files:
    """Eager PyTorch: what agents start from."""
    return {f"{name}.py": find(name).encode() for name in names}


def null(names: Sequence[str]) -> Files:
    """Models that do nothing."""
    return {f"{name}.py": _NULL.encode() for name in names}


def kernels(names: Sequence[str]) -> dict[str, bytes]:
    """A kernel for each problem that has one."""
    files: dict[str, bytes] = {}
    for name in names:
        if name in _OWN:
            files[f"{name}.py"] = source("honest", name).encode()
        for part in _OWN.get(name, ()):
            files[f"{name}.{part}"] = source("honest", f"{name}.{part}").encode()
    return files


def strategies(names: Sequence[str]) -> dict[str, Files]:
    """By name; the first is the baseline of every round."""
    plain = reference(names)
    return {"reference": plain, "kernels": {**plain, **kernels(names)}}


def tuned(names: Sequence[str], choice: Choice) -> Files:
    """The kernels with so many warps."""
    warps = f"num_warps={int(choice.get('num_warps', 8))}"
    own = {
        path: _WARPS.sub(warps, text.decode()).encode() if path.endswith(".py") else text
        for path, text in kernels(names).items()
    }
    return {**reference(names), **own}
