"""The streams of running jobs: read while they fill, but never woken for every byte.

Covered: results, output and unsent messages of jobs that run longer than a pause; a job that wrote
too much or has said enough is ended. Not covered: short jobs, which are read once at their end.
"""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable

from unhack.sandbox.pool.attempt import Attempt
from unhack.sandbox.pool.reactor import Reactor

_PAUSE_S = 0.02
"""Pause between two looks at a running job's streams."""


class StreamWatch:
    """A watcher of streams on the pool's thread. `end` ends a job, for `output` or `stop`."""

    def __init__(self, end: Callable[[Attempt, str], None]) -> None:
        self._end = end
        self._unwatched: deque[tuple[float, Attempt]] = deque()
        self.reactor: Reactor | None = None
        """Set once, before the first job."""

    def timeout_s(self) -> float:
        """Longest time until `look` has to be called again."""
        return _PAUSE_S if self._unwatched else 1.0

    def begin(self, attempt: Attempt) -> None:
        """Watch a job that was just handed over."""
        if attempt.unsent:
            self._watch(attempt)
        else:
            self._look_later(attempt)

    def look(self, now: float) -> None:
        """Look at channels of jobs that run long: their pipes may be full."""
        while self._unwatched and self._unwatched[0][0] < now:
            _, attempt = self._unwatched.popleft()
            over = attempt.done or attempt.stopping or attempt.watched
            if attempt.streams and not over:
                self._watch(attempt)

    def drain(self, attempt: Attempt) -> None:
        """Take what is left in the streams and stop looking at them."""
        self.unwatch(attempt)
        for stream in attempt.streams:
            stream.drain()

    def unwatch(self, attempt: Attempt) -> None:
        """Stop looking at a job's streams."""
        attempt.watched = False
        for stream in attempt.streams:
            self._reactor.unwatch(stream.fd)

    @property
    def _reactor(self) -> Reactor:
        assert self.reactor is not None
        return self.reactor

    def _look_later(self, attempt: Attempt) -> None:
        self._unwatched.append((time.monotonic() + _PAUSE_S, attempt))

    def _watch(self, attempt: Attempt) -> None:
        attempt.watched = True
        for position, stream in enumerate(attempt.streams):
            events = select.EPOLLIN | (select.EPOLLOUT if attempt.unsent and not position else 0)
            if not stream.ended:
                self._reactor.watch(stream.fd, lambda event: self._on_event(attempt, event), events)

    def _on_event(self, attempt: Attempt, event: int) -> None:
        if event & select.EPOLLOUT:
            if attempt.send_more():
                self.unwatch(attempt)
                self._look_later(attempt)
            return
        self.unwatch(attempt)
        for stream in attempt.streams:
            if not stream.ended:
                stream.drain()
        if any(stream.overflowed for stream in attempt.streams):
            self._end(attempt, "output")
        elif attempt.wants_stop():
            self._end(attempt, "stop")
        else:
            self._look_later(attempt)
