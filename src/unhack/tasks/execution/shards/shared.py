"""The shards that a process shares, and how many of them this machine is best served by."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from unhack.sandbox.pool.shared import SLOTS, wanted_number

if TYPE_CHECKING:
    from unhack.tasks.execution.shards.executor import ShardsExecutor

SHARDS = "UNHACK_SHARDS"
"""Environment variable: host processes of one process that judges; 1 is that process alone. By
default one for each `SLOTS_OF_A_SHARD` workers, of which `UNHACK_SLOTS` says how many there are."""
SLOTS_OF_A_SHARD = 8
"""Workers that one host process can serve: its thread is busy for a tenth of the time of each."""
_FEW = 64
"""Items of a process that are judged before a further process would be ready."""

_shared: dict[tuple[int, int], ShardsExecutor] = {}
_shared_lock = threading.Lock()


def shards_and_slots() -> tuple[int, int]:
    """Shards and workers in all of this process. Raises UsageError for values of the environment
    variables that are no numbers."""
    slots = wanted_number(SLOTS, "workers") or len(os.sched_getaffinity(0))
    shards = wanted_number(SHARDS, "shards") or -(-slots // SLOTS_OF_A_SHARD)
    return min(shards, slots), slots


def shared_shards() -> ShardsExecutor:
    """The executor that all batches of this process share. Raises UsageError."""
    from unhack.tasks.execution.shards.executor import ShardsExecutor  # few machines need it

    shards, slots = shards_and_slots()
    with _shared_lock:
        found = _shared.get((shards, slots))
        if found is None:
            found = _shared[shards, slots] = ShardsExecutor(shards=shards, slots=slots, few=_FEW)
        return found
