"""The pool that a process shares, and pools for a block of code."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Generator

from unhack.core.errors import UsageError
from unhack.sandbox.job import Isolation
from unhack.sandbox.pool.pool import Pool

_shared: dict[int, Pool] = {}
_shared_lock = threading.Lock()


SLOTS = "UNHACK_SLOTS"
"""Environment variable: workers for each profile of a process's shared pool. For hosts with many
processes that judge, such as a trainer's reward workers, each of which would take all cores."""


def shared_pool() -> Pool:
    """The process's own pool, made on first use and again after a fork; its size is `SLOTS`, by
    default the cores that the process may use. Raises UsageError for another value of `SLOTS`."""
    with _shared_lock:
        pool = _shared.get(os.getpid())
        if pool is None:
            _shared.clear()
            pool = _shared[os.getpid()] = Pool(slots=wanted_slots())
        return pool


def wanted_slots() -> int | None:
    """The number in `SLOTS`, None where it is not set. Raises UsageError."""
    return wanted_number(SLOTS, "workers")


def wanted_number(variable: str, things: str) -> int | None:
    """A number from 1 on in an environment variable, None where it is not set. Raises
    UsageError."""
    wanted = os.environ.get(variable, "")
    if not wanted:
        return None
    if not wanted.isascii() or not wanted.isdigit() or not int(wanted):
        raise UsageError(f"{variable} is {wanted[:40]!r}; give a number of {things} from 1 on")
    return int(wanted)


@contextlib.contextmanager
def pool(*, slots: int | None = None, isolation: Isolation | None = None) -> Generator[Pool]:
    """A pool that is closed at the end of the block."""
    made = Pool(slots=slots, isolation=isolation)
    try:
        yield made
    finally:
        made.close()
