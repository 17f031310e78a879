"""The clocks of running jobs: slices, deadlines, CPU time, and waiting for a core.

On a busy machine a job may be ready to run and not get to. Counting that time would turn right
answers into time-outs. The kernel keeps the figure for each thread; a job that makes itself wait,
with threads or child processes of its own, gains nothing: the CPU time of all counts in full.
CPU time is the scheduler's, to the nanosecond: the ticks that `RLIMIT_CPU` counts run ahead of it
beside others.

Covered: every thread of a job, and every process below it that lives when it is looked at; a hard
wall, for which waiting counts.
Not covered: the waits of processes that have ended by then. Several threads may be up to half a
second each over their CPU limit when they are seen.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MAX_WAITING = 20.0
"""A job is given at most this many times its wall limit."""
_PENDING_S = 1.0
"""A wait that is going on is not in the kernel's figure yet; it is given this long to end."""
_NEARLY = 0.1
"""Share of a slice that may be left when it counts as used."""
_STARVING = 0.1
"""Share of its wall limit that a job has waited for a core when that may be why it was late."""
_LOOK_S = 0.5
"""Longest pause between two looks at a job's CPU time."""
_SOONEST_S = 0.01
_MAX_PROCESSES = 1000
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")

BY_ITSELF, BY_WALL, BY_HOST, BY_STARVING, BY_CPU, BY_HARD_WALL = range(6)
"""Causes of a job's end: `BY_STARVING` is a wall limit that it reached for want of a core."""


class RunningJob:
    """One job, as the fork server sees it."""

    __slots__ = ("account", "cpu", "demoted", "hard_at", "job", "look_at", "lost_slot", "pid",
                 "pidfd", "soft", "soft_at", "started", "wall", "wall_at", "why")  # fmt: skip

    def __init__(self, job: int, pid: int, pidfd: int, seconds: Sequence[float]) -> None:
        """`seconds`: the limits of wall time, soft slice, CPU time and hard wall."""
        self.job = job
        self.pid = pid
        self.pidfd = pidfd
        self.started = time.monotonic()
        self.wall, self.soft, self.cpu, hard = seconds
        self.soft_at = self.started + self.soft
        self.wall_at = self.started + self.wall
        self.hard_at = self.started + hard
        self.look_at = self.started + min(self.cpu, _LOOK_S)
        self.lost_slot = False
        """True when its slot went to another job."""
        self.demoted = False
        self.account = -1
        """The user namespace that it alone is in; -1 without one."""
        self.why = 0
        """The cause of its end: `BY_ITSELF` or another of them."""

    def next_event(self) -> float:
        """The time at which the next of its clocks has to be looked at."""
        end = min(self.wall_at, self.hard_at, self.look_at)
        return end if self.demoted else min(end, self.soft_at)

    def limit_reached(self, now: float, proc: int, *, program: bool) -> int:
        """The limit of time that it is past, after which there is no going on; else `BY_ITSELF`.

        Waiting for a core counts for the hard wall only.
        """
        if now >= self.hard_at:
            return BY_HARD_WALL
        if now >= self.look_at:
            numbers = _tree(proc, self.pid) if program else (self.pid,)
            left = self.cpu - max(map(cpu_s, numbers))
            if left <= 0:
                return BY_CPU
            self.look_at = now + min(max(left, _SOONEST_S), _LOOK_S)
        if now >= self.wall_at:
            seen = job_times(proc, self.pid, program=program)
            more = seen.extension(wall_s=self.wall, elapsed_s=now - self.started)
            if not more:
                return BY_STARVING if seen.starved(self.wall) else BY_WALL
            self.wall_at = self.started + self.wall + more
        return BY_ITSELF

    def unused_s(self) -> float:
        """CPU seconds of its slice that it has not used; 0 when about all of it is."""
        left = self.soft - cpu_s(self.pid)
        return left if left > _NEARLY * self.soft else 0.0


