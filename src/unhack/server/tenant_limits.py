"""Limits of a tenant: items that are open at a time, and requests in a minute.

Covered: both answer 429 with the seconds to wait in Retry-After; a burst may use a minute's
requests at once. Lives on one event loop.
Not covered: limits over several servers; a server has its own database.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable

from unhack.server.http.problems import RequestRefused

_WAIT_FOR_ITEMS_S = 2


class TenantLimits:
    """The figures of all tenants of this server."""

    def __init__(
        self, *, items: int, requests: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._items, self._requests, self._clock = items, requests, clock
        self._open: Counter[int] = Counter()
        self._left: dict[int, tuple[float, float]] = {}
        """(requests left, the time of that) of each tenant."""

    def count_request(self, tenant: int) -> None:
        """Count one request. Raises RequestRefused (429)."""
        now = self._clock()
        left, since = self._left.get(tenant, (float(self._requests), now))
        left = min(float(self._requests), left + (now - since) * self._requests / 60)
        if left < 1:
            wait = math.ceil((1 - left) * 60 / self._requests)
            raise _too_many(f"more than {self._requests} requests in a minute", wait)
        self._left[tenant] = (left - 1, now)

    def take(self, tenant: int, count: int) -> None:
        """Count `count` items as open. Raises RequestRefused (429; 422 for what never fits)."""
        if count > self._items:
            raise RequestRefused(
                422,
                "too_many_items",
                f"{count} completions in one batch; at most {self._items} of a tenant are open at "
                "a time, so send it in parts",
            )
        if self._open[tenant] + count > self._items:
            what = f"{self._open[tenant]} items of yours are open, and at most {self._items} may be"
            raise _too_many(what, _WAIT_FOR_ITEMS_S)
        self._open[tenant] += count

    def resume(self, tenant: int, count: int) -> None:
        """Count items of a batch that was accepted before this start."""
        self._open[tenant] += count

    def give_back(self, tenant: int, count: int = 1) -> None:
        """Count items as done."""
        self._open[tenant] -= count
        if not self._open[tenant]:
            del self._open[tenant]

    @property
    def open(self) -> int:
        """Open items of all tenants."""
        return self._open.total()


def _too_many(what: str, wait_s: int) -> RequestRefused:
    return RequestRefused(
        429, "too_many", f"{what}; try again in {wait_s} s", headers={"Retry-After": str(wait_s)}
    )
