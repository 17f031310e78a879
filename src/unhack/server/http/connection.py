"""A connection of uvicorn that does not wait for ever: the head of a request has seconds to arrive.

Covered: clients that connect and say nothing, that send a head letter by letter, after other
requests too; more connections than the process may have open files for.
Not covered: slow bodies (`bodies`), which only clients with a key may send.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 20.0
"""Seconds from the first byte, or from the connection, to the end of a request's head."""
_SPARE_FILES = 512
"""Files that connections leave to the database and the sandbox."""


def most_connections() -> int:
    """The number of connections that the open files of this process allow."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(64, allowed - _SPARE_FILES, allowed // 2)


class BoundedConnection(H11Protocol):
    """h11's connection with a time for heads and a bound on their number."""

    head_s = HEAD_S
    most = 1 << 20
    """Connections at a time; more are cut."""
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin the time of the first head."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.abort()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Take bytes; the time ends with a head, and begins with the next one's first byte."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Begin the time of the next head, a part of which may be here."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the time."""
        self._stop()
        super().connection_lost(exc)

    @property
    def _busy(self) -> bool:
        """True from the end of a head to the end of the reply."""
        cycle: Any = self.cycle  # None before the first head
        return cycle is not None and not cycle.response_complete

    def _look(self) -> None:
        if self._busy:
            self._stop()
        elif self._waiting is None and not self.transport.is_closing():
            self._wait()

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self.head_s, self._too_slow)

    def _stop(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _too_slow(self) -> None:
        self._waiting = None
        if not self._busy:
            self.transport.abort()
