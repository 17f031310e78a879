"""A backend that ends at a time of day: what runs then is ended, what comes later is not begun.

    timed = DeadlineBackend(shared_pool(), until=time.monotonic() + 60)
    with timed.within(time.monotonic() + 5):
        run_all(timed, jobs)         # each outcome within 5 s; `stopped` where it is late

A job's own limits count its own time, and a busy host may give it little: many jobs that hang take
many times their limit. The deadline counts as the user's clock does.

Covered: jobs that run, wait for a worker, or are handed in too late; lines that an ended job wrote
before are kept.
Not covered: work on the host between jobs.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator

from unhack.sandbox.job import Backend, Ending, Isolation, Job, JobHandle, Outcome

_MARGIN_S = 0.02
"""Seconds by which the watching thread may wake early."""


class _Ended:
    """The handle of a job that was never begun."""

    def cancel(self) -> None:
        """Do nothing: it has its outcome."""


class DeadlineBackend:
    """A backend with a deadline, in front of another one, which it leaves open."""

    def __init__(self, inner: Backend, *, until: float) -> None:
        """`until` is by `time.monotonic`."""
        self.inner = inner
        self.until = until
        self._open: dict[int, tuple[float, JobHandle]] = {}
        self._ended: set[int] = set()
        self._next = 0
        self._changed = threading.Condition()
        self._watches = False

    @property
    def isolation(self) -> Isolation:
        """See `Backend`."""
        return self.inner.isolation

    @property
    def slots(self) -> int:
        """See `Backend`."""
        return self.inner.slots

    @property
    def passed(self) -> bool:
        """True when the deadline is over, or so near that jobs may have been ended for it."""
        return time.monotonic() >= self.until - _MARGIN_S

    @contextlib.contextmanager
    def within(self, until: float) -> Generator[None]:
        """An earlier deadline for a block of code; a later one changes nothing."""
        before, self.until = self.until, min(self.until, until)
        try:
            yield
        finally:
            self.until = before

    def submit(self, job: Job, on_done: Callable[[Outcome], None]) -> JobHandle:
        """See `Backend`. Past the deadline the outcome is `stopped` at once, on this thread."""
        until = self.until
        if self.passed and job.peer is None:
            error = "the time was up before it began"
            on_done(Outcome(Ending.STOPPED, error=error, isolation=self.isolation))
            return _Ended()
        with self._changed:
            self._next += 1
            number = self._next

        def done(outcome: Outcome) -> None:
            with self._changed:
                self._ended.add(number)
                if self._open.pop(number, None) is not None:
                    self._ended.discard(number)
                    self._changed.notify()
            on_done(outcome)

        handle = self.inner.submit(job, done)
        with self._changed:
            if number in self._ended:  # it was done before its handle was here
                self._ended.discard(number)
                return handle
            self._open[number] = (until, handle)
            if not self._watches:
                self._watches = True
                threading.Thread(target=self._watch, name="deadline", daemon=True).start()
            self._changed.notify()
        return handle

    def call_soon(self, function: Callable[[], None]) -> None:
        """See `Backend`."""
        self.inner.call_soon(function)

    def close(self) -> None:
        """Do nothing: the backend behind it belongs to its maker."""

    def _watch(self) -> None:
        """End what is late; the thread ends when nothing runs."""
        while True:
            with self._changed:
                if not self._open:
                    self._watches = False
                    return
                now = time.monotonic() + _MARGIN_S
                late = [one for one, (until, _) in self._open.items() if until <= now]
                handles = [self._open[one][1] for one in late]
                for one in late:
                    self._open[one] = (float("inf"), self._open[one][1])
                if not late:
                    first = min(until for until, _ in self._open.values())
                    wait = None if first == float("inf") else max(0.0, first - now + _MARGIN_S)
                    self._changed.wait(wait if wait is None else min(wait, threading.TIMEOUT_MAX))
            for handle in handles:
                handle.cancel()
