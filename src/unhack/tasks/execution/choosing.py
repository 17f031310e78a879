"""The executor of a batch: the one that was given, or what this machine is best served by; and the
scheduler that a process shares."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Generator
from contextlib import closing

from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.job import Backend
from unhack.tasks.execution.driver import LocalExecutor
from unhack.tasks.execution.executor import Executor
from unhack.tasks.execution.scheduler import Scheduler

NAMES = ("local", "shards", "ray")
"""`local`: this process and its shared pool. `shards`: further processes of this machine, each with
a pool. `ray`: every node of a Ray cluster. By default `shards` where there are more workers than
one process can serve, else `local`."""
SHARDS = "UNHACK_SHARDS"
"""Environment variable: host processes of one process that judges; 1 is that process alone. By
default one for each `SLOTS_OF_A_SHARD` workers, of which `UNHACK_SLOTS` says how many there are."""
SLOTS_OF_A_SHARD = 8
"""Workers that one host process can serve: its thread is busy for a tenth of the time of each."""

_shared: dict[int, Scheduler] = {}
_shared_lock = threading.Lock()


def shared_scheduler() -> Scheduler:
    """The scheduler of this process on its default executor, made on first use and again after a
    fork. Raises UsageError as `choose` does."""
    with _shared_lock:
        found = _shared.get(os.getpid())
        if found is None:
            _shared.clear()
            found = _shared[os.getpid()] = Scheduler(choose())
        return found


def shards_and_slots() -> tuple[int, int]:
    """Shards and workers in all of this process. Raises UsageError for values of the environment
    variables that are no numbers."""
    # What judges is half of the import's time; loaded by use.
    from unhack.sandbox.pool.worker_start import SLOTS, wanted_number

    slots = wanted_number(SLOTS, "workers") or len(os.sched_getaffinity(0))
    shards = wanted_number(SHARDS, "shards") or -(-slots // SLOTS_OF_A_SHARD)
    return min(shards, slots), slots


def choose(backend: Backend | None = None, executor: Executor | str | None = None) -> Executor:
    """The executor for a batch. Raises UsageError where both are given, or for a number of shards
    or slots in the environment that is none; UnknownNameError."""
    if backend is not None and executor is not None:
        raise UsageError("give `backend` or `executor`, not both: an executor has its own backend")
    if backend is not None:
        # A call without one needs none of it.
        from unhack.tasks.execution.executor_backend import executor_behind

        return executor_behind(backend)
    if executor is not None and not isinstance(executor, str):
        return executor
    return _named(executor)


@contextlib.contextmanager
def executor_named(name: str | None) -> Generator[Executor]:
    """An executor for a block of code, by a name of `NAMES`; a connection to Ray is left at its
    end. Raises UnknownNameError, UsageError."""
    if name != "ray":
        yield _named(name)
        return
    from unhack.tasks.execution.ray.executor import RayExecutor  # Ray is an extra

    executor = RayExecutor()
    try:
        yield executor
    finally:
        executor.close()


@contextlib.contextmanager
def backend_on(name: str | None) -> Generator[Backend]:
    """A backend whose jobs run where the executor of that name judges, for a block of code; by
    default a pool of this process. Raises UnknownNameError, UsageError."""
    from unhack.sandbox.pool.pool import Pool  # half of the import time
    from unhack.tasks.execution.executor_backend import ExecutorBackend

    if name in (None, "local"):
        with closing(Pool()) as made:
            yield made
        return
    with executor_named(name) as executor:
        backend = ExecutorBackend(executor)
        try:
            yield backend
        finally:
            backend.close()


def _named(name: str | None) -> Executor:
    if name is not None and name not in NAMES:
        raise UnknownNameError("executor", name, valid=NAMES)
    if name == "ray":
        # Loaded by use: Ray is an extra, and local batches need none of this.
        from unhack.tasks.execution.ray.executor import shared_ray_executor

        return shared_ray_executor()
    if name != "local":
        shards, slots = shards_and_slots()
        if name == "shards" or shards > 1:
            from unhack.tasks.execution.shards.shared import shared_shards  # few machines need it

            return shared_shards(shards=shards, slots=slots)
    from unhack.sandbox.pool.pool import shared_pool  # see `shards_and_slots`

    return LocalExecutor(shared_pool())
