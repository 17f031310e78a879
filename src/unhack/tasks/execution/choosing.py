"""The executor of a batch: the one that was given, or what this machine is best served by."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.job import Backend
from unhack.tasks.execution.executor import Executor, LocalExecutor

NAMES = ("local", "shards", "ray")
"""`local`: this process and its shared pool. `shards`: further processes of this machine, each with
a pool. `ray`: every node of a Ray cluster. By default `shards` where there are more workers than
one process can serve, else `local`."""


def choose(backend: Backend | None = None, executor: Executor | str | None = None) -> Executor:
    """The executor for a batch. Raises UsageError where both are given, or for a number of shards
    or slots in the environment that is none; UnknownNameError."""
    if backend is not None and executor is not None:
        raise UsageError("give `backend` or `executor`, not both: an executor has its own backend")
    if backend is not None:
        from unhack.tasks.execution.timed import executor_behind  # a call without needs none of it

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
    from unhack.sandbox.pool.shared import pool  # half of the import time
    from unhack.tasks.execution.elsewhere import ExecutorBackend

    if name in (None, "local"):
        with pool() as made:
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
    # What judges is half of the import's time; loaded by use.
    from unhack.sandbox.pool.shared import shared_pool
    from unhack.tasks.execution.shards.shared import shards_and_slots, shared_shards

    if name == "shards" or (name is None and shards_and_slots()[0] > 1):
        return shared_shards()
    return LocalExecutor(shared_pool())
