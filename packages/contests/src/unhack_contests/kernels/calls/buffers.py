"""Places of inputs and outputs in shared memory, and the bytes that stand there before a call.

Covered: addresses that change and come back, a poison in outputs that no computation leaves, a
fence around every buffer.
Not covered: reads outside a buffer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, Sizes

ALIGNMENT = 64
FENCE = 128
"""Bytes before and after each buffer that nobody may write."""
_SLACK = 4096


def shared_bytes(calls: Iterable[tuple[KernelProblem, Sizes]]) -> int:
    """Room for any layout of any of these."""
    most = 0
    for problem, sizes in calls:
        room = sum(_bytes(array, sizes) + 2 * FENCE + _SLACK for array in problem.arrays)
        most = max(most, room)
    return (most + 0xFFFF) & ~0xFFFF


def _bytes(array: Array, sizes: Sizes) -> int:
    return int(np.prod(array.dims(sizes))) * np.dtype(array.dtype).itemsize


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of the buffers of one call."""

    problem: KernelProblem
    sizes: Sizes
    offsets: Mapping[str, int]

    def values(self, *, python: bool) -> list[int]:
        """The numbers of the call, as `candidate.kernel` wants them."""
        found: list[int] = []
        for array in self.problem.arrays:
            found.append(self.offsets[array.name])
            if python:
                found.extend(array.dims(self.sizes))
        return found + list(self.sizes.values())

    def view(self, memory: NDArray[np.uint8], array: Array) -> NDArray[Any]:
        """A buffer as an array over the shared memory."""
        start = self.offsets[array.name]
        flat = memory[start : start + _bytes(array, self.sizes)]
        return flat.view(array.dtype).reshape(array.dims(self.sizes))

    def fences(self, memory: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
        """The bytes before and after each buffer."""
        found: list[NDArray[np.uint8]] = []
        for array in self.problem.arrays:
            start = self.offsets[array.name]
            end = start + _bytes(array, self.sizes)
            found += [memory[start - FENCE : start], memory[end : end + FENCE]]
        return found


def layout(problem: KernelProblem, sizes: Sizes, rng: Generator) -> Layout:
    """A random order of the buffers with random gaps."""
    offsets: dict[str, int] = {}
    place = 0
    for index in rng.permutation(len(problem.arrays)):
        array = problem.arrays[int(index)]
        gap = FENCE + ALIGNMENT * int(rng.integers(0, (_SLACK - ALIGNMENT) // ALIGNMENT))
        place = (place + gap + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        offsets[array.name] = place
        place += _bytes(array, sizes) + FENCE
    return Layout(problem, sizes, offsets)


def poison(dtype: str, number: int) -> NDArray[Any]:
    """One element that no computation leaves: a NaN with a payload, or a large odd pattern."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return np.array([0x7FC00000 | (number & 0x3FFFFF) | 1], np.uint32).view(kind)
    pattern = (0x5A5A5A5A5A5A5A00 ^ (number << 8)) & 0x7FFFFFFFFFFFFFFF
    return np.array([pattern], np.int64).view(kind)[:1]


@dataclass(slots=True)
class Filled:
    """The shared memory with the inputs of one call, until it is looked at."""

    layout: Layout
    number: int
    memory: NDArray[np.uint8]
    given: Arrays

    def fill(self) -> None:
        """Write inputs, poison and fences."""
        for fence in self.layout.fences(self.memory):
            fence[:] = self.number & 0xFF
        for array in self.layout.problem.arrays:
            view = self.layout.view(self.memory, array)
            view[...] = poison(array.dtype, self.number) if array.out else self.given[array.name]

    def outputs(self) -> Arrays:
        """Copies of what stands in the outputs at this moment."""
        wanted = self.layout.problem.outputs
        return {array.name: self.layout.view(self.memory, array).copy() for array in wanted}

    def changed_since(self, outputs: Arrays) -> list[str]:
        """Outputs that are not what they were, bit by bit."""
        found: list[str] = []
        for array in self.layout.problem.outputs:
            there = self.layout.view(self.memory, array).view(np.uint8)
            if not np.array_equal(there, outputs[array.name].view(np.uint8)):
                found.append(array.name)
        return found

    def tampered(self) -> list[str]:
        """Inputs that are not what was given, bit by bit."""
        found: list[str] = []
        for array in self.layout.problem.inputs:
            there = self.layout.view(self.memory, array).view(np.uint8)
            given = np.ascontiguousarray(self.given[array.name])
            if not np.array_equal(there, given.view(np.uint8)):
                found.append(array.name)
        return found

    def breached(self) -> bool:
        """True when something was written beside a buffer."""
        return any((fence != self.number & 0xFF).any() for fence in self.layout.fences(self.memory))

    def untouched(self, output: NDArray[Any]) -> NDArray[np.bool_]:
        """Which elements still hold the poison."""
        bare = poison(output.dtype.name, self.number)
        bits = f"u{output.dtype.itemsize}"
        return output.view(bits) == bare.view(bits)
