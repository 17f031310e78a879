"""Pruning: once an hour, batches and jobs go that ended longer ago than they are to be kept.

Covered: what is open is never touched, however old it is; a pass that fails is tried an hour later.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

from unhack.server.database.database import Database
from unhack.server.jobs.job_runner import JobRunner
from unhack.server.scoring.retention import prune_batches

_EVERY_S = 3600.0
_DAY_S = 86_400.0
_log = logging.getLogger("unhack.server")


class Pruning:
    """The passes of one server. Lives on its event loop."""

    def __init__(self, database: Database, jobs: JobRunner, *, keep_days: float | None) -> None:
        """`keep_days` of None keeps everything."""
        self._database, self._jobs, self._keep_days = database, jobs, keep_days
        self._work: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, at once and then each hour."""
        if self._keep_days is not None:
            self._work = asyncio.create_task(self._live(self._keep_days), name="pruning")

    async def stop(self) -> None:
        """End after the pass that is under way."""
        if self._work is not None:
            self._work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._work

    def prune(self, before: float) -> tuple[int, int]:
        """Delete what ended before a time, in seconds since 1970: numbers of batches and jobs."""
        return prune_batches(self._database, before), self._jobs.prune(before)

    async def _live(self, days: float) -> None:
        while True:
            try:
                found = await asyncio.to_thread(self.prune, time.time() - days * _DAY_S)
            except Exception as error:
                _log.error("pruning failed", exc_info=error)
            else:
                if any(found):
                    _log.info("pruned %d batches and %d jobs", *found)
            await asyncio.sleep(_EVERY_S)
