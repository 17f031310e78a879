"""The shards of one process and the queue before them; one thread owns both.

An item waits here, not in a shard, until a shard has room for it: so a straggler holds up nobody
and a quick shard takes more. A shard that dies is replaced, and what it had is tried again; what
was there at two deaths runs alone on its shard, so that blame is exact, and at the third is given
up.

Covered: shards that die, fall silent or cannot be started (then this process judges), tasks that
cannot cross, batches that end early.
Not covered: memory and workers of this process's own pool, which come on top of its shards'; a
completion that three shards die of and whose task has a reference, which is not asked: unscored.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from unhack.core.errors import PoolClosedError, UnhackError
from unhack.core.verdict import Verdict, unscored_verdict
from unhack.sandbox.pool.reactor import Reactor
from unhack.tasks.execution.shards.batch import MAX_DEATHS, QueuedBatch, ShardItem
from unhack.tasks.execution.shards.channel import of_row
from unhack.tasks.execution.shards.shard import FAILURES
from unhack.tasks.execution.shards.shard_process import ShardProcess, start_shard
from unhack.tasks.execution.shards.task_cache import TaskCache
from unhack.tasks.task import Task

_MAX_STARTS = 3
_WATCH_S = 1.0
"""Time between two looks for shards that are silent."""


class ShardPool:
    """Several shards behind one queue. `few` is the number of items of a process that are too few
    to start shards for; it judges them itself."""

    def __init__(self, *, sizes: list[int], few: int) -> None:
        """`sizes` are the workers of each shard."""
        self.shards: list[ShardProcess] = []
        self._sizes = sizes
        self._few = few
        self._taken_in = 0
        self._failed_starts = 0
        self._next_batch = 0
        self._batches: dict[int, QueuedBatch] = {}
        self._tasks = TaskCache()
        self._waiting: deque[ShardItem] = deque()
        self._suspects: deque[ShardItem] = deque()
        """Items that run alone on their shard."""
        self._closed = False
        self._looked_at = time.monotonic()
        self.reactor = Reactor(
            name="unhack-shards",
            timeout_s=lambda: _WATCH_S,
            tick=self._look,
            at_end=self._shut_down,
        )

    def begin(self) -> QueuedBatch:
        """A new batch; called with the executor's lock. Raises PoolClosedError."""
        self.check_open()
        self._next_batch += 1
        batch = self._batches[self._next_batch] = QueuedBatch(
            self._next_batch, self.reactor.call_soon, route=self.route, on_end=self.end_batch
        )
        return batch

    def check_open(self) -> None:
        """Raise PoolClosedError when the shards are closed."""
        if self._closed:
            raise PoolClosedError("the shards are closed")

    def end_soon(self, batch: QueuedBatch) -> None:
        """End a batch, from any thread."""
        if not self._closed:
            self.reactor.call_soon(lambda: self.end_batch(batch))

    def close(self) -> None:
        """End every shard; what is under way fails with PoolClosedError. Waits for it."""
        if not self._closed:
            self._closed = True
            self.reactor.stop()

    # The pool's thread, from here on.

    def take_in(self, batch: QueuedBatch, items: list[tuple[int, Task, str]]) -> None:
        """Take items of a batch."""
        if batch.ended:
            return
        self._taken_in += len(items)
        batch.open += len(items)
        for index, task, completion in items:
            cached = self._tasks.of(task)
            cached.open += 1
            self.route(ShardItem(batch, index, cached, completion))
        dropped = self._tasks.forget()
        for shard in self.shards if dropped else ():
            shard.forget(dropped)
        self._pump()

    def route(self, item: ShardItem) -> None:
        """Let an item wait for a shard, or have it judged here."""
        if item.batch.ended:
            item.cached.open -= 1
            return
        too_few = self._taken_in <= self._few and not self.shards
        if item.cached.crosses and not too_few and not self._is_broken():
            (self._suspects if item.deaths > 1 else self._waiting).append(item)
            return
        try:
            item.batch.judge_locally(item)
        except UnhackError as error:
            item.batch.fail(error)

    def _is_broken(self) -> bool:
        """True when no shard can be started here."""
        return self._failed_starts >= _MAX_STARTS and not any(shard.ready for shard in self.shards)

    def _pump(self) -> None:
        """Give shards what they have room for."""
        if self._closed or not (self._waiting or self._suspects):
            return
        self._start_shards()
        if self._is_broken():
            self._judge_all_locally()
            return
        reserved = self._place_suspects()
        rooms = [(shard.room, shard) for shard in self.shards if shard is not reserved]
        rooms = [(room, shard) for room, shard in rooms if room > 0]
        rooms.sort(key=lambda pair: -pair[0])
        total = sum(room for room, _ in rooms)
        count = len(self._waiting)
        for room, shard in rooms:
            share = min(room, -(-count * room // total))
            items = self._next_items(share)
            if items:
                shard.give(items)

    def _next_items(self, count: int) -> list[ShardItem]:
        items: list[ShardItem] = []
        while self._waiting and len(items) < count:
            item = self._waiting.popleft()
            if not item.batch.ended:
                items.append(item)
        return items

    def _place_suspects(self) -> ShardProcess | None:
        """Give each idle shard one of the items that run alone; the shard that is kept free for the
        next of them."""
        for shard in self.shards:
            if self._suspects and shard.ready and not shard.open:
                shard.give([self._suspects.popleft()])
        ready = [shard for shard in self.shards if shard.ready]
        return min(ready, key=lambda m: len(m.open)) if self._suspects and ready else None

    def _judge_all_locally(self) -> None:
        left = [*self._waiting, *self._suspects]
        self._waiting.clear()
        self._suspects.clear()
        for item in left:
            self.route(item)

    def _start_shards(self) -> None:
        while len(self.shards) < len(self._sizes) and self._failed_starts < _MAX_STARTS:
            sizes = list(self._sizes)
            for shard in self.shards:
                sizes.remove(shard.slots)
            try:
                shard = start_shard(
                    self.reactor,
                    slots=sizes[0],
                    memory_share=1 / len(self._sizes),
                    on_message=self._hear,
                    on_end=self._lose,
                )
            except OSError:
                self._failed_starts += 1
                continue
            self.shards.append(shard)

    def _hear(self, shard: ShardProcess, message: tuple[Any, ...]) -> None:
        kind, *rest = message
        shard.heard(len(rest[1]) if kind == "verdicts" else 0)
        if kind == "verdicts":
            self._conclude(shard, *rest)
        elif kind == "ready":
            shard.ready = True
            self._failed_starts = 0
        elif kind == "unreadable":
            self._judge_task_locally(shard, rest[0])
        elif kind == "failed":
            number, name, words = rest
            batch = self._batches.get(number)
            if batch is not None:
                batch.fail(FAILURES[name](words))
        self._pump()

    def _conclude(self, shard: ShardProcess, number: int, rows: list[tuple[int, Any]]) -> None:
        batch = self._batches.get(number)
        if batch is None or batch.ended:
            return
        judged: list[tuple[ShardItem, Verdict]] = []
        for index, row in rows:
            item = shard.open.pop((number, index), None)
            if item is not None:
                judged.append((item, of_row(row)))
        batch.conclude(judged)

    def _judge_task_locally(self, shard: ShardProcess, number: int) -> None:
        """A shard cannot read a task: it is judged here from now on."""
        left: list[ShardItem] = []
        for key, item in list(shard.open.items()):
            if item.cached.number == number:
                item.cached.unreadable = True
                left.append(shard.open.pop(key))
        for queue in (self._waiting, self._suspects):
            for item in [item for item in queue if not item.cached.crosses]:
                queue.remove(item)
                left.append(item)
        for item in left:
            self.route(item)

    def _lose(self, shard: ShardProcess) -> None:
        """A shard died: what it had is tried again."""
        self.shards.remove(shard)
        shard.kill()
        if not shard.ready:
            self._failed_starts += 1
        for item in reversed(shard.open.values()):
            item.deaths += 1
            if item.deaths >= MAX_DEATHS:
                words = f"the shard that judged it died, {MAX_DEATHS} times"
                item.batch.conclude([(item, unscored_verdict(words))])
            elif item.deaths > 1:
                self._suspects.append(item)
            else:
                self._waiting.appendleft(item)
        self._pump()

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked_at < _WATCH_S:
            return
        self._looked_at = now
        for shard in list(self.shards):
            if shard.is_silent(now):
                self._lose(shard)
        self._pump()  # items that wait again since this process judged a control of theirs

    def end_batch(self, batch: QueuedBatch) -> None:
        """Nothing more of a batch is wanted."""
        if batch.ended:
            return
        batch.end()
        del self._batches[batch.number]
        for queue in (self._waiting, self._suspects):
            for item in [item for item in queue if item.batch is batch]:
                item.cached.open -= 1
                queue.remove(item)
        for shard in self.shards:
            for key in [key for key in shard.open if key[0] == batch.number]:
                shard.open.pop(key).cached.open -= 1
            shard.channel.send(("end", batch.number))
        self._pump()

    def _shut_down(self) -> None:
        self._closed = True
        for shard in self.shards:
            shard.channel.send(("close",))  # to all, so that they end together
        for shard in self.shards:
            shard.close()
        self.shards = []
        self.reactor.run_inbox()
        for batch in list(self._batches.values()):
            batch.fail(PoolClosedError("a job was ended before its time: the shards were closed"))
