"""Pruning: once an hour, batches and jobs go that ended longer ago than they are to be kept.

Covered: what is open is never touched, however old it is; a pass that fails is tried an hour later.
A batch goes with its items and its idempotency key: it is hidden first and deleted then, some items
at a time, so that no other write waits for long; a kill in the middle is made good by the next
start. A task that came with a request goes when no batch is left that could name it.
Not covered: the size of a SQLite file, which takes new rows into the space and does not shrink.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time

import sqlalchemy as sa

from unhack.server.database.database import Database
from unhack.server.database.schema import batches, inline_tasks, items
from unhack.server.jobs.job_runner import JobRunner
from unhack.server.scoring.batch_store import CANCELLED, DONE, EXPIRED, FAILED, RECEIVING

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


_ENDED = (DONE, EXPIRED, FAILED, CANCELLED)
_BATCHES_AT_ONCE, _ITEMS_AT_ONCE = 500, 2000
_MARGIN_S = 7200.0
"""Seconds for which the use of a task is not written down again, and as many to spare."""


def prune_batches(database: Database, before: float) -> int:
    """Delete the batches that ended before a time, in seconds since 1970; their number."""
    count = 0
    old = sa.select(batches.c.id).where(batches.c.state.in_(_ENDED), batches.c.finished_at < before)
    while found := [row["id"] for row in database.rows(old.limit(_BATCHES_AT_ONCE))]:
        hidden = sa.update(batches).where(batches.c.id.in_(found))
        database.execute(hidden.values(state=RECEIVING, idempotency_key=None)).result()
        for batch_id in found:
            _delete(database, batch_id)
        count += len(found)
    _prune_tasks(database, before - _MARGIN_S)
    return count


def _delete(database: Database, batch_id: str) -> None:
    last = sa.select(sa.func.max(items.c.position)).where(items.c.batch_id == batch_id)
    top = database.scalar(last)
    for start in range(0, (-1 if top is None else top) + 1, _ITEMS_AT_ONCE):
        some = items.c.position < start + _ITEMS_AT_ONCE
        database.execute(sa.delete(items).where(items.c.batch_id == batch_id, some)).result()
    database.execute(sa.delete(batches).where(batches.c.id == batch_id)).result()


def _prune_tasks(database: Database, before: float) -> None:
    """Delete inline tasks that were last used before a time, and that no batch from before it
    names; later ones would have used them later."""
    asked = sa.select(inline_tasks.c.tenant_id, inline_tasks.c.digest).where(
        inline_tasks.c.used_at < before
    )
    old = database.rows(asked)
    if not old:
        return
    named = (
        sa.select(items.c.tenant_id, items.c.task)
        .join(batches, batches.c.id == items.c.batch_id)
        .where(batches.c.created_at < before + _MARGIN_S)
        .distinct()
    )
    used = {(row["tenant_id"], row["task"]) for row in database.rows(named)}
    for row in old:
        if (row["tenant_id"], json.dumps({"inline": row["digest"]})) not in used:
            database.execute(
                sa.delete(inline_tasks).where(
                    inline_tasks.c.tenant_id == row["tenant_id"],
                    inline_tasks.c.digest == row["digest"],
                    inline_tasks.c.used_at < before,
                )
            ).result()
