"""The executor of one machine's many cores: host processes beside this one, each with a pool.

One host process judges what its one thread can, some thousands of verdicts a second, whatever the
machine has. Shards are further ones: each runs verifiers on its own thread and candidates in its
own workers, and this process only hands items out and verdicts back.

    run_batch(task, completions, executor=ShardsExecutor(shards=4, slots=32))

Verdicts, order and guarantees are those of one pool. A task that knows anything but the package's
own classes, such as a callable of the user's, is judged by this process.
"""

from __future__ import annotations

import os
import threading
import weakref

from unhack.core.errors import PoolClosedError, UsageError
from unhack.core.verdict import Verdict
from unhack.tasks.execution.shards.batch import QueuedBatch
from unhack.tasks.execution.shards.pool import ShardPool
from unhack.tasks.task import Task


class ShardsExecutor:
    """Judges in `shards` processes with `slots` workers for each profile in all.

    They start with the first batch of more than `few` items; a process that forks makes its own.
    Raises UsageError for numbers below 1, and for fewer slots than shards.

    Example:

        executor = ShardsExecutor(shards=4, slots=32)
        batch = run_batch(task, completions, executor=executor)
    """

    def __init__(self, *, shards: int, slots: int, few: int = 0) -> None:
        if shards < 1 or slots < shards:
            raise UsageError(
                f"shards={shards}, slots={slots}: give 1 shard or more, and a slot or more for each"
            )
        self._sizes = [slots // shards + (number < slots % shards) for number in range(shards)]
        self._few = few
        self._pools: dict[int, ShardPool] = {}
        self._lock = threading.Lock()
        self._closed = False

    def begin(self) -> ShardsBatch:
        """A new batch. Raises PoolClosedError."""
        with self._lock:
            if self._closed:
                raise PoolClosedError("the shards are closed")
            pool = self._pools.get(os.getpid())
            if pool is None:
                pool = self._pools[os.getpid()] = ShardPool(sizes=self._sizes, few=self._few)
            return ShardsBatch(pool, pool.begin())

    def pids(self) -> list[int]:
        """The processes of the shards alive now, for monitoring and for tests."""
        pool = self._pools.get(os.getpid())
        return [shard.process.pid for shard in list(pool.shards)] if pool else []

    def close(self) -> None:
        """End every shard of this process; batches under way raise PoolClosedError."""
        with self._lock:
            self._closed = True
            pool = self._pools.get(os.getpid())
        if pool is not None:
            pool.close()


class ShardsBatch:
    """The caller's end of one batch in progress; see `BatchInProgress`."""

    def __init__(self, pool: ShardPool, batch: QueuedBatch) -> None:
        self._pool, self._batch = pool, batch
        weakref.finalize(self, pool.end_soon, batch).atexit = False

    @property
    def open(self) -> int:
        """Items handed in whose verdict has not been taken."""
        return self._batch.results.open

    def add(self, items: list[tuple[int, Task, str]]) -> None:
        """Hand in (index, task, completion) items. Raises PoolClosedError."""
        pool, batch = self._pool, self._batch
        pool.check_open()
        batch.results.expect(len(items))
        pool.reactor.call_soon(lambda: pool.take_in(batch, items))

    def take(
        self, *, at_least: int = 1, timeout_s: float | None = None
    ) -> list[tuple[int, Verdict]]:
        """Wait until `at_least` verdicts (or all that are open) are there, and take them."""
        return self._batch.results.take(at_least=at_least, timeout_s=timeout_s)

    def cancel(self) -> None:
        """End every job of this batch; no further verdict comes."""
        self._pool.end_soon(self._batch)
