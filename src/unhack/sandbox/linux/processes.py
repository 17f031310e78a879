"""The processes of this host as `/proc` lists them at one moment.

Covered: a process that ends between two reads is left out, wherever the read stood.
(`Path.glob` will not do: below a directory of `/proc` whose process has just ended the kernel says
ESRCH, which it passes on.)
Not covered: a process that starts, or is handed to another parent, while the list is read.
Sources: proc(5), proc_pid_task_children(5), clock_getcpuclockid(3).
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path


def pids() -> list[int]:
    """Every process in sight, in the order of `/proc`."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def command_lines() -> dict[int, bytes]:
    """The words of every process in sight, each closed by a zero byte; the dead have none."""
    found: dict[int, bytes] = {}
    for pid in pids():
        with contextlib.suppress(OSError):
            found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes()
    return found


def cpu_s(pid: int) -> float:
    """User and system seconds of a process so far, of its ended threads too. Raises OSError when it
    is gone."""
    # clock_getcpuclockid(3): the complement of the pid, shifted by three, and CPUCLOCK_SCHED.
    return time.clock_gettime((~pid << 3) | 2)


def children(pid: int) -> list[int]:
    """The processes that any thread of `pid` has started and not reaped; none when it is gone."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                listed = Path(f"/proc/{pid}/task/{thread}/children").read_text()
                found += [int(word) for word in listed.split()]
    return found


def tree_of(pid: int) -> frozenset[int]:
    """A process and all below it, as the host counts them."""
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += children(one)
    return frozenset(found)
