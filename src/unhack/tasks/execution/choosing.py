"""The executor of a batch: the one that was given, or what this machine is best served by."""

from __future__ import annotations

from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.job import Backend
from unhack.tasks.execution.executor import Executor, LocalExecutor

NAMES = ("local", "ray")
"""`local`: this process and its shared pool. `ray`: every node of a Ray cluster."""


def choose(backend: Backend | None = None, executor: Executor | str | None = None) -> Executor:
    """The executor for a batch. Raises UsageError where both are given, UnknownNameError."""
    if backend is not None and executor is not None:
        raise UsageError("give `backend` or `executor`, not both: an executor has its own backend")
    if backend is not None:
        return LocalExecutor(backend)
    if isinstance(executor, Executor):
        return executor
    return _named(executor or "local")


def _named(name: str) -> Executor:
    if name not in NAMES:
        raise UnknownNameError("executor", name, valid=NAMES)
    if name == "ray":
        # Loaded by use: Ray is an extra, and local batches need none of this.
        from unhack.tasks.execution.cluster.ray_executor import shared_ray_executor

        return shared_ray_executor()
    from unhack.sandbox.pool.shared import shared_pool  # half of the import's time; loaded by use

    return LocalExecutor(shared_pool())
