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

from unhack.core.errors import PoolClosedError, UsageError
from unhack.tasks.execution.shards.batch import ShardsFlight
from unhack.tasks.execution.shards.pool import Crew


class ShardsExecutor:
    """Judges in `shards` processes with `slots` workers for each profile in all.

    They start with the first batch of more than `few` items; a process that forks makes its own.
    Raises UsageError for numbers below 1, and for fewer slots than shards.
    """

    def __init__(self, *, shards: int, slots: int, few: int = 0) -> None:
        if shards < 1 or slots < shards:
            raise UsageError(
                f"shards={shards}, slots={slots}: give 1 shard or more, and a slot or more for each"
            )
        self._sizes = [slots // shards + (number < slots % shards) for number in range(shards)]
        self._few = few
        self._crews: dict[int, Crew] = {}
        self._lock = threading.Lock()
        self._closed = False

    def begin(self) -> ShardsFlight:
        """A new batch. Raises PoolClosedError."""
        with self._lock:
            if self._closed:
                raise PoolClosedError("the shards are closed")
            crew = self._crews.get(os.getpid())
            if crew is None:
                crew = self._crews[os.getpid()] = Crew(sizes=self._sizes, few=self._few)
            return crew.begin()

    def pids(self) -> list[int]:
        """The processes of the shards alive now, for monitoring and for tests."""
        crew = self._crews.get(os.getpid())
        return [member.process.pid for member in list(crew.members)] if crew else []

    def close(self) -> None:
        """End every shard of this process; batches under way raise PoolClosedError."""
        with self._lock:
            self._closed = True
            crew = self._crews.get(os.getpid())
        if crew is not None:
            crew.close()
