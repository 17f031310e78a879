"""The door: requests that are under way, and whether new work may come in.

A server that ends shuts its door first: reading goes on, new work gets 503, and it waits for the
requests inside.
"""

from __future__ import annotations

import asyncio

from unhack.server.http.problems import RequestRefused

_RETRY_AFTER_S = 10


class Door:
    """The requests inside. Lives on one event loop."""

    def __init__(self) -> None:
        self.under_way = 0
        """Requests whose reply is not at its end."""
        self.shut = asyncio.Event()
        """Set when the server begins to end; endless replies end then."""
        self._changed = asyncio.Event()

    def enter(self) -> None:
        """Count a request."""
        self.under_way += 1

    def leave(self) -> None:
        """Count a reply that is at its end."""
        self.under_way -= 1
        self._changed.set()

    def check(self) -> None:
        """Raise RequestRefused (503) once the door is shut."""
        if self.shut.is_set():
            raise RequestRefused(
                503,
                "draining",
                f"the server is about to end; try again in {_RETRY_AFTER_S} s",
                headers={"Retry-After": str(_RETRY_AFTER_S)},
            )

    async def wait_until_empty(self, timeout_s: float) -> bool:
        """True when nobody is inside any more; False after `timeout_s` seconds."""
        try:
            async with asyncio.timeout(timeout_s):
                while self.under_way:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True
