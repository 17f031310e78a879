"""The memory that bodies of requests may take together, and each tenant's share of it.

A body has room from its first byte until the server has no more use for it: until its items are
stored, or its completion is judged. Who finds no room waits for it, and gets 503 in the end.

Covered: bytes as they arrive, values as they are parsed, what is kept while it is judged; one
tenant gets three quarters of the room. Lives on one event loop.
Not covered: fairness among those who wait; who fits first comes in first.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

from unhack.server.http.problems import RequestRefused

_WAIT_S = 30.0
_RETRY_AFTER_S = 5


class BodyRoom:
    """A bounded number of bytes."""

    def __init__(self, *, longest: int, together: int, wait_s: float = _WAIT_S) -> None:
        """`longest` bytes of one body, `together` bytes of memory for all of them."""
        self.longest = longest
        self.parsing = asyncio.Lock()
        """Held by the one long body that is parsed."""
        self._together = max(together, longest)
        self._share = max(longest, self._together * 3 // 4)
        self._wait_s = wait_s
        self._taken: Counter[int] = Counter()
        self._freed = asyncio.Event()

    @property
    def taken(self) -> int:
        """Bytes in use."""
        return self._taken.total()

    async def take(self, tenant: int, amount: int) -> None:
        """Wait for room. Raises RequestRefused: 503 where none comes free, 413 for what never
        fits."""
        if amount > self._share:
            words = f"the body takes {amount} bytes of memory; send it in parts"
            raise RequestRefused(413, "too_large", words)
        try:
            async with asyncio.timeout(self._wait_s):
                while not self._fits(tenant, amount):
                    self._freed.clear()
                    await self._freed.wait()
        except TimeoutError:
            words = f"the bodies of other requests fill the server; try again in {_RETRY_AFTER_S} s"
            raise RequestRefused(503, "busy", words, retry_s=_RETRY_AFTER_S) from None
        self._taken[tenant] += amount

    def give_back(self, tenant: int, amount: int) -> None:
        """Give room back."""
        self._taken[tenant] -= amount
        if not self._taken[tenant]:
            del self._taken[tenant]
        self._freed.set()

    def _fits(self, tenant: int, amount: int) -> bool:
        return self.taken + amount <= self._together and self._taken[tenant] + amount <= self._share


@dataclass(slots=True)
class HeldRoom:
    """The room of one request."""

    room: BodyRoom
    tenant: int
    amount: int = 0
    """Bytes."""

    async def grow(self, amount: int) -> None:
        """Have `amount` bytes, where it has fewer. Raises RequestRefused (413, 503)."""
        more = amount - self.amount
        if more > 0:
            await self.room.take(self.tenant, more)
            self.amount = amount

    def keep(self, amount: int) -> None:
        """Keep at most `amount` bytes."""
        more = self.amount - amount
        if more > 0:
            self.room.give_back(self.tenant, more)
            self.amount = amount

    def close(self) -> None:
        """Give all of it back."""
        self.keep(0)
