"""A kernel to write for a GPU: how inputs are drawn, what PyTorch makes of them, what is right.

A problem is data and small functions. The judge draws shapes within the ranges, never powers of two
alone, and reads the truth in float64. What agents read, and what the reference's process runs, is
`reference_text`: the same functions as a file in KernelBench's form (`Model`, `get_inputs`,
`get_init_inputs`).

Covered: sizes, rooflines (bytes that any program moves, operations that no known algorithm
avoids), the error that honest arithmetic leaves.
Not covered: the comparison (see `oracle`), time.

Sources: KernelBench (Ouyang et al. 2025) for the form; Higham and Mary 2019, "A new approach to
probabilistic rounding error analysis", for the growth of errors with the root of their number.
"""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Sizes = Mapping[str, int]
Tensors = list[Any]

UNITS = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""The relative error of one rounding, by format: half a unit in the last place, and a whole one for
bfloat16, which is often cut off instead of rounded."""
NARROWER = {"float64": (24, 11), "float32": (11, 8), "float16": (4, 3), "bfloat16": (4, 3)}
"""Significant bits of the next narrower formats, the better one first: half precision and TF32 (11)
and bfloat16 (8) below float32; E4M3 (4) and E5M2 (3) below the formats of 16 bits."""
_SIGMAS = 8.0
"""Of a sum of independent roundings: the largest of 10^9 elements lies near six."""
_HEAD = '''"""{title}.

{text}
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SIZES = {sizes!r}


{draw}

{eager}

class Model(nn.Module):
    def forward(self, {parameters}):
        return eager({parameters})


def get_inputs():
    return draw(SIZES)


def get_init_inputs():
    return []
'''


@dataclass(frozen=True, slots=True)
class InputAxis:
    """A size that is drawn."""

    name: str
    listed: int
    """In the statement."""
    low: int
    high: int
    """Hidden shapes lie between these, both included."""
    small: int
    """For tests of the judge without a device."""

    def hidden(self, rng: random.Random, *, small: bool) -> int:
        """A size that no statement names and that is no power of two (up to 8 it may be)."""
        low, high = (max(1, self.small * 5 // 8), self.small) if small else (self.low, self.high)
        drawn = rng.randint(low, high)
        return drawn - 1 if drawn > 8 and drawn & (drawn - 1) == 0 else drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuProblem:
    """A computation to be done on a GPU."""

    name: str = ""
    level: int = 0
    """Those of its file and folder: `registry.find` fills them in."""
    title: str
    text: str
    """The definition, for the statement."""
    axes: tuple[InputAxis, ...]
    draw: Callable[[Sizes], Tensors]
    """Inputs on PyTorch's current device, from its global generator."""
    eager: Callable[..., Any]
    """The reference: plain PyTorch, one output."""
    steps: Callable[[Sizes], float]
    """Roundings that follow one another on the way to an element, in the format of the output: the
    additions of a sum, the intermediate results that eager PyTorch stores."""
    dtype: str = "float32"
    """Of the output, and of the arithmetic that is asked for."""
    exact: bool = False
    """Nothing is computed or the result is whole: every bit has to be right."""
    oracle: Callable[..., Any] | None = None
    """Of inputs in float64; None: `eager` itself is accurate in float64."""
    flops: Callable[[Sizes], float] = lambda _: 0.0
    """Multiplications and additions that no known practical algorithm avoids, on the matrix unit of
    the output's format; 0 where the memory decides."""
    touched: Callable[[Tensors], float] | None = None
    """Bytes of the inputs that any program has to read; None: all of them."""

    def listed(self, *, small: bool) -> dict[str, int]:
        """The sizes of the statement."""
        return {axis.name: axis.small if small else axis.listed for axis in self.axes}

    def hidden(self, rng: random.Random, *, small: bool) -> dict[str, int]:
        """Sizes within the ranges."""
        return {axis.name: axis.hidden(rng, small=small) for axis in self.axes}

    def bound(self, sizes: Sizes) -> float:
        """The error, relative to an element and its row, that honest arithmetic stays below: as
        many independent roundings as follow one another add up like their root."""
        return _SIGMAS * UNITS[self.dtype] * math.sqrt(self.steps(sizes)) if not self.exact else 0.0

    def parameters(self) -> list[str]:
        """Names of the inputs, in order."""
        return list(inspect.signature(self.eager).parameters)

    def reference_text(self, sizes: Sizes) -> str:
        """The problem as a file in KernelBench's form."""
        return _HEAD.format(
            title=self.title,
            text=self.text,
            sizes=dict(sizes),
            draw=inspect.getsource(self.draw).rstrip() + "\n",
            eager=inspect.getsource(self.eager).rstrip() + "\n",
            parameters=", ".join(self.parameters()),
        )


def rows_and_cols(rows: int, cols: int) -> tuple[InputAxis, InputAxis]:
    """Axes of a matrix that is listed with so many rows and columns."""
    return (
        InputAxis("rows", rows, rows // 2, rows * 5 // 4, 37),
        InputAxis("cols", cols, cols // 2, cols * 3 // 2, 70),
    )
