"""One accepted batch of this process, as those see it who wait for it: `scoring` judges it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable

from unhack.server.scoring import batch_store
from unhack.server.scoring.batch_store import NewBatch


class BatchRun:
    """A batch from its acceptance to its end. At most `room` of its items are on their way to a
    stored verdict at a time."""

    def __init__(self, batch: NewBatch, left: int, *, room: int) -> None:
        self.batch = batch
        self.left = left
        """Items without a stored verdict."""
        self.room = asyncio.Semaphore(room)
        self.next_slot = asyncio.Lock()
        """Held by the item that waits for a slot: a batch stands in its tenant's line once, as a
        single completion does."""
        self.final = batch_store.DONE
        """The state that the batch is to end in; `accepted` where the next start goes on."""
        self.ended = asyncio.Event()
        """Set when the batch has its last state, or will not go on before the next start."""
        self._watchers: set[asyncio.Queue[int | None]] = set()
        self._work: asyncio.Task[None] | None = None

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Begin to judge; `work` calls `end` at its end."""
        self._work = asyncio.create_task(work, name=f"batch {self.batch.id}")

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

    def tell(self, positions: Iterable[int | None]) -> None:
        """Tell watchers of stored verdicts."""
        for position in positions:
            for queue in self._watchers:
                queue.put_nowait(position)

    async def cancel(self) -> None:
        """End the batch as cancelled, where it has not ended."""
        await self._stop(batch_store.CANCELLED)

    async def leave(self) -> None:
        """Stop for this process; the batch stays accepted."""
        await self._stop(batch_store.ACCEPTED)

    async def _stop(self, final: str) -> None:
        if not self.ended.is_set() and self._work is not None:
            self.final = final
            self._work.cancel()
            await self.ended.wait()

    def end(self) -> None:
        """Tell everybody that it is over."""
        self.ended.set()
        self.tell([None])
