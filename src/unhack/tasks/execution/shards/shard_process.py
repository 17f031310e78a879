"""The parent's end of one shard: its process, what it was given, what it may be given next."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from unhack.sandbox.host_start import HostProcess, start_host
from unhack.sandbox.pool.reactor import Reactor
from unhack.tasks.execution.shards.batch import ShardItem
from unhack.tasks.execution.shards.channel import ShardChannel

_DEPTH = 2
"""Items that a shard always may have for each worker: one that runs, one that waits for it."""
_DEEPEST = 8
_LATELY_S = 0.05
"""Beyond that, as many as it judged in this time: a quick shard must not wait for the parent."""
_ENDING_S = 10.0
"""Time for a shard to end its workers and itself."""
_SILENCE_S = 30.0
"""A shard that has work and says nothing for this long is asked; and as long again, it is dead."""


@dataclass(slots=True, eq=False)
class ShardProcess:
    """One shard."""

    process: HostProcess
    slots: int
    channel: ShardChannel = field(init=False)
    ready: bool = False
    open: dict[tuple[int, int], ShardItem] = field(default_factory=dict[tuple[int, int], ShardItem])
    """Its items, by the numbers of batch and item."""
    known: set[int] = field(default_factory=set[int])
    """Numbers of the tasks that it keeps."""
    heard_at: float = field(default_factory=time.monotonic)
    asked_at: float | None = None
    _lately: deque[tuple[float, int]] = field(default_factory=deque[tuple[float, int]])

    @property
    def has_suspect(self) -> bool:
        """True while it has an item that runs alone."""
        return len(self.open) == 1 and next(iter(self.open.values())).deaths > 1

    @property
    def room(self) -> int:
        """Items that it may be given now."""
        if not self.ready or self.has_suspect:
            return 0
        now = time.monotonic()
        while self._lately and self._lately[0][0] < now - _LATELY_S:
            self._lately.popleft()
        judged = sum(count for _, count in self._lately)
        depth = min(_DEPTH * self.slots + judged, _DEEPEST * self.slots)
        return depth - len(self.open)

    def heard(self, verdicts: int) -> None:
        """Take note of a message with so many verdicts."""
        self.heard_at = time.monotonic()
        self.asked_at = None
        if verdicts:
            self._lately.append((self.heard_at, verdicts))

    def is_silent(self, now: float) -> bool:
        """True when it has work, was asked, and does not answer; asks where it is time to."""
        if not self.ready or not self.open:
            self.heard_at = max(self.heard_at, now)
            self.asked_at = None
            return False
        if self.asked_at is not None:
            return now - self.asked_at > _SILENCE_S
        if now - self.heard_at > _SILENCE_S:
            self.asked_at = now
            self.channel.send(("ping",))
        return False

    def give(self, items: list[ShardItem]) -> None:
        """Hand over items, each with its task where the shard does not know it."""
        bulk: dict[int, list[tuple[int, int, str]]] = {}
        for item in items:
            number, batch = item.cached.number, item.batch.number
            if number not in self.known:
                self.known.add(number)
                self.channel.send(("task", number, item.cached.data))
            self.open[batch, item.index] = item
            if item.control is None:
                bulk.setdefault(batch, []).append((item.index, number, item.completion))
            else:
                again = ("again", batch, item.index, number, item.completion, item.control)
                self.channel.send(again)
        for batch, rows in bulk.items():
            self.channel.send(("items", batch, rows))

    def forget(self, numbers: list[int]) -> None:
        """Have it forget tasks."""
        if not self.known.isdisjoint(numbers):
            self.known.difference_update(numbers)
            self.channel.send(("forget", numbers))

    def close(self) -> None:
        """Let it end its workers, then itself; waits for it."""
        self.channel.send(("close",))
        self.channel.close()
        self.process.end(within_s=_ENDING_S)

    def kill(self) -> None:
        """End it at once; the kernel takes its workers with it."""
        self.channel.close()
        self.process.end(within_s=0.0)


def start_shard(
    reactor: Reactor,
    *,
    slots: int,
    memory_share: float,
    on_message: Callable[[ShardProcess, Any], None],
    on_end: Callable[[ShardProcess], None],
) -> ShardProcess:
    """Start a shard; it says ("ready",) when it can be given items. Only on the reactor's thread,
    with which it ends. Raises OSError when no process can be made."""
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = start_host(
                "unhack.tasks.execution.shards.shard",
                theirs,
                config={"slots": slots, "memory_share": memory_share},
            )
        except BaseException:
            ours.close()
            raise
    shard = ShardProcess(process, slots)
    shard.channel = ShardChannel(
        ours,
        reactor,
        on_message=lambda message: on_message(shard, message),
        on_end=lambda: on_end(shard),
    )
    return shard
