"""The card beside the calls: what its clocks did, and whether it was free.

A kernel that a submission leaves on the card goes on while its processes stand still. Contexts take
turns there, so the reference and its twin are slow alike, the control sees nothing, and the
submission looks fast beside them. The judge therefore times a piece of its own work, of a fixed
size and bound by the card's memory, before anything of the submission runs and again before every
call that counts.

Covered: a kernel that stays; what it costs is charged with the reference's time.
Not covered: one that takes less than `_BUSY` of the card; a card whose memory becomes slower by
itself by as much.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import Any

from unhack.sandbox.gpu.cards import Card, nvml
from unhack.tournament.kit import SandboxUnavailableError

_REPEATS = 16
"""Passes over the buffer: with one of 256 MiB about 3 ms, longer than a context's turn."""
_CLEAN_LOOKS = 9
_BUSY = 1.25
"""The probe's median has to grow by so much before it counts."""


@dataclass(slots=True)
class GpuNotes:
    """Things worth knowing of a measurement beside the times."""

    round_trip_s: list[float] = field(default_factory=list[float])
    """Of a packet that asks for nothing."""
    sm_mhz: list[int] = field(default_factory=list[int])
    held_back_by: set[str] = field(default_factory=set[str])
    sets: int = 1
    peak_card_bytes: int = 0
    probe_ratio: float = 1.0
    """See `CardProbe.ratio`."""

    def look(self, card: Card) -> None:
        """Note the clocks of this moment."""
        try:
            now = nvml().clocks(card.index)
        except SandboxUnavailableError:
            return  # a driver that does not tell
        self.sm_mhz.append(now.sm_mhz)
        self.held_back_by.update(now.held_back_by)


class CardProbe:
    """The judge's own work, timed."""

    def __init__(self, torch: Any, buffer: Any) -> None:
        """`buffer`: a tensor on the card that may be written to."""
        self._torch, self._buffer = torch, buffer
        self._beside: list[float] = []
        self._timed()  # the first pass loads the kernel
        self._clean = statistics.median(self._timed() for _ in range(_CLEAN_LOOKS))

    def look(self) -> None:
        """Time it beside the submission."""
        self._beside.append(self._timed())

    def ratio(self) -> float:
        """The median beside the submission over that before it; 1 without a look."""
        return statistics.median(self._beside) / self._clean if self._beside else 1.0

    def excess(self) -> float:
        """The part of the reference's time that is to be charged: 0 on a card that is free."""
        ratio = self.ratio()
        return ratio - 1.0 if ratio > _BUSY else 0.0

    def _timed(self) -> float:
        self._torch.cuda.synchronize()
        started = time.perf_counter()
        for _ in range(_REPEATS):
            self._buffer.add_(1)
        self._torch.cuda.synchronize()
        return time.perf_counter() - started
