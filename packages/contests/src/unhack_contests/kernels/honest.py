"""Submissions without tricks: the plain reference, tuned C, and NumPy.

The tuned C has three parameters: how many running sums there are side by side, how many rows of
values are added up before the next, and how many threads share the outermost loop.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from unhack.tournament.kit import Files, Parameter
from unhack_contests.kernels.compilation import compiler
from unhack_contests.kernels.problem import KernelProblem

CORES = min(8, len(os.sched_getaffinity(0)))
_PLAIN = {"lanes": 1, "tile": 64, "threads": 1}


SPACE = (
    Parameter("lanes", (1, 2, 4, 8, 16, 32)),
    Parameter("tile", (16, 64, 256, 1024)),
    Parameter("threads", tuple(dict.fromkeys((1, *(t for t in (2, 4, 8) if t <= CORES))))),
)
"""The parameters that an optimiser may vary."""


def tuned(problems: Iterable[KernelProblem], choice: Mapping[str, float | int | str]) -> Files:
    """C with these parameters; a problem without tuned C is the reference."""
    chosen = {**_PLAIN, **choice}
    text = "".join(f"#define {name.upper()} {int(value)}\n" for name, value in chosen.items())
    for problem in problems:
        kind = "tuned" if compiler.has_source("tuned", problem.name) else "reference"
        text += "\n" + compiler.source(kind, problem.name)
    return {"solution.c": text.encode()}


def reference_text(problems: Iterable[KernelProblem]) -> str:
    """The plain C of these problems in one file."""
    return "\n".join(compiler.source("reference", problem.name) for problem in problems)


def reference(problems: Iterable[KernelProblem]) -> Files:
    """The plain C: what agents start from."""
    return {"solution.c": reference_text(problems).encode()}


def numpy(problems: Iterable[KernelProblem]) -> Files:
    """The same in NumPy."""
    parts = [compiler.python_source(problem.name) for problem in problems]
    return {"solution.py": ("import numpy as np\n\n\n" + "\n\n".join(parts)).encode()}


def strategies(problems: list[KernelProblem]) -> dict[str, Files]:
    """By name; the first is the baseline of every round."""
    found: dict[str, Files] = {
        "reference": reference(problems),
        "accumulators": tuned(problems, {"lanes": 8}),
        "wide": tuned(problems, {"lanes": 32, "tile": 256}),
        "numpy": numpy(problems),
    }
    if CORES > 1:
        found["threads"] = tuned(problems, {"lanes": 16, "threads": CORES})
    return found


def null(problems: Iterable[KernelProblem]) -> Files:
    """Functions that do nothing."""
    bodies = "\n".join(p.prototype().removesuffix(";") + " {}" for p in problems)
    return {"solution.c": f"#include <stdint.h>\n\n{bodies}\n".encode()}
