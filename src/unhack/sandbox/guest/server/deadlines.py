"""The clocks of running jobs: slices, deadlines, and waiting for a core, which does not count.

On a busy machine a job may be ready to run and not get to. Counting that time would turn right
answers into time-outs. The kernel keeps the figure for each process; a job that makes itself wait,
with threads or child processes of its own, gains nothing: its CPU time counts in full.
"""

from __future__ import annotations

import os
import time

_MAX_WAITING = 20.0
"""A single process is given at most this many times its wall limit."""
_MAX_WAITING_PROGRAM = 2.0
"""A program, whose processes may be what it waits for."""
_PENDING_S = 1.0
"""A wait that is going on is not in the kernel's figure yet; it is given this long to end."""
_NEARLY = 0.1
"""Share of a slice that may be left when it counts as used."""


class RunningJob:
    """One job, as the fork server sees it."""

    __slots__ = ("demoted", "extended", "job", "lost_slot", "pid", "pidfd", "soft", "soft_at",
                 "started", "wall", "why")  # fmt: skip

    def __init__(self, job: int, pid: int, pidfd: int, wall: float, soft: float) -> None:
        self.job = job
        self.pid = pid
        self.pidfd = pidfd
        self.started = time.monotonic()
        self.soft = soft
        self.soft_at = self.started + soft
        self.wall = wall
        self.extended = 0.0
        self.lost_slot = False
        """True when its slot went to another job."""
        self.demoted = False
        self.why = 0
        """The cause of its end: `fork_server.BY_ITSELF`, `BY_WALL` or `BY_HOST`."""

    def next_event(self) -> float:
        end = self.started + self.wall + self.extended
        return end if self.demoted else min(end, self.soft_at)

    def unused_s(self) -> float:
        """CPU seconds of its slice that it has not used; 0 when about all of it is."""
        left = self.soft - cpu_s(self.pid)
        return left if left > _NEARLY * self.soft else 0.0


def extension(proc: int, pid: int, *, wall_s: float, elapsed_s: float, program: bool) -> float:
    """Seconds to add to the deadline of a job that has reached it; 0 when its time is up.

    `proc` is a descriptor of /proc, `elapsed_s` the time since the job's start.
    """
    max_elapsed_s = wall_s * (_MAX_WAITING_PROGRAM if program else _MAX_WAITING)
    cpu = cpu_s(pid)
    if elapsed_s >= max_elapsed_s or cpu >= wall_s:
        return 0.0
    waited, runnable = _waiting(proc, pid)
    if runnable and elapsed_s - waited >= wall_s and cpu < 0.9 * wall_s:
        waited += _PENDING_S
    return waited if wall_s + waited > elapsed_s + 0.001 else 0.0


def cpu_s(pid: int) -> float:
    """CPU seconds of all threads of a process; 0 when it has ended."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # the kernel's MAKE_PROCESS_CPUCLOCK
    except OSError:
        return 0.0


def _waiting(proc: int, pid: int) -> tuple[float, bool]:
    """(seconds on the run queue, runnable now) of a process; zeros where that is unknown."""
    try:
        with open(os.open(f"{pid}/schedstat", os.O_RDONLY, dir_fd=proc), "rb") as file:
            waited = int(file.read().split()[1])
        with open(os.open(f"{pid}/stat", os.O_RDONLY, dir_fd=proc), "rb") as file:
            state = file.read().rpartition(b")")[2].split()[0]
    except (OSError, ValueError, IndexError):
        return 0.0, False
    return waited / 1e9, state == b"R"
