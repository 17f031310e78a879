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
_WAIT_FOR_STREAMS_S = 5
MOST_STREAMS = 64
"""Streams of events of one tenant at a time; each asks the database twice a second."""


class TenantLimits:
    """The figures of all tenants of this server."""

    def __init__(
        self, *, items: int, requests: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._items, self._requests, self._clock = items, requests, clock
        self._open: Counter[int] = Counter()
        self._left: dict[tuple[int, str], tuple[float, float]] = {}
        """(requests left, the time of that) of each tenant, and of each key with its own limit."""
        self._streams: Counter[int] = Counter()

    def count_request(self, tenant: int, *, key: str = "", most: int | None = None) -> None:
        """Count one request. `most` in a minute is the limit of a key that has its own, whose
        requests are counted apart. Raises RequestRefused (429)."""
        now = self._clock()
        counted, most = ((tenant, ""), self._requests) if most is None else ((tenant, key), most)
        left, since = self._left.get(counted, (float(most), now))
        left = min(float(most), left + (now - since) * most / 60)
        if left < 1:
            wait = math.ceil((1 - left) * 60 / most)
            raise _too_many(f"more than {most} requests in a minute", wait)
        self._left[counted] = (left - 1, now)

    def take(self, tenant: int, count: int, *, most: int | None = None) -> None:
        """Count `count` items of a tenant as open. `most` is the limit of a key that has its own:
        what it sends is refused while its tenant has so many. Raises RequestRefused (429; 422 for
        what never fits)."""
        self.check_size(count, most=most)
        limit = self._items if most is None else most
        if self._open[tenant] + count > limit:
            what = f"{self._open[tenant]} items of yours are open, and at most {limit} may be"
            raise _too_many(what, _WAIT_FOR_ITEMS_S)
        self._open[tenant] += count

    def check_size(self, count: int, *, most: int | None = None) -> None:
        """Raise RequestRefused (422) for so many items that they never fit."""
        limit = self._items if most is None else most
        if count > limit:
            most_open = f"at most {limit} may be open at a time, so send it in parts"
            words = f"{count} completions in one batch; {most_open}"
            raise RequestRefused(422, "too_many_items", words)

    def resume(self, tenant: int, count: int) -> None:
        """Count items of a batch that was accepted before this start."""
        self._open[tenant] += count

    def give_back(self, tenant: int, count: int = 1) -> None:
        """Count items as done."""
        self._open[tenant] -= count
        if not self._open[tenant]:
            del self._open[tenant]

    def open_stream(self, tenant: int) -> Callable[[], None]:
        """Count a stream of events until what is returned is called. Raises RequestRefused (429)
        where a tenant has as many as may be."""
        if self._streams[tenant] >= MOST_STREAMS:
            raise _too_many(f"{MOST_STREAMS} streams of events are open", _WAIT_FOR_STREAMS_S)
        self._streams[tenant] += 1

        def close() -> None:
            self._streams[tenant] -= 1
            if not self._streams[tenant]:
                del self._streams[tenant]

        return close

    @property
    def open(self) -> int:
        """Open items of all tenants."""
        return self._open.total()


def _too_many(what: str, wait_s: int) -> RequestRefused:
    words = f"{what}; try again in {wait_s} s"
    return RequestRefused(429, "too_many", words, retry_s=wait_s)
