"""The queue between who judges and who waits: verdicts go in one by one and come out many."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import Protocol

from unhack.core.verdict import Verdict


class ResultSink(Protocol):
    """A place for verdicts. Both are called on the thread that judges, and must not wait."""

    def put(self, pairs: Iterable[tuple[int, Verdict]]) -> None:
        """Take (index, verdict) pairs."""
        ...

    def fail(self, error: BaseException) -> None:
        """Take the error that ended the batch as a whole; nothing comes after it."""
        ...


class ResultQueue:
    """Verdicts of one batch, until its caller takes them."""

    def __init__(self) -> None:
        self.failure: BaseException | None = None
        """The error that ended the batch, such as a host that cannot isolate."""
        self._open = 0
        self._ready: deque[tuple[int, Verdict]] = deque()
        self._condition = threading.Condition()
        self._wanted = 1

    @property
    def open(self) -> int:
        """Items expected whose verdict has not been taken."""
        return self._open

    def expect(self, count: int) -> None:
        """Count further items, from any thread."""
        with self._condition:
            self._open += count

    def put(self, pairs: Iterable[tuple[int, Verdict]]) -> None:
        """See `ResultSink.put`; the caller is woken when there is as much as it waits for."""
        with self._condition:
            self._ready.extend(pairs)
            if len(self._ready) >= self._wanted:
                self._condition.notify()

    def fail(self, error: BaseException) -> None:
        """See `ResultSink.fail`; the first error stays."""
        with self._condition:
            self.failure = self.failure or error
            self._condition.notify()

    def take(self, *, at_least: int, timeout_s: float | None) -> list[tuple[int, Verdict]]:
        """See `Flight.take`."""
        with self._condition:
            self._wanted = min(at_least, self._open)
            self._condition.wait_for(self._enough, timeout_s)
            if self.failure is not None:
                raise self.failure
            taken = list(self._ready)
            self._ready.clear()
            self._open -= len(taken)
            return taken

    def _enough(self) -> bool:
        return self.failure is not None or len(self._ready) >= self._wanted