@dataclass(frozen=True, slots=True)
class JobTimes:
    """The time of a job, as the kernel counts it."""

    cpu_s: float
    """Of all its processes and threads, those that have ended included."""
    waited_s: float
    """The longest that one of its live threads was ready to run and did not."""
    runnable: bool
    """True when some thread runs or waits for a core now."""

    def extension(self, *, wall_s: float, elapsed_s: float) -> float:
        """Seconds to add to the deadline of a job that has reached it; 0 when its time is up.

        `elapsed_s` is the time since the job's start.
        """
        if elapsed_s >= wall_s * _MAX_WAITING or self.cpu_s >= wall_s:
            return 0.0
        waited = self.waited_s
        if self.runnable and elapsed_s - waited >= wall_s and self.cpu_s < 0.9 * wall_s:
            waited += _PENDING_S
        return waited if wall_s + waited > elapsed_s + 0.001 else 0.0

    def starved(self, wall_s: float) -> bool:
        """True when a job that reached its wall limit might not have, had it had a core."""
        return self.cpu_s < 0.9 * wall_s and self.waited_s > _STARVING * wall_s


def cpu_s(pid: int) -> float:
    """CPU seconds of all threads of a process; 0 when it has ended."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # the kernel's MAKE_PROCESS_CPUCLOCK
    except OSError:
        return 0.0


def job_times(proc: int, pid: int, *, program: bool) -> JobTimes:
    """The state of the job whose first process is `pid`; `proc` is a descriptor of /proc.

    Only a program has more than one process.
    """
    total, longest, runnable = 0.0, 0.0, False
    for number in _tree(proc, pid) if program else (pid,):
        if program:
            words = _read(proc, f"{number}/stat").rpartition(b")")[2].split()
            total += sum(map(int, words[11:15])) * _TICK_S  # its own, and of children it reaped
        for thread in _names(proc, f"{number}/task"):
            waited, ready = _waiting(proc, f"{number}/task/{thread}")
            longest = max(longest, waited)
            runnable = runnable or ready
    return JobTimes(max(total, cpu_s(pid)), longest, runnable)


def lower_priority(proc: int, pid: int, *, program: bool) -> None:
    """Give a job the lowest priority, as far as it is allowed.

    Process 1 of a program keeps its own. It has nothing to do but to take the others with it when
    it is killed; below 60 that fork it would get no core for that, for minutes.
    """
    numbers = [number for number in _tree(proc, pid) if number != pid] if program else [pid]
    for thread in [name for number in numbers for name in _names(proc, f"{number}/task")]:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(int(thread), os.SCHED_IDLE, os.sched_param(0))


def _tree(proc: int, pid: int) -> Iterator[int]:
    """A process and everything below it, as far as it can be listed."""
    waiting = [pid]
    for _ in range(_MAX_PROCESSES):
        if not waiting:
            return
        number = waiting.pop()
        yield number
        for thread in _names(proc, f"{number}/task"):
            waiting += map(int, _read(proc, f"{number}/task/{thread}/children").split())


def _waiting(proc: int, path: str) -> tuple[float, bool]:
    """(seconds on the run queue, runnable now) of a thread; zeros where that is unknown."""
    try:
        waited = int(_read(proc, f"{path}/schedstat").split()[1])
        state = _read(proc, f"{path}/stat").rpartition(b")")[2].split()[0]
    except (ValueError, IndexError):
        return 0.0, False
    return waited / 1e9, state == b"R"


def _read(proc: int, path: str) -> bytes:
    """The content of a file of /proc; nothing when it is gone."""
    try:
        with open(os.open(path, os.O_RDONLY, dir_fd=proc), "rb") as file:
            return file.read()
    except OSError:
        return b""


def _names(proc: int, path: str) -> list[str]:
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=proc)
    except OSError:
        return []
    try:
        return os.listdir(folder)
    except OSError:
        return []
    finally:
        os.close(folder)
