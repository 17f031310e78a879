"""The scoring service: accepts completions, shares the scheduler fairly between tenants, and stores
every verdict before anybody hears of it.

    verdict = await scoring.score(order)      # stored when it is there
    await scoring.accept(batch, items)        # goes on by itself, after a restart too

Covered: single completions and batches of all tenants share one scheduler; a batch that was
accepted is judged to its end by this process or by the next on the same database, and holds at most
half of the slots; no item is judged into the database twice; identical completions of a task in a
batch are judged once; what fails for a while (a database that does not answer) is tried again; a
deadline and a cancellation end at once what is being judged.
Not covered: two servers on one database; the second is refused at its start.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from unhack.core.errors import PoolClosedError, SandboxUnavailableError, UsageError
from unhack.core.verdict import Verdict, unscored_verdict
from unhack.sandbox.job import Job, Outcome
from unhack.sandbox.pool.pool import shared_pool
from unhack.server.scoring import batch_store
from unhack.server.scoring.batch_run import BatchRun
from unhack.server.scoring.batch_store import BatchStore, NewBatch, NewItem, Pending
from unhack.server.scoring.fair_semaphore import FairSemaphore
from unhack.server.scoring.task_names import TaskNames
from unhack.server.scoring.tenant_limits import TenantLimits
from unhack.tasks.execution.choosing import shared_scheduler
from unhack.tasks.task import Task

_SLOTS_PER_WORKER = 8
"""Completions handed to the scheduler for each worker: as many stragglers as a worker puts aside,
so that those of one tenant, which get three quarters of the slots, leave room for others."""
_PAGE = 32
"""Items that a batch takes from the database at a time."""
_PAUSE_S = 5.0
"""Before a batch is tried again."""
_log = logging.getLogger("unhack.server")


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


class ScoringService:
    """The scoring of one server, on its event loop."""

    def __init__(self, store: BatchStore, names: TaskNames, limits: TenantLimits) -> None:
        self.store, self.names, self.limits = store, names, limits
        self.scheduler = shared_scheduler()
        self.slots = FairSemaphore(_SLOTS_PER_WORKER * shared_pool().slots)
        self.on_verdict: Callable[[Verdict], None] = lambda _: None
        """Told of every verdict that is stored."""
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

    def run_of(self, batch_id: str) -> BatchRun | None:
        """The batch while it is under way in this process."""
        return self._runs.get(batch_id)

    async def score(self, order: ScoreOrder) -> tuple[str, Verdict]:
        """The id of a new batch of one, and its verdict, which is stored.

        Raises TimeoutError at the deadline (nothing is stored then), RequestRefused (429), and
        what `Scheduler.submit` and its future raise.
        """
        self.limits.take(order.tenant_id, 1, most=order.most_open)
        came = time.time()
        try:
            async with asyncio.timeout(_seconds_left(order.deadline_at)):
                group = None if order.deadline_at is None else object()
                verdict = await self._judge_one(
                    order.tenant_id, order.task, order.completion, group
                )
            batch = NewBatch(
                new_id(),
                order.tenant_id,
                order.origin,
                1,
                deadline_at=order.deadline_at,
                idempotency_key=order.idempotency_key,
                body_digest=order.body_digest,
                created_at=came,
            )
            item = NewItem(order.task_name, order.completion)
            await asyncio.wrap_future(self.store.accept_judged(batch, item, verdict))
        finally:
            self.limits.give_back(order.tenant_id)
        self.on_verdict(verdict)
        return batch.id, verdict

    async def judge_again(
        self, tenant_id: int, task: Task, completion: str, *, most_open: int | None = None
    ) -> Verdict:
        """A verdict that is stored nowhere, in the tenant's turn; who gives up ends what runs for
        it. Raises RequestRefused (429), and what `Scheduler.submit` and its future raise."""
        self.limits.take(tenant_id, 1, most=most_open)
        try:
            return await self._judge_one(tenant_id, task, completion, object())
        finally:
            self.limits.give_back(tenant_id)

    async def run(self, tenant_id: int, job: Job) -> Outcome:
        """The outcome of a job that is no verdict's, when it is its tenant's turn; a request that
        is given up ends its job."""
        await self.slots.acquire(tenant_id)
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
            self.slots.release(tenant_id)

    async def accept(
        self, batch: NewBatch, listed: Sequence[NewItem], *, most_open: int | None = None
    ) -> BatchRun:
        """Store a batch and begin it. Raises RequestRefused (429, or 422 for one too large)."""
        self.limits.take(batch.tenant_id, batch.count, most=most_open)
        try:
            stored = await asyncio.wrap_future(self.store.accept(batch, listed))
            if not stored:
                raise self.store.disk_error or RuntimeError("a batch's items were not stored")
        except BaseException:
            self.limits.give_back(batch.tenant_id, batch.count)
            raise
        return self._begin(batch, batch.count)

    async def _judge_one(
        self, tenant_id: int, task: Task, completion: str, group: Hashable
    ) -> Verdict:
        """The verdict when it is the tenant's turn; who gives up ends what runs for its group."""
        await self.slots.acquire(tenant_id)
        try:
            return await self.judge_in_slot(tenant_id, task, completion, group=group)
        except BaseException:
            if group is not None:
                self.scheduler.cancel(group)
            raise

    async def judge_in_slot(
        self, tenant_id: int, task: Task, completion: str, *, group: Hashable = None
    ) -> Verdict:
        """The verdict of a completion whose slot is taken; the slot is released when it is judged,
        also where nobody waits any more."""
        loop = asyncio.get_running_loop()
        try:
            future = self.scheduler.submit(task, completion, group=group)
        except BaseException:
            self.slots.release(tenant_id)
            raise

        def release(_: Future[Any]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self.slots.release, tenant_id)

        future.add_done_callback(release)
        return await asyncio.wrap_future(future)

    # Batches, from here on.

    def _begin(self, batch: NewBatch, left: int) -> BatchRun:
        run = self._runs[batch.id] = BatchRun(batch, left, room=max(1, self.slots.slots // 2))
        run.start(self._live(run))
        return run

    async def _live(self, run: BatchRun) -> None:
        error: str | None = None
        try:
            async with asyncio.timeout(_seconds_left(run.batch.deadline_at)):
                await self._judge_until_done(run)
        except TimeoutError:
            run.final = batch_store.EXPIRED
        except asyncio.CancelledError:
            pass  # `cancel` or `leave` said what the end is
        except PoolClosedError:
            run.final = batch_store.ACCEPTED
        except SandboxUnavailableError as unavailable:
            run.final = batch_store.FAILED
            error = "the server cannot isolate completions; its operator runs `unhack doctor`"
            _log.error("batch failed: %s", unavailable, extra={"batch": run.batch.id})
        finally:
            await self._end(run, error)

    async def _judge_until_done(self, run: BatchRun) -> None:
        while True:
            try:
                await self._judge_all(run)
                return
            except ExceptionGroup as group:
                first = group.exceptions[0]
                if isinstance(first, PoolClosedError | SandboxUnavailableError):
                    raise first from None
                _log.error(
                    "batch will be tried again", exc_info=first, extra={"batch": run.batch.id}
                )
            if run.final != batch_store.DONE:
                return
            if _seconds_left(run.batch.deadline_at) == 0:
                raise TimeoutError
            await asyncio.sleep(_PAUSE_S)

    async def _judge_all(self, run: BatchRun) -> None:
        """Judge every item without a verdict. Raises ExceptionGroup."""
        page: deque[Pending] = deque()
        after = -1
        async with asyncio.TaskGroup() as group:
            while True:
                await run.room.acquire()
                try:
                    if not page:
                        page.extend(
                            await asyncio.to_thread(self.store.pending, run.batch.id, after, _PAGE)
                        )
                    if not page:
                        run.room.release()
                        return
                    item = page.popleft()
                    after = item.position
                    judging = group.create_task(self._judge_item(run, item))
                except BaseException:
                    run.room.release()
                    raise
                # Not at the end of `_judge_item`: one that is cancelled at once never begins.
                judging.add_done_callback(lambda _: run.room.release())

    async def _judge_item(self, run: BatchRun, item: Pending) -> None:
        """Judge an item, and store its verdict."""
        tenant = run.batch.tenant_id
        try:
            task = await self.names.at_hand(tenant, item.task)
        except UsageError as error:
            verdict = unscored_verdict(str(error)[:1000])
        else:
            async with run.next_slot:
                await self.slots.acquire(tenant)
            verdict = await self.judge_in_slot(tenant, task, item.completion, group=run.batch.id)
        positions = (item.position, *item.twins)
        await asyncio.wrap_future(self.store.record(run.batch.id, positions, verdict))
        run.left -= len(positions)
        self.limits.give_back(tenant, len(positions))
        for _ in positions:
            self.on_verdict(verdict)
        run.tell(positions)

    async def _end(self, run: BatchRun, error: str | None) -> None:
        """Store the end, and tell everybody."""
        self.scheduler.cancel(run.batch.id)
        try:
            await self._store_end(run, error)
        finally:
            self.limits.give_back(run.batch.tenant_id, run.left)
            self._runs.pop(run.batch.id, None)
            run.end()

    async def _store_end(self, run: BatchRun, error: str | None) -> None:
        """Store the end, again and again where the database does not take it, until this process
        leaves the batch to the next."""
        while run.final != batch_store.ACCEPTED:
            try:
                await asyncio.wrap_future(self.store.finish(run.batch.id, run.final, error))
            except asyncio.CancelledError:
                continue  # `cancel` or `leave` said what the end is
            except UsageError:
                return  # the database is closed
            except Exception:
                _log.exception("the end of a batch will be stored", extra={"batch": run.batch.id})
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(_PAUSE_S)
            else:
                return


def _seconds_left(deadline_at: float | None) -> float | None:
    return None if deadline_at is None else max(0.0, deadline_at - time.time())


def new_id() -> str:
    """The id of a batch."""
    return uuid.uuid4().hex
