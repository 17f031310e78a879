"""Places at the judge, given to tenants in turn.

A place stands for one completion that is judged. Whoever waits is served in the order of their
tenant, and tenants one after the other, so that a tenant with a hundred thousand items holds up
another's single one by a few places.

Covered: waiters that are cancelled; a tenant's share, so that some places are left for others.
Lives on one event loop.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque


class Turnstile:
    """A bounded number of places; fair between tenants."""

    def __init__(self, places: int) -> None:
        self.places = places
        self._share = max(1, places - places // 4)
        """Most places of one tenant."""
        self._taken: Counter[int] = Counter()
        self._lines: OrderedDict[int, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def taken(self) -> int:
        """Places in use."""
        return self._taken.total()

    async def enter(self, tenant: int) -> None:
        """Wait for a place; the caller must `leave` once."""
        if tenant not in self._lines and self._has_room(tenant):
            self._taken[tenant] += 1
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(tenant, deque()).append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.leave(tenant)  # the place came too late
            raise

    def leave(self, tenant: int) -> None:
        """Give a place back, and let in who is next."""
        self._taken[tenant] -= 1
        if not self._taken[tenant]:
            del self._taken[tenant]
        for other in list(self._lines):
            if self.taken >= self.places:
                return
            self._let_in(other)

    def _let_in(self, tenant: int) -> None:
        """Serve the first waiter of a tenant, and put the tenant last."""
        line = self._lines[tenant]
        while line and line[0].done():  # cancelled while it waited
            line.popleft()
        if line and self._has_room(tenant):
            line.popleft().set_result(None)
            self._taken[tenant] += 1
            self._lines.move_to_end(tenant)
        if not line:
            del self._lines[tenant]

    def _has_room(self, tenant: int) -> bool:
        return self.taken < self.places and self._taken[tenant] < self._share
