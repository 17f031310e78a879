"""The connection gate: requests in progress, and whether new work is accepted.

A server that shuts down closes its gate first: reads go on, new work gets 503, and the server waits
for the requests in progress.
"""

from __future__ import annotations

import asyncio

from unhack.server.http.problems import RequestRefused

_RETRY_AFTER_S = 10


class ConnectionGate:
    """The requests in progress. Lives on one event loop."""

    def __init__(self) -> None:
        self.in_progress = 0
        """Requests whose reply is not at its end."""
        self.closed = asyncio.Event()
        """Set when the server begins to shut down; endless replies end then."""
        self._changed = asyncio.Event()

    def enter(self) -> None:
        """Count a request."""
        self.in_progress += 1

    def leave(self) -> None:
        """Count a reply that is at its end."""
        self.in_progress -= 1
        self._changed.set()

    def check_open(self) -> None:
        """Raise RequestRefused (503) once the gate is closed."""
        if self.closed.is_set():
            words = f"the server is about to end; try again in {_RETRY_AFTER_S} s"
            raise RequestRefused(503, "draining", words, retry_s=_RETRY_AFTER_S)

    async def wait_until_empty(self, timeout_s: float) -> bool:
        """True when no request is in progress any more; False after `timeout_s` seconds."""
        try:
            async with asyncio.timeout(timeout_s):
                while self.in_progress:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True
