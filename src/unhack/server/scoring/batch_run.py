"""One accepted batch on its way: items come from the database as places are free, verdicts go back.

Covered: a batch holds at most half of the judge's places; identical completions of a task are
judged once; what fails for a while (a database that does not answer) is tried again; a deadline and
a cancellation end it at once, with the processes of what is being judged.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable

from unhack.core.errors import PoolClosedError, SandboxUnavailableError, UsageError
from unhack.core.verdict import unscored_verdict
from unhack.integrations.judge import Judge
from unhack.server.scoring import batch_store
from unhack.server.scoring.batch_store import NewBatch, Pending
from unhack.server.scoring.bench import Bench

_PAGE = 32
"""Items that a batch takes from the database at a time."""
_PAUSE_S = 5.0
"""Before a batch is tried again."""
_log = logging.getLogger("unhack.server")


class BatchRun:
    """A batch of this process, from its acceptance to its end."""

    def __init__(
        self, bench: Bench, batch: NewBatch, left: int, forget: Callable[[str], None]
    ) -> None:
        self.batch = batch
        self.ended = asyncio.Event()
        """Set when the batch has its last state, or will not go on before the next start."""
        self._bench = bench
        self._forget = forget
        self._left = left
        self._judge = Judge()
        self._room = asyncio.Semaphore(max(1, bench.turnstile.places // 2))
        self._watchers: set[asyncio.Queue[int | None]] = set()
        self._work: asyncio.Task[None] | None = None
        self._final = batch_store.DONE

    def start(self) -> None:
        """Begin to judge."""
        self._work = asyncio.create_task(self._live(), name=f"batch {self.batch.id}")

    def watch(self) -> asyncio.Queue[int | None]:
        """The positions of verdicts to come, as they are stored; None at the end."""
        queue: asyncio.Queue[int | None] = asyncio.Queue()
        self._watchers.add(queue)
        if self.ended.is_set():
            queue.put_nowait(None)
        return queue

    def unwatch(self, queue: asyncio.Queue[int | None]) -> None:
        """Tell this watcher no more."""
        self._watchers.discard(queue)

    @property
    def watched(self) -> bool:
        """True while a client waits for verdicts."""
        return bool(self._watchers)

    async def cancel(self) -> None:
        """End the batch as cancelled, where it has not ended."""
        if not self.ended.is_set() and self._work is not None:
            self._final = batch_store.CANCELLED
            self._work.cancel()
            await self.ended.wait()

    async def leave(self) -> None:
        """Stop for this process; the batch stays accepted."""
        if not self.ended.is_set() and self._work is not None:
            self._final = batch_store.ACCEPTED
            self._work.cancel()
            await self.ended.wait()

    async def _live(self) -> None:
        error: str | None = None
        try:
            async with asyncio.timeout(self._seconds_left()):
                await self._judge_until_done()
        except TimeoutError:
            self._final = batch_store.EXPIRED
        except asyncio.CancelledError:
            pass  # `cancel` or `leave` said what the end is
        except PoolClosedError:
            self._final = batch_store.ACCEPTED
        except SandboxUnavailableError as unavailable:
            self._final = batch_store.FAILED
            error = "the server cannot isolate completions; its operator runs `unhack doctor`"
            _log.error("batch failed: %s", unavailable, extra={"batch": self.batch.id})
        finally:
            await self._end(error)

    def _seconds_left(self) -> float | None:
        if self.batch.deadline_at is None:
            return None
        return max(0.0, self.batch.deadline_at - time.time())

    async def _judge_until_done(self) -> None:
        while True:
            try:
                await self._judge_all()
                return
            except ExceptionGroup as group:
                first = group.exceptions[0]
                if isinstance(first, PoolClosedError | SandboxUnavailableError):
                    raise first from None
                _log.error(
                    "batch will be tried again", exc_info=first, extra={"batch": self.batch.id}
                )
            if self._final != batch_store.DONE:
                return
            if self._seconds_left() == 0:
                raise TimeoutError
            await asyncio.sleep(_PAUSE_S)

    async def _judge_all(self) -> None:
        """Judge every item without a verdict. Raises ExceptionGroup."""
        page: deque[Pending] = deque()
        after = -1
        async with asyncio.TaskGroup() as group:
            while True:
                await self._room.acquire()
                try:
                    if not page:
                        page.extend(
                            await asyncio.to_thread(
                                self._bench.store.pending, self.batch.id, after, _PAGE
                            )
                        )
                    if not page:
                        self._room.release()
                        return
                    await self._bench.turnstile.enter(self.batch.tenant_id)
                except BaseException:
                    self._room.release()
                    raise
                item = page.popleft()
                after = item.position
                group.create_task(self._judge_one(item))

    async def _judge_one(self, item: Pending) -> None:
        """Judge an item whose place is taken, and store its verdict."""
        tenant = self.batch.tenant_id
        try:
            try:
                task = await self._bench.names.at_hand(tenant, item.task)
            except UsageError as error:
                self._bench.turnstile.leave(tenant)
                verdict = unscored_verdict(str(error)[:1000])
            else:
                verdict = await self._bench.judge(tenant, task, item.completion, judge=self._judge)
            positions = (item.position, *item.twins)
            await asyncio.wrap_future(self._bench.store.record(self.batch.id, positions, verdict))
        finally:
            self._room.release()
        self._left -= len(positions)
        self._bench.limits.give_back(tenant, len(positions))
        for position in positions:
            self._bench.on_verdict(verdict)
            for queue in self._watchers:
                queue.put_nowait(position)

    async def _end(self, error: str | None) -> None:
        """Store the end, and tell everybody."""
        self._judge.cancel()
        try:
            await self._store_end(error)
        finally:
            self._bench.limits.give_back(self.batch.tenant_id, self._left)
            self._forget(self.batch.id)
            self.ended.set()
            for queue in self._watchers:
                queue.put_nowait(None)

    async def _store_end(self, error: str | None) -> None:
        """Store the end, again and again where the database does not take it, until this process
        leaves the batch to the next."""
        while self._final != batch_store.ACCEPTED:
            try:
                done = self._bench.store.finish(self.batch.id, self._final, error)
                await asyncio.wrap_future(done)
            except asyncio.CancelledError:
                continue  # `cancel` or `leave` said what the end is
            except UsageError:
                return  # the database is closed
            except Exception:
                _log.exception("the end of a batch will be stored", extra={"batch": self.batch.id})
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(_PAUSE_S)
            else:
                return
