"""The memory that the judge shares with one side: inputs, outputs and weights in one block.

Buffers lie in a random order with random gaps, and a pattern fills what lies between them. Groups
of sets (the listed and the hidden shape) take turns on the same memory: each has all of it. The
judge keeps everything that has to stay as it is in memory of its own: a submission may write to the
whole shared memory, and to nothing else of the judge's.

Covered: any dtype; poison that no computation leaves; bytes that were written beside a buffer.
Not covered: reads beside a buffer.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unhack_contests.kernels.gpu.guest import device_memory

Shape = tuple[tuple[int, ...], Any]
"""Sizes and the torch dtype."""
Place = list[Any]
"""[offset, name of the dtype, sizes]: what the worker is told."""
FENCE = 4096
"""Bytes before and after each buffer that are looked at."""
_ALIGNMENT = 512
_GAPS = 64
_PATTERN = 0xA5


@dataclass(slots=True)
class BufferSet:
    """The buffers of one call."""

    inputs: list[Place]
    output: Place


@dataclass(slots=True)
class MemoryPlan:
    """The places of all buffers."""

    sets: list[BufferSet]
    weights: dict[str, Place]
    size: int
    start: int
    """The place at which the weights end and the sets begin."""
    fences: list[list[tuple[int, int]]]
    """Of each group."""


def plan(
    torch: Any,
    groups: Sequence[Sequence[tuple[list[Shape], Shape]]],
    weights: dict[str, Shape],
    rng: random.Random,
) -> MemoryPlan:
    """Places for the sets ([inputs, output] each) of every group, and for `weights`."""
    named = {name: _unplaced(shape) for name, shape in weights.items()}
    start, common = _lay(torch, [*named.values()], 0, rng)
    sets: list[BufferSet] = []
    fences: list[list[tuple[int, int]]] = []
    size = start
    for group in groups:
        made = [BufferSet([_unplaced(one) for one in ins], _unplaced(out)) for ins, out in group]
        places = [place for one in made for place in (*one.inputs, one.output)]
        end, own = _lay(torch, places, start, rng)
        sets += made
        fences.append(common + own)
        size = max(size, end)
    return MemoryPlan(sets, named, size + FENCE, start, fences)


def bytes_of_set(torch: Any, inputs: list[Shape], output: Shape) -> int:
    """The bytes of one set, without the gaps."""
    return sum(_bytes(torch, _unplaced(shape)) for shape in (*inputs, output))


def _lay(
    torch: Any, places: list[Place], end: int, rng: random.Random
) -> tuple[int, list[tuple[int, int]]]:
    """Offsets for places from `end` on: (where they end, their fences)."""
    rng.shuffle(places)
    fences: list[tuple[int, int]] = []
    for place in places:
        start = end + FENCE + _ALIGNMENT * rng.randrange(_GAPS)
        start = -(-start // _ALIGNMENT) * _ALIGNMENT
        place[0] = start
        end = start + _bytes(torch, place)
        fences += [(start - FENCE, start), (end, end + FENCE)]
        end += FENCE
    return end, fences


def _unplaced(shape: Shape) -> Place:
    return [0, str(shape[1]).removeprefix("torch."), list(shape[0])]


def _bytes(torch: Any, place: Place) -> int:
    return math.prod(place[2]) * getattr(torch, place[1]).itemsize


class SharedMemory:
    """The block, in the judge's own context. Raises DeviceError where there is no room."""

    def __init__(self, torch: Any, made: MemoryPlan, device: str) -> None:
        self.torch, self.plan = torch, made
        self._driver, self._block, self.bytes = allocate(torch, made.size, device)
        self.bytes.fill_(_PATTERN)
        self._group = 0

    def descriptor(self) -> int:
        """By which another process maps it; the caller closes it. Raises DeviceError."""
        return self._driver.export(self._block)

    @property
    def size(self) -> int:
        """Bytes."""
        return self._block.size

    def view(self, place: Place) -> Any:
        """A buffer."""
        return device_memory.view(self.torch, self.bytes, place)

    def raw(self, place: Place) -> Any:
        """A buffer as bytes."""
        return self.bytes[place[0] : place[0] + _bytes(self.torch, place)]

    def use(self, group: int) -> None:
        """The sets of this group are used from here on: where others were, the pattern is."""
        if group != self._group:
            self._group = group
            self.bytes[self.plan.start :].fill_(_PATTERN)

    def breached(self) -> bool:
        """True when something was written beside a buffer of the group in use."""
        parts = [self.bytes[start:end] for start, end in self.plan.fences[self._group]]
        return bool((self.torch.cat(parts) != _PATTERN).any())

    def close(self) -> None:
        """Give the memory back."""
        del self.bytes
        self._driver.free(self._block)


def allocate(torch: Any, size: int, device: str) -> tuple[Any, device_memory.DeviceBlock, Any]:
    """(driver, block, its bytes as a tensor). Raises DeviceError."""
    number = torch.device(device).index or 0
    torch.zeros(1, device=device)
    driver = device_memory.Driver(number)
    block = driver.create(size)
    return driver, block, device_memory.bytes_of(torch, block, device)


def poison(torch: Any, dtype: Any, number: int, device: str) -> Any:
    """The bytes of one element that no computation leaves: a NaN with a payload, or a large odd
    pattern."""
    size = dtype.itemsize
    if dtype.is_floating_point:
        quiet = {2: 0x7E00 if dtype is torch.float16 else 0x7FC0, 4: 0x7FC00000}.get(
            size, 0x7FF8 << 48
        )
        bits = quiet | (number % 61 * 2 + 1) & (0x3F if size == 2 else 0x3FFFFF)
    else:
        bits = (0x5A5A5A5A5A5A5A5B ^ (number << 8)) & ((1 << (8 * size - 1)) - 1)
    word = list(bits.to_bytes(size, "little"))
    return torch.tensor(word, dtype=torch.uint8, device=device)
