"""The words of execution: who judges the items of a batch, and a batch under way.

An executor begins a flight for each batch: items go in, (index, verdict) pairs come out, in any
order. `run_batch` numbers the items, drops duplicates and puts verdicts in order; an executor
decides where they are judged: on the threads of this process (`LocalExecutor`), in processes of
this machine, on other machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypedDict, runtime_checkable

from unhack.core.verdict import Verdict
from unhack.sandbox.job import Backend
from unhack.tasks.execution.driver import Run
from unhack.tasks.task import Task


class Flight(Protocol):
    """One batch in progress: `take` is called from one thread, everything else from any."""

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
class WideFlight(Protocol):
    """A flight that may need more items in progress than one machine does."""

    @property
    def window(self) -> int:
        """Items in progress that keep all of it busy, as far as is known now."""
        ...


@runtime_checkable
class Executor(Protocol):
    """Judges the items of many batches, of several threads at once."""

    def begin(self) -> Flight:
        """A new batch. Raises SandboxUnavailableError, UsageError."""
        ...


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Judges in this process: verifiers on the backend's thread, code in its workers."""

    backend: Backend

    def begin(self) -> Flight:
        """A new batch on the backend."""
        return Run(self.backend)


class Placement(TypedDict, total=False):
    """The place where a batch is judged; at most one of the two."""

    backend: Backend | None
    """A pool of the caller's."""
    executor: Executor | str | None
    """An executor, or the name of one: see `choosing.NAMES`."""
