"""Workers that a batch of this process gets, and who says so."""

from __future__ import annotations

import os
from dataclasses import dataclass

from unhack.sandbox.pool.shared import SLOTS
from unhack.tasks.execution.choosing import SHARDS, shards_and_slots


@dataclass(frozen=True, slots=True)
class Workers:
    """As `run_batch` has them unless it is told otherwise."""

    workers: int
    shards: int
    """Processes that the workers are shared out to; 1: all are this process's own."""
    cores: int
    """That this process may use."""
    set_by: tuple[str, ...]
    """Environment variables that say so, as NAME=VALUE."""

    @classmethod
    def here(cls) -> Workers:
        """Those of this machine and environment. Raises UsageError for a variable that holds no
        number."""
        shards, workers = shards_and_slots()
        told = tuple(
            f"{name}={os.environ[name]}" for name in (SLOTS, SHARDS) if os.environ.get(name)
        )
        return cls(workers, shards, len(os.sched_getaffinity(0)), told)
