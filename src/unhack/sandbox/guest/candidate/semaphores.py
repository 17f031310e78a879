"""Semaphores of `multiprocessing` for one process, where the system has none to share.

Covered: what its locks, queues and `ThreadPool` ask of them, among threads.
Not covered: other processes, which cannot be started here.
"""

from __future__ import annotations

import importlib
import itertools
from _thread import get_ident
from typing import Any

_RECURSIVE = 0
_names = itertools.count()


class ThreadSemaphore:
    """The shim of `_multiprocessing.SemLock`."""

    SEM_VALUE_MAX = 2**31 - 1

    def __init__(self, kind: int, value: int, maxvalue: int, name: str, unlink: bool) -> None:
        self.kind = kind
        self.maxvalue = maxvalue
        self.name = None
        """None: there is nothing that `multiprocessing` would have to clean up."""
        self.handle = next(_names)
        self._value = value
        import threading  # loaded by whoever asks for one, and not in a worker before

        self._changed = threading.Condition()
        self._owner = 0
        self._held = 0

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        """Take it once; False when it cannot be had in time."""
        me = get_ident()
        with self._changed:
            if self.kind == _RECURSIVE and self._owner == me and self._held:
                self._held += 1
                return True
            wait = timeout if block else 0.0
            if not self._changed.wait_for(lambda: self._value > 0, wait):
                return False
            self._value -= 1
            self._owner = me
            self._held += 1
            return True

    def release(self) -> None:
        """Give it back once. Raises AssertionError, ValueError where it is not held."""
        with self._changed:
            if self.kind == _RECURSIVE:
                if self._owner != get_ident() or not self._held:
                    raise AssertionError("attempt to release recursive lock not owned by thread")
                if self._held > 1:
                    self._held -= 1
                    return
            elif self._value >= self.maxvalue:
                raise ValueError("semaphore or lock released too many times")
            self._value += 1
            self._held -= 1
            self._changed.notify()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: Any) -> None:
        self.release()

    def _count(self) -> int:
        return self._held

    def _is_mine(self) -> bool:
        return self._held > 0 and self._owner == get_ident()

    def _get_value(self) -> int:
        return self._value

    def _is_zero(self) -> bool:
        return self._value == 0

    def _after_fork(self) -> None:
        self._held = 0


def install() -> None:
    """Put the shim in place, before `multiprocessing` looks for the system's."""
    module: Any = importlib.import_module("_multiprocessing")
    module.SemLock = ThreadSemaphore
