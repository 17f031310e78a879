"""Tasks on their way to shards: each is packed once, crosses once to each shard, and is forgotten.

Every number stands beside its task: the `id` of a task means nothing once the task is gone.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from dataclasses import dataclass

from unhack.tasks.execution.shards.channel import pack_task
from unhack.tasks.task import Task

_KEPT_TASKS = 1024
_KEPT_BYTES = 256 << 20


@dataclass(slots=True, eq=False)
class CachedTask:
    """A task, and what a shard is told of it."""

    task: Task
    number: int
    data: bytes | None
    """None for a task that this process alone can judge."""
    open: int = 0
    """Items of it that are under way."""
    unreadable: bool = False
    """True when a shard could make nothing of it."""

    @property
    def crosses(self) -> bool:
        """True when a shard can judge it."""
        return self.data is not None and not self.unreadable


class TaskCache:
    """The tasks in use, and the latest used ones."""

    def __init__(self, *, tasks: int = _KEPT_TASKS, size: int = _KEPT_BYTES) -> None:
        self._kept: OrderedDict[int, CachedTask] = OrderedDict()
        self._numbers = itertools.count()
        self._most, self._most_bytes = tasks, size
        self._bytes = 0

    def of(self, task: Task) -> CachedTask:
        """The entry of this very task."""
        found = self._kept.get(id(task))
        if found is None:
            number = next(self._numbers)
            found = CachedTask(task, number, pack_task(task))
            self._kept[id(task)] = found
            self._bytes += len(found.data or b"")
        else:
            self._kept.move_to_end(id(task))
        return found

    def forget(self) -> list[int]:
        """Drop what is beyond the bounds and not in use; the numbers that shards may forget."""
        dropped: list[int] = []
        if len(self._kept) <= self._most and self._bytes <= self._most_bytes:
            return dropped
        for key, cached in list(self._kept.items()):
            if len(self._kept) <= self._most and self._bytes <= self._most_bytes:
                break
            if not cached.open:
                del self._kept[key]
                self._bytes -= len(cached.data or b"")
                dropped.append(cached.number)
        return dropped
