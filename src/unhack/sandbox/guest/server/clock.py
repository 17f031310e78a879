"""A calendar that starts at the same instant in every job, for reproducible verdicts.

Covered: `time.time`, `time.time_ns`, `datetime.now`, `utcnow`, `today`, and the calls of `time`
that take "now" when given no argument. The clock advances at its real rate from a fixed start.
Not covered: native code and `time.clock_gettime` read the machine's clock.
"""

from __future__ import annotations

import ctypes
import datetime
import gc
import random
import sys
import time
from collections.abc import Callable
from typing import Any

START = 1_735_689_600
"""2025-01-01T00:00:00Z."""


_monotonic_ns = time.monotonic_ns
_origin_ns = 0


def restart() -> None:
    """Let the calendar begin now: each job finds the same, whenever it runs."""
    global _origin_ns
    _origin_ns = _monotonic_ns()


def freeze() -> None:
    """Put the clock, the time zone and the global random generators in a known state."""
    time.tzset()
    restart()

    def time_ns() -> int:
        return START * 1_000_000_000 + _monotonic_ns() - _origin_ns

    def now() -> float:
        return time_ns() / 1e9

    for name in ("gmtime", "localtime", "ctime"):
        real = getattr(time, name)
        setattr(time, name, _defaulting(real, now))
    real_strftime, localtime = time.strftime, time.localtime

    def strftime(pattern: str, moment: Any = None) -> str:
        return real_strftime(pattern, localtime() if moment is None else moment)

    time.strftime = strftime
    time.time, time.time_ns = now, time_ns
    _replace_datetime(now)
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


def _defaulting(real: Any, now: Callable[[], float]) -> Any:
    def call(seconds: float | None = None) -> Any:
        return real(now() if seconds is None else seconds)

    call.__name__ = real.__name__
    return call


def _replace_datetime(now: Callable[[], float]) -> None:
    """Put methods in place in the real class, whose type every value has: a class put in its place
    would not be the type of what `date()` and `datetime` arithmetic return. `date.today` and
    `datetime.today` ask `time.time`."""
    utc = datetime.UTC

    def fixed_now(cls: Any, tz: Any = None) -> Any:
        return cls.fromtimestamp(now(), tz)

    def utcnow(cls: Any) -> Any:
        return cls.fromtimestamp(now(), utc).replace(tzinfo=None)

    fixed_now.__name__, fixed_now.__qualname__ = "now", "datetime.now"
    utcnow.__qualname__ = "datetime.utcnow"
    # The mapping behind the read-only view: a class written in C takes no assignment.
    [methods] = gc.get_referents(datetime.datetime.__dict__)
    methods["now"], methods["utcnow"] = classmethod(fixed_now), classmethod(utcnow)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))
