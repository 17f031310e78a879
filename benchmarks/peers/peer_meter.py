"""Wall clock and CPU clock of a whole process tree."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

CPUACCT = Path("/sys/fs/cgroup/cpuacct")
GROUP_PREFIX = "unhack-peer-"


def rusage_s() -> float:
    """CPU seconds of this process and its reaped children."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, who))


@contextmanager
def cpu_group(*, enabled: bool) -> Iterator[Path | None]:
    """Move this process into a cpuacct group of its own; yields None where that is not allowed."""
    group = CPUACCT / f"{GROUP_PREFIX}{os.getpid()}"
    try:
        if not enabled:
            raise OSError("not wanted")
        own = Path("/proc/self/cgroup").read_text().splitlines()
        home = next(line.split(":", 2)[2] for line in own if "cpuacct" in line.split(":", 2)[1])
        group.mkdir()
        (group / "cgroup.procs").write_text("0")
    except (OSError, StopIteration):
        yield None
        return
    try:
        yield group
    finally:
        (CPUACCT / home.lstrip("/") / "cgroup.procs").write_text("0")
        for _ in range(20):
            with suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.05)


@dataclass(slots=True)
class Meter:
    """Both clocks; `group` is a cpuacct group, None for `getrusage`."""

    group: Path | None
    started: float = 0.0
    cpu_started: float = 0.0
    wall_s: float = 0.0
    cpu_s: float = 0.0

    def _cpu(self) -> float:
        if self.group is not None:
            return int((self.group / "cpuacct.usage").read_text()) / 1e9
        return rusage_s()

    def start(self) -> None:
        self.cpu_started, self.started = self._cpu(), time.perf_counter()

    def stop(self) -> None:
        self.wall_s = time.perf_counter() - self.started
        self.cpu_s = self._cpu() - self.cpu_started
