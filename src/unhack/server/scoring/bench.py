"""The bench: the judge with its places, and what stands around it, for everything that scores."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from unhack.core.verdict import Verdict
from unhack.integrations.judge import Judge
from unhack.sandbox.job import Job, Outcome
from unhack.sandbox.pool.shared import shared_pool
from unhack.server.scoring.batch_store import BatchStore
from unhack.server.scoring.task_names import TaskNames
from unhack.server.scoring.tenant_limits import TenantLimits
from unhack.server.scoring.turnstile import Turnstile
from unhack.tasks.task import Task

_PLACES_PER_SLOT = 8
"""Completions handed to the judge for each worker: as many stragglers as a worker puts aside, so
that those of one tenant, which get three quarters of the places, leave room for others."""


class Bench:
    """The judge of one server, on its event loop."""

    def __init__(
        self, judge: Judge, store: BatchStore, names: TaskNames, limits: TenantLimits
    ) -> None:
        self.store, self.names, self.limits = store, names, limits
        self.turnstile = Turnstile(_PLACES_PER_SLOT * shared_pool().slots)
        self.on_verdict: Callable[[Verdict], None] = lambda _: None
        """Told of every verdict that is stored."""
        self._judge = judge

    async def judge(
        self, tenant_id: int, task: Task, completion: str, *, judge: Judge | None = None
    ) -> Verdict:
        """The verdict of a completion whose place is taken; the place is given back when the judge
        is done, also where nobody waits any more. `judge` is one of the caller's own, which it can
        cancel."""
        loop = asyncio.get_running_loop()
        try:
            future = (judge or self._judge).submit(task, completion)
        except BaseException:
            self.turnstile.leave(tenant_id)
            raise

        def give_back(_: Future[Any]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self.turnstile.leave, tenant_id)

        future.add_done_callback(give_back)
        return await asyncio.wrap_future(future)

    async def run(self, tenant_id: int, job: Job) -> Outcome:
        """The outcome of a job that is no verdict's, when it is its tenant's turn; a request that
        is given up ends its job."""
        await self.turnstile.enter(tenant_id)
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Outcome] = loop.create_future()

        def settle(outcome: Outcome) -> None:
            if not ended.done():
                ended.set_result(outcome)

        def tell(outcome: Outcome) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(settle, outcome)

        try:
            ticket = shared_pool().submit(job, tell)
            try:
                return await ended
            except asyncio.CancelledError:
                ticket.cancel()
                raise
        finally:
            self.turnstile.leave(tenant_id)
