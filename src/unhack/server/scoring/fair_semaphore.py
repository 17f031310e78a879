"""A semaphore that is fair between tenants.

Whoever waits is served in the order of their tenant, and tenants one after the other, so that a
tenant with a hundred thousand items holds up another's single one by a few slots.

Covered: waiters that are cancelled; a tenant's share, so that some slots are left for others.
Lives on one event loop. `asyncio.Semaphore` serves by time of arrival alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque


class FairSemaphore:
    """A bounded number of slots, of which one tenant gets at most three quarters."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._share = max(1, slots - slots // 4)
        """Most slots of one tenant."""
        self._taken: Counter[int] = Counter()
        self._lines: OrderedDict[int, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def taken(self) -> int:
        """Slots in use."""
        return self._taken.total()

    async def acquire(self, tenant: int) -> None:
        """Wait for a slot; the caller must `release` once."""
        if tenant not in self._lines and self._has_room(tenant):
            self._taken[tenant] += 1
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(tenant, deque()).append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.release(tenant)  # the slot came too late
            raise

    def release(self, tenant: int) -> None:
        """Give a slot back, and let in who is next."""
        self._taken[tenant] -= 1
        if not self._taken[tenant]:
            del self._taken[tenant]
        for other in list(self._lines):
            if self.taken >= self.slots:
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
        return self.taken < self.slots and self._taken[tenant] < self._share
