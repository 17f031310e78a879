"""A kernel to write: its arrays and sizes, how inputs are drawn, and what is right in float64.

Covered: C and Python prototypes, sizes that nobody is told, the least traffic and arithmetic that
any program needs.
Not covered: how it is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Sizes = Mapping[str, int]
Arrays = dict[str, NDArray[Any]]

C_TYPES = {
    "float32": "float", "int8": "int8_t", "uint8": "uint8_t",
    "int32": "int32_t", "int64": "int64_t",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Array:
    """One buffer of a call."""

    name: str
    dtype: str
    shape: tuple[str, ...]
    """Names of sizes, numbers, or a name and a number (`rows+1`)."""
    out: bool = False
    free: bool = False
    """True when any element may be replaced by a fresh one and the input stays an input."""
    scaled: bool = False
    """True when all of it may be multiplied by a magnitude."""

    def dims(self, sizes: Sizes) -> tuple[int, ...]:
        """The shape in numbers."""
        return tuple(_size(word, sizes) for word in self.shape)


def _size(word: str, sizes: Sizes) -> int:
    name, _, more = word.partition("+")
    return (int(name) if name.isdigit() else sizes[name]) + int(more or 0)


@dataclass(frozen=True, slots=True)
class SizeAxis:
    """A size that can be chosen."""

    name: str
    listed: int
    """In the statement."""
    small: int
    """For tests of the judge."""
    step: int = 1
    fixed: bool = False
    """True when hidden shapes keep it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelProblem:
    """A computation to be done."""

    name: str
    """That of the function, too."""
    title: str
    text: str
    """The definition, for the statement."""
    arrays: tuple[Array, ...]
    axes: tuple[SizeAxis, ...]
    draw: Callable[[Generator, Sizes], Arrays]
    oracle: Callable[[Mapping[str, NDArray[Any]], Sizes], Arrays]
    """Outputs in float64 (or exact integers) of inputs in any float format."""
    traffic: Callable[[Sizes], float]
    """Bytes that every program has to read or write."""
    flops: Callable[[Sizes], float] = lambda _: 0.0
    """Operations that no known algorithm avoids; 0 where that is unclear."""
    derived: Callable[[Sizes], dict[str, int]] = lambda _: {}
    """Sizes that follow from the axes; handed over after them."""
    exact: bool = False

    @property
    def inputs(self) -> tuple[Array, ...]:
        return tuple(array for array in self.arrays if not array.out)

    @property
    def outputs(self) -> tuple[Array, ...]:
        return tuple(array for array in self.arrays if array.out)

    def listed(self, *, small: bool) -> dict[str, int]:
        """The sizes of the statement."""
        return self.complete(
            {axis.name: axis.small if small else axis.listed for axis in self.axes}
        )

    def hidden(self, rng: Generator, *, small: bool) -> dict[str, int]:
        """Sizes that no statement names: smaller, and odd where any size is allowed."""
        sizes: dict[str, int] = {}
        for axis in self.axes:
            base = axis.small if small else axis.listed
            if axis.fixed:
                sizes[axis.name] = base
                continue
            steps = max(1, base // axis.step)
            count = int(rng.integers(max(1, steps * 5 // 8), max(2, steps * 15 // 16)))
            sizes[axis.name] = (count | 1 if axis.step == 1 else count) * axis.step
        return self.complete(sizes)

    def complete(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """With what follows from them."""
        return {**sizes, **self.derived(sizes)}

    def parameters(self) -> list[str]:
        """The parameters of the C function, in order."""
        words = [
            f"{'' if array.out else 'const '}{C_TYPES[array.dtype]} *{array.name}"
            for array in self.arrays
        ]
        return words + [f"int64_t {name}" for name in self.size_names()]

    def size_names(self) -> list[str]:
        """Names of the integers, in order."""
        sample = self.listed(small=True)
        return list(sample)

    def prototype(self) -> str:
        """The C declaration."""
        return f"void {self.name}({', '.join(self.parameters())});"


def normal(rng: Generator, *shape: int) -> NDArray[np.float32]:
    """Standard normal numbers."""
    return rng.standard_normal(shape, np.float32)


def uniform_bytes(rng: Generator, shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """Uniform random bytes as an array of one-byte integers."""
    count = int(np.prod(shape))
    return np.frombuffer(rng.bytes(count), dtype).reshape(shape).copy()
