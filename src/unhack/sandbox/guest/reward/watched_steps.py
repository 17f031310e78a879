"""Steps of a session in a process that is watched: one that hangs or ends it costs only itself.

The steps follow one another in a child. Where one takes too long, or ends the child, a line says
so, and another child goes on with the next step.

Covered: sleeping, computing, swallowed exceptions, processes that a step started and left; a busy
host, where time in which nothing here ran does not count.
Not covered: what earlier steps left in the memory of a child that was ended.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

_TICK_S = 0.05
_LATE = 2.0
"""Ticks that one wait counts for at most: the watcher wakes as late as the watched one runs."""
_CPU_CLOCK = 2
Line = list[Any]
_clock, _cpu = time.perf_counter, time.clock_gettime
_fork, _kill, _read, _write, _exit = os.fork, os.killpg, os.read, os.write, os._exit


def run(count: int, *, step_s: float, step: Callable[[int], None]) -> Iterator[Line]:
    """Take the steps 0 to `count` - 1 in children, `step_s` seconds each at most.

    `step` takes one and sends its line. Yields the lines of those that gave none.
    """
    number = 0
    while number < count:
        read_end, write_end = os.pipe()
        pid = _fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                os.setpgid(0, 0)
                os.close(read_end)
                for at in range(number, count):
                    step(at)
                    _write(write_end, b".")
            _exit(0)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        os.close(write_end)
        done, seconds, why = _await_steps(read_end, pid, count - number, step_s)
        os.close(read_end)
        with contextlib.suppress(OSError):
            _kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(pid, 0)
        number += done
        if number < count:
            yield [number, seconds, why, "no score in its time" if why == "timeout" else ""]
            number += 1


def _await_steps(read_end: int, pid: int, count: int, step_s: float) -> tuple[int, float, str]:
    """(steps that were done, seconds of the one that was not, why it was not)."""
    done, waited, began = 0, 0.0, _cpu_of(pid)
    while done < count:
        before = _clock()
        ready, _, _ = select.select([read_end], [], [], _TICK_S)
        if ready:
            data = _read(read_end, 4096)
            if not data:
                return done, waited, "ended"
            done, waited, began = done + len(data), 0.0, _cpu_of(pid)
            continue
        waited += min(_clock() - before, _LATE * _TICK_S)
        if waited >= step_s or _cpu_of(pid) - began >= step_s:
            return done, waited, "timeout"
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is not None and not select.select([read_end], [], [], 0)[0]:
            return done, waited, "ended"
    return done, waited, ""


def _cpu_of(pid: int) -> float:
    """Seconds of CPU time that a process used; 0 where that cannot be seen."""
    try:
        return _cpu((~pid << 3) | _CPU_CLOCK)
    except OSError:
        return 0.0
