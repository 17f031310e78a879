"""The limits of one job."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard limits of one job. A limit that is hit is a verdict, never an error.

    Example:

        limits = Limits(wall_s=2.0, memory_bytes=256 * MIB)
        limits.with_(processes=1)
    """

    wall_s: float = 10.0
    """Seconds from the job's start; waiting for a core while demoted does not count."""
    cpu_s: float = 10.0
    """User plus system seconds of any one process, rounded up to whole seconds."""
    memory_bytes: int = 512 * MIB
    """Address space that a process may add to what the interpreter already maps."""
    processes: int = 64
    """Processes and threads alive at once, the first one included."""
    open_files: int = 64
    """File descriptors of a process."""
    file_bytes: int = 16 * MIB
    """Largest single file that may be written."""
    output_bytes: int = 1 * MIB
    """Bytes kept of the results, of stdout and of stderr, each; more ends the job. A function or
    stdio task raises it to twice what it expects, where that is more."""
    disk_bytes: int = 64 * MIB
    """Size of the private writable directory, where the profile has one."""
    soft_slice_s: float = 0.1
    """Seconds after which a job yields its slot and goes on at the lowest priority."""
    wall_hard_s: float = math.inf
    """Seconds of real time from the job's start, waits for a core included; all tries together."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not value > 0:
                raise ValueError(f"{item.name} must be positive, not {value!r}")

    def with_(self, **changes: Any) -> Limits:
        """A copy with some limits changed."""
        return replace(self, **changes)
