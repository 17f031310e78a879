"""The interface of executors: who judges the items of a batch, and a batch in progress.

An executor begins a batch: items go in, (index, verdict) pairs come out, in any order. The
scheduler numbers the items, drops duplicates and hands verdicts to who asked; an executor decides
where they are judged: on the threads of this process (`driver.LocalExecutor`), in processes of this
machine, on other machines.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypedDict, runtime_checkable

from unhack.core.verdict import Verdict
from unhack.sandbox.job import Backend
from unhack.tasks.task import Task


class BatchInProgress(Protocol):
    """One batch: `take` is called from one thread, everything else from any."""

    @property
    def open(self) -> int:
        """Items handed in whose verdict has not been taken."""
        ...

    def add(self, items: list[tuple[int, Task, str]]) -> None:
        """Hand in (index, task, completion) items."""
        ...

    def take(
        self, *, at_least: int = 1, timeout_s: float | None = None
    ) -> list[tuple[int, Verdict]]:
        """Wait until `at_least` verdicts (or all that are open) are there, and take them.

        Each item gets exactly one verdict. Raises what ended the batch as a whole.
        """
        ...

    def cancel(self) -> None:
        """End every job of this batch; no further verdict comes."""
        ...


@runtime_checkable
class WideBatch(Protocol):
    """A batch that may need more items in progress than one machine does."""

    @property
    def window(self) -> int:
        """Items in progress that keep all of it busy, as far as is known now."""
        ...


@runtime_checkable
class Executor(Protocol):
    """Judges the items of many batches, of several threads at once."""

    def begin(self) -> BatchInProgress:
        """A new batch. Raises SandboxUnavailableError, UsageError."""
        ...


class Placement(TypedDict, total=False):
    """The place where a batch is judged; at most one of the two."""

    backend: Backend | None
    """A pool of the caller's."""
    executor: Executor | str | None
    """An executor, or the name of one: see `choosing.NAMES`."""


class ResultSink(Protocol):
    """A place for verdicts. Both are called on the thread that judges, and must not wait."""

    def put(self, pairs: Iterable[tuple[int, Verdict]]) -> None:
        """Take (index, verdict) pairs."""
        ...

    def fail(self, error: BaseException) -> None:
        """Take the error that ended the batch as a whole; nothing comes after it."""
        ...
