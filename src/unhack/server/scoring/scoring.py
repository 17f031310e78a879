"""ScoringDesk for clients: one judge, fair places, everything stored before anybody hears of it.

    verdict = await scoring.score(order)      # stored when it is there
    await scoring.accept(batch, items)        # goes on by itself, after a restart too

Covered: single completions and batches of all tenants share one pool; a batch that was accepted is
judged to its end by this process or by the next on the same database; no item is judged into the
database twice.
Not covered: two servers on one database; the second is refused at its start.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from unhack.core.verdict import Verdict
from unhack.integrations.judge import Judge
from unhack.server.scoring.batch_run import BatchRun
from unhack.server.scoring.batch_store import NewBatch, NewItem
from unhack.server.scoring.bench import Bench
from unhack.tasks.task import Task


@dataclass(frozen=True, slots=True)
class ScoreOrder:
    """One completion of a tenant."""

    tenant_id: int
    task: Task
    task_name: str
    """As the database keeps it."""
    completion: str
    origin: str
    """The route that it came by."""
    deadline_at: float | None = None
    """Seconds since 1970."""
    idempotency_key: str | None = None
    body_digest: str | None = None
    most_open: int | None = None
    """The key's own limit of open items."""


class ScoringDesk:
    """The judge of one server, on its event loop."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.store, self.names, self.limits = bench.store, bench.names, bench.limits
        self._runs: dict[str, BatchRun] = {}

    async def start(self) -> None:
        """Go on with what an earlier server accepted."""
        await asyncio.to_thread(self.store.drop_unaccepted)
        for batch, left in await asyncio.to_thread(self.store.unfinished):
            self.limits.resume(batch.tenant_id, left)
            self._begin(batch, left)

    async def stop(self) -> None:
        """Stop judging; accepted batches stay for the next start."""
        await asyncio.gather(*(run.leave() for run in list(self._runs.values())))

    async def leave_unwatched(self) -> None:
        """Stop the batches that no client waits for; they stay for the next start."""
        left = [run for run in list(self._runs.values()) if not run.watched]
        await asyncio.gather(*(run.leave() for run in left))

    async def score(self, order: ScoreOrder) -> tuple[str, Verdict]:
        """The id of a new batch of one, and its verdict, which is stored.

        Raises TimeoutError at the deadline (nothing is stored then), RequestRefused (429), and
        what `Judge.submit` and its future raise.
        """
        self.limits.take(order.tenant_id, 1, most=order.most_open)
        try:
            verdict = await self._judge(order)
            batch = NewBatch(
                new_id(),
                order.tenant_id,
                order.origin,
                1,
                deadline_at=order.deadline_at,
                idempotency_key=order.idempotency_key,
                body_digest=order.body_digest,
            )
            item = NewItem(order.task_name, order.completion)
            await asyncio.wrap_future(self.store.accept_judged(batch, item, verdict))
        finally:
            self.limits.give_back(order.tenant_id)
        self.bench.on_verdict(verdict)
        return batch.id, verdict

    async def _judge(self, order: ScoreOrder) -> Verdict:
        """The verdict. Raises TimeoutError at the deadline, and ends what runs for it then."""
        if order.deadline_at is None:
            await self.bench.turnstile.enter(order.tenant_id)
            return await self.bench.judge(order.tenant_id, order.task, order.completion)
        async with asyncio.timeout(max(0.0, order.deadline_at - time.time())):
            return await self._judge_alone(order.tenant_id, order.task, order.completion)

    async def _judge_alone(self, tenant_id: int, task: Task, completion: str) -> Verdict:
        """The verdict when it is the tenant's turn; who gives up ends what runs for it."""
        own = Judge()
        try:
            await self.bench.turnstile.enter(tenant_id)
            return await self.bench.judge(tenant_id, task, completion, judge=own)
        finally:
            own.cancel()

    async def judge_again(
        self, tenant_id: int, task: Task, completion: str, *, most_open: int | None = None
    ) -> Verdict:
        """A verdict that is stored nowhere, in the tenant's turn; who gives up ends what runs for
        it. Raises RequestRefused (429), and what `Judge.submit` and its future raise."""
        self.limits.take(tenant_id, 1, most=most_open)
        try:
            return await self._judge_alone(tenant_id, task, completion)
        finally:
            self.limits.give_back(tenant_id)

    async def accept(
        self, batch: NewBatch, listed: Sequence[NewItem], *, most_open: int | None = None
    ) -> BatchRun:
        """Store a batch and begin it. Raises RequestRefused (429, or 422 for one too large)."""
        self.limits.take(batch.tenant_id, batch.count, most=most_open)
        try:
            stored = await asyncio.wrap_future(self.store.accept(batch, listed))
            if not stored:
                raise RuntimeError("the items of a batch were not stored")
        except BaseException:
            self.limits.give_back(batch.tenant_id, batch.count)
            raise
        return self._begin(batch, batch.count)

    def run_of(self, batch_id: str) -> BatchRun | None:
        """The batch while it is under way in this process."""
        return self._runs.get(batch_id)

    def _forget(self, batch_id: str) -> None:
        self._runs.pop(batch_id, None)

    def _begin(self, batch: NewBatch, left: int) -> BatchRun:
        run = self._runs[batch.id] = BatchRun(self.bench, batch, left, self._forget)
        run.start()
        return run


def new_id() -> str:
    """The id of a batch."""
    return uuid.uuid4().hex
