"""The pool that a process shares, and pools for a block of code."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Generator

from unhack.sandbox.job import Isolation
from unhack.sandbox.pool.pool import Pool

_shared: dict[int, Pool] = {}
_shared_lock = threading.Lock()


def shared_pool() -> Pool:
    """The process's own pool with default settings, made on first use and again after a fork."""
    with _shared_lock:
        pool = _shared.get(os.getpid())
        if pool is None:
            _shared.clear()
            pool = _shared[os.getpid()] = Pool()
        return pool


@contextlib.contextmanager
def pool(*, slots: int | None = None, isolation: Isolation | None = None) -> Generator[Pool]:
    """A pool that is closed at the end of the block."""
    made = Pool(slots=slots, isolation=isolation)
    try:
        yield made
    finally:
        made.close()
