"""The callers of a running server: found in the directory, remembered for a moment.

Covered: a key that is revoked stops within the moment; wrong keys are not remembered.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict

from unhack.server.access.caller import Caller
from unhack.server.access.directory import Directory
from unhack.server.access.keys import digest_of, id_of

_REMEMBERED_S = 2.0
_MOST = 1000


class Callers:
    """Keys to callers. Lives on one event loop."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._known: OrderedDict[str, tuple[float, Caller]] = OrderedDict()

    async def find(self, key: str) -> Caller | None:
        """The owner of a key; None for one that is unknown, malformed or revoked."""
        if id_of(key) is None:
            return None
        digest = digest_of(key)
        until, caller = self._known.get(digest, (0.0, None))
        if caller is not None and time.monotonic() < until:
            return caller
        found = await asyncio.to_thread(self._directory.caller, key)
        self._known.pop(digest, None)
        if found is not None:
            self._known[digest] = time.monotonic() + _REMEMBERED_S, found
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        return found
