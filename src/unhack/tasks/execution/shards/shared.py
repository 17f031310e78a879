"""The shards that a process shares."""

from __future__ import annotations

import threading

from unhack.tasks.execution.shards.executor import ShardsExecutor

_FEW = 64
"""Items of a process that are judged before a further process would be ready."""

_shared: dict[tuple[int, int], ShardsExecutor] = {}
_shared_lock = threading.Lock()


def shared_shards(*, shards: int, slots: int) -> ShardsExecutor:
    """The executor that all batches of this process share. Raises UsageError."""
    with _shared_lock:
        found = _shared.get((shards, slots))
        if found is None:
            found = _shared[shards, slots] = ShardsExecutor(shards=shards, slots=slots, few=_FEW)
        return found
