"""The executor behind a backend, so that whole tasks cross and not each of their jobs.

A deadline in front of the backend holds for its batches too: at that time they end, as the jobs of
a local batch do, with PoolClosedError.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from unhack.core.errors import PoolClosedError
from unhack.core.verdict import Verdict
from unhack.sandbox.deadline import DeadlineBackend
from unhack.sandbox.job import Backend
from unhack.tasks.execution.elsewhere import ExecutorBackend
from unhack.tasks.execution.executor import Executor, Flight, LocalExecutor, WideFlight
from unhack.tasks.task import Task


def executor_behind(backend: Backend) -> Executor:
    """The executor that a backend stands for; for a pool the one that judges on it."""
    if isinstance(backend, ExecutorBackend):
        return backend.executor
    if isinstance(backend, DeadlineBackend) and isinstance(backend.inner, ExecutorBackend):
        return TimedExecutor(backend.inner.executor, backend)
    return LocalExecutor(backend)


@dataclass(frozen=True, slots=True)
class TimedExecutor:
    """An executor whose batches end with the deadline that holds when they begin."""

    inner: Executor
    deadline: DeadlineBackend

    def begin(self) -> Flight:
        """See `Executor`."""
        return TimedFlight(self.inner.begin(), self.deadline.until)


@dataclass(frozen=True, slots=True)
class TimedFlight:
    """A batch that ends at a time by `time.monotonic`."""

    inner: Flight
    until: float

    @property
    def open(self) -> int:
        """See `Flight`."""
        return self.inner.open

    @property
    def window(self) -> int:
        """See `WideFlight`; 0 where nothing is known."""
        return self.inner.window if isinstance(self.inner, WideFlight) else 0

    def add(self, items: list[tuple[int, Task, str]]) -> None:
        """See `Flight`."""
        self.inner.add(items)

    def take(
        self, *, at_least: int = 1, timeout_s: float | None = None
    ) -> list[tuple[int, Verdict]]:
        """See `Flight`. Raises PoolClosedError when the time is up before there are so many."""
        left = self.until - time.monotonic()
        is_last = timeout_s is None or timeout_s >= left
        found = self.inner.take(
            at_least=at_least, timeout_s=max(0.0, left) if is_last else timeout_s
        )
        if is_last and self.inner.open and len(found) < at_least:
            raise PoolClosedError("a job was ended before its time: the time was up")
        return found

    def cancel(self) -> None:
        """See `Flight`."""
        self.inner.cancel()
