"""A calendar that starts at the same instant in every job, for reproducible verdicts.

Covered: `time.time`, `time.time_ns`, `datetime.now`, `utcnow`, `today`, and the calls of `time`
that take "now" when given no argument. The clock advances at its real rate from a fixed start.
Not covered: native code and `time.clock_gettime` read the machine's clock.
"""

from __future__ import annotations

import datetime
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
    """Put subclasses in place that differ only in what "now" is; instance checks keep working."""
    real_datetime, real_date = datetime.datetime, datetime.date

    class Meta(type):
        def __instancecheck__(cls, value: object) -> bool:
            real = cls.__dict__.get("_real")
            return isinstance(value, real) if real else type.__instancecheck__(cls, value)

        def __subclasscheck__(cls, kind: type) -> bool:
            real = cls.__dict__.get("_real")
            return issubclass(kind, real) if real else type.__subclasscheck__(cls, kind)

    class FixedDatetime(real_datetime, metaclass=Meta):
        _real = real_datetime

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(now(), tz)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(now(), datetime.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(now())

        def __repr__(self) -> str:
            text = real_datetime.__repr__(self)
            return f"datetime.{text}" if type(self) is FixedDatetime else text

    class FixedDate(real_date, metaclass=Meta):
        _real = real_date

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(now())

        def __repr__(self) -> str:
            text = real_date.__repr__(self)
            return f"datetime.{text}" if type(self) is FixedDate else text

    for kind, name in ((FixedDatetime, "datetime"), (FixedDate, "date")):
        kind.__name__ = kind.__qualname__ = name
        kind.__module__ = "datetime"
    fixed = (FixedDatetime, FixedDate)
    datetime.datetime, datetime.date = fixed
    _spare_native_code((real_datetime, real_date), fixed)


def _spare_native_code(real: tuple[type, type], fixed: tuple[type, type]) -> None:
    """Let extension modules see the real classes while they initialise: a native type that inherits
    from a class written in Python, as some of pandas would, crashes or hangs."""
    loader: Any = sys.modules["_frozen_importlib_external"].ExtensionFileLoader
    for name in ("create_module", "exec_module"):
        setattr(loader, name, _with_types(getattr(loader, name), real, fixed))


def _with_types(step: Any, real: tuple[type, type], fixed: tuple[type, type]) -> Any:
    def run(self: Any, argument: Any) -> Any:
        datetime.datetime, datetime.date = real
        try:
            return step(self, argument)
        finally:
            datetime.datetime, datetime.date = fixed

    return run
