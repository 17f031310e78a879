"""One thread that waits for descriptors and runs what it is handed; the streams that it reads."""

from __future__ import annotations

import contextlib
import fcntl
import heapq
import itertools
import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

_CHUNK = 1 << 18
_IDLE_S = 60.0
"""Longest wait where nothing is due."""


class Reactor:
    """An event loop that runs everything given to it on its thread, one thing at a time."""

    def __init__(
        self,
        *,
        name: str,
        at_end: Callable[[], None],
        timeout_s: Callable[[], float] | None = None,
        tick: Callable[[], None] | None = None,
    ) -> None:
        """`at_end` runs once, last. For those who watch clocks of their own: `tick` runs after each
        wait, which lasts at most `timeout_s()`."""
        self._timeout_s, self._tick, self._at_end = timeout_s, tick, at_end
        self._inbox: deque[Callable[[], None]] = deque()
        self._handlers: dict[int, Callable[[int], None]] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._poller = select.epoll()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._stopping = False
        self._sleeping = False
        self.watch(self._wake, self._drain_wake)
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)
        self._thread.start()

    def call_soon(self, function: Callable[[], None]) -> None:
        """Run `function` on the thread, soon. Safe from any thread."""
        self._inbox.append(function)
        if self._sleeping and not self.is_current():
            with contextlib.suppress(OSError):
                os.eventfd_write(self._wake, 1)

    def call_later(self, delay_s: float, function: Callable[[], None]) -> None:
        """Run `function` in `delay_s` seconds, to the next millisecond; on the thread itself."""
        heapq.heappush(self._timers, (time.monotonic() + delay_s, next(self._numbers), function))

    def watch(self, fd: int, handler: Callable[[int], None], events: int = select.EPOLLIN) -> None:
        """Call `handler(events)` whenever `fd` is ready."""
        self._handlers[fd] = handler
        self._poller.register(fd, events)

    def change(self, fd: int, events: int) -> None:
        """Wait for other events of a watched descriptor."""
        self._poller.modify(fd, events)

    def unwatch(self, fd: int) -> None:
        """Forget a descriptor; nothing happens when it is not watched."""
        if self._handlers.pop(fd, None) is not None:
            with contextlib.suppress(OSError):
                self._poller.unregister(fd)

    def is_current(self) -> bool:
        """True when the caller runs on the thread."""
        return threading.current_thread() is self._thread

    def stop(self) -> None:
        """Run what is queued, then `at_end`, then end; waits for it."""
        self._stopping = True
        self._sleeping = True
        self.call_soon(lambda: None)
        if not self.is_current():
            self._thread.join()

    def run_inbox(self) -> None:
        """Run what is queued. Only on the thread itself."""
        while self._inbox:
            self._inbox.popleft()()

    def _drain_wake(self, _: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._wake)

    def _loop(self) -> None:
        inbox, timers = self._inbox, self._timers
        try:
            while not self._stopping:
                while inbox:
                    inbox.popleft()()
                self._sleeping = True  # before the last look at the inbox: `call_soon` wakes it
                wait_s = _IDLE_S if self._timeout_s is None else self._timeout_s()
                if timers:
                    wait_s = min(wait_s, max(0.0, timers[0][0] - time.monotonic()))
                events = self._poller.poll(0.0 if inbox else wait_s)
                self._sleeping = False
                for fd, event in events:
                    handler = self._handlers.get(fd)
                    if handler is not None:
                        handler(event)
                now = time.monotonic()
                while timers and timers[0][0] <= now:
                    heapq.heappop(timers)[2]()
                if self._tick is not None:
                    self._tick()
        finally:
            self._at_end()
            self._poller.close()
            os.close(self._wake)


@dataclass(slots=True, eq=False)
class Stream:
    """A pipe or socket that a job writes to, read up to a limit."""

    fd: int
    limit: int
    data: bytearray = field(default_factory=bytearray)
    spill: int = 0
    """Bytes beyond the limit that are thrown away, from the front, before the stream overflows."""
    overflowed: bool = False
    ended: bool = False
    _line_start: int = 0
    """Start of the first line that `new_lines` has not given yet."""
    _searched: int = 0

    def new_lines(self) -> bytes:
        """The complete lines that came since the last call; each byte is looked at once."""
        end = self.data.rfind(b"\n", self._searched) + 1
        self._searched = len(self.data)
        if not end:
            return b""
        lines = bytes(self.data[self._line_start : end])
        self._line_start = end
        return lines

    def drain(self) -> bool:
        """Read what is there; False at the end of the stream."""
        while True:
            try:
                part = os.read(self.fd, _CHUNK)
            except BlockingIOError:
                return True
            except OSError:
                part = b""
            if not part:
                self.ended = True
                return False
            room = self.limit - len(self.data)
            if self.spill > 0 and len(part) > room:
                self.data += part
                del self.data[: len(part) - room]
                self.spill -= len(part) - room
                continue
            self.data += part[:room]
            if len(part) > room:
                self.overflowed = True
                return True

    def close(self) -> None:
        """Give the descriptor back."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def memory_file(data: bytes) -> int:
    """A descriptor that reads `data` and cannot be written."""
    fd = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd
