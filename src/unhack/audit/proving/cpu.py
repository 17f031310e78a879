"""CPU seconds of this process and of all that it started, the sandbox's workers included.

Covered: Linux, by `/proc`; processes that ended count with the parent that waited for them.
Not covered: processes that left the tree, such as daemons; a read is at most half a second old.
"""

from __future__ import annotations

import math
import os
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

_EVERY_S = 0.5
_PARENT, _TIMES = 1, slice(11, 15)
"""Places in `/proc/PID/stat` behind the name: the parent; user, system, and those of children that
were waited for (proc(5), fields 4 and 14 to 17)."""


def cpu_seconds() -> float:
    """The CPU seconds so far of this process, its descendants, and what they waited for."""
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
        except (OSError, UnicodeDecodeError):
            continue  # it has ended
        number = int(folder.name)
        ticks[number] = sum(map(int, words[_TIMES]))
        children[int(words[_PARENT])].append(number)
    total, waiting = 0, [os.getpid()]
    while waiting:
        number = waiting.pop()
        total += ticks.get(number, 0)
        waiting += children[number]
    return total / os.sysconf("SC_CLK_TCK")


@dataclass
class CpuAllowance:
    """CPU seconds that an audit may use from now on."""

    seconds: float
    _began: float = field(default_factory=cpu_seconds)
    _read_at: float = field(default_factory=time.monotonic)
    _used: float = 0.0

    @staticmethod
    def of(seconds: float) -> CpuAllowance | None:
        """The allowance of so many seconds from now on; None for no limit."""
        return CpuAllowance(seconds) if math.isfinite(seconds) else None

    @property
    def used(self) -> float:
        """CPU seconds since it was made."""
        now = time.monotonic()
        if now - self._read_at >= _EVERY_S:
            self._read_at, self._used = now, cpu_seconds() - self._began
        return self._used

    @property
    def spent(self) -> bool:
        """True once they are used up."""
        return self.used >= self.seconds
