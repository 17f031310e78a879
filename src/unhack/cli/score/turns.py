"""The order in which completions are started, and in which their verdicts are shown.

Completions start from both ends, so that a stretch of endless loops at one end does not keep the
others from being judged. Verdicts are shown in the order of the completions, but none waits longer
than three seconds for those before it. With groups a whole group is shown at once, as advantages
need all of it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

PATIENCE_S = 3.0
"""Longest wait of a unit that is judged for those before it."""


def from_both_ends(items: Sequence[int]) -> Iterator[int]:
    """First, last, second, last but one, …"""
    low, high = 0, len(items) - 1
    while low <= high:
        yield items[low]
        if low < high:
            yield items[high]
        low, high = low + 1, high - 1


class Turns:
    """Hands units on, once all their members are there. Threads may share it."""

    def __init__(
        self,
        units: Sequence[Sequence[int]],
        show: Callable[[int], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`units` are lists of members, each member in one; `show` takes the number of a unit."""
        self._show = show
        self._clock = clock
        self._unit_of = {member: number for number, unit in enumerate(units) for member in unit}
        self._missing = [len(unit) for unit in units]
        self._whole: dict[int, float] = {}
        self._shown: set[int] = set()
        self._next = 0
        self._lock = threading.RLock()

    def put(self, member: int) -> None:
        """A member is there; shows what may be shown. Each member comes once."""
        with self._lock:
            unit = self._unit_of[member]
            self._missing[unit] -= 1
            if not self._missing[unit]:
                self._whole[unit] = self._clock()
            self.look()

    def look(self) -> None:
        """Show what is next, and what has waited for long enough."""
        with self._lock:
            while self._next in self._whole or self._next in self._shown:
                if self._next in self._whole:
                    self._hand_on(self._next)
                self._shown.discard(self._next)
                self._next += 1
            due = self._clock() - PATIENCE_S
            # In the order in which they came; the first that is not due ends the search.
            while self._whole:
                unit, since = next(iter(self._whole.items()))
                if since > due:
                    break
                self._hand_on(unit)

    def finish(self) -> None:
        """Show every whole unit that is left, in order."""
        with self._lock:
            for unit in sorted(self._whole):
                self._hand_on(unit)

    def _hand_on(self, unit: int) -> None:
        del self._whole[unit]
        self._shown.add(unit)
        self._show(unit)
