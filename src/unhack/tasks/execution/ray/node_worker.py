"""The desk of a node: orders of many items come in, parcels of many verdicts go out.

Covered: several batches at once; a task is sent once and kept until the driver says to forget it;
known completions of other nodes serve as controls here (rule 2).
Not covered: callables of the user (`HostCall`): such an item goes back to the driver's process.

Nothing here knows of Ray: the desk is an ordinary object that an actor holds.
"""

from __future__ import annotations

import importlib.metadata
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from unhack.core.errors import PoolClosedError, SandboxUnavailableError, UnhackError
from unhack.core.verdict import Verdict, unscored_verdict
from unhack.sandbox.job import Backend
from unhack.tasks.execution.driver import Run
from unhack.tasks.task import Task
from unhack.verifiers.base import HostCall

_GATHER_S = 0.1
"""Time in which verdicts are gathered into one parcel."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """The first word of a node."""

    version: str
    """The installed version of unhack."""
    host: str
    pid: int


@dataclass(frozen=True, slots=True)
class Order:
    """Items for a node, with the tasks that it does not have yet."""

    items: list[tuple[int, int, str]]
    """(index, key of its task, completion) triples."""
    tasks: dict[int, Task]
    """Key -> task, for those that are new to the node."""
    forget: tuple[int, ...] = ()
    """Keys of tasks that no later order names."""
    controls: tuple[tuple[int, str], ...] = ()
    """(key, completion) pairs that were judged on another node."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """Verdicts of a node."""

    verdicts: list[tuple[int, Verdict]] = field(default_factory=list[tuple[int, Verdict]])
    home: tuple[int, ...] = ()
    """Items that only the driver's process can judge."""
    failure: tuple[str, str] | None = None
    """(class of the error, its words) of what ended the batch here."""


class AwayRun(Run):
    """A run far from the user's process: an item that calls there is sent back."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self.home: set[int] = set()

    def call_on_host(
        self, index: int, call: HostCall, then: Callable[[Any, BaseException | None], None]
    ) -> None:
        """Send the item back instead of calling."""
        self.home.add(index)
        self.deliver(index, unscored_verdict("the user's callable runs in the user's process"))


class _Work:
    """One batch at this desk."""

    def __init__(self, backend: Backend) -> None:
        self.run = AwayRun(backend)
        self.tasks: dict[int, Task] = {}
        self.added = threading.Event()


class Desk:
    """Judges orders on the pool of its node; every method may be called from any thread."""

    def __init__(self, slots: int) -> None:
        from unhack.sandbox.pool.pool import Pool  # loaded on nodes alone

        self._backend: Backend = Pool(slots=max(1, min(slots, len(os.sched_getaffinity(0)))))
        self._works: dict[str, _Work] = {}
        self._lock = threading.Lock()

    def greet(self) -> Greeting:
        """The version here, and the place."""
        version = importlib.metadata.version("unhack")
        return Greeting(version, socket.gethostname(), os.getpid())

    def hand_in(self, flight: str, order: Order) -> None:
        """Start the items of an order. The next order of a flight comes after this has returned."""
        with self._lock:
            work = self._works.get(flight)
            if work is None:
                work = self._works[flight] = _Work(self._backend)
        for key in order.forget:
            work.tasks.pop(key, None)
        work.tasks.update(order.tasks)
        items = [(index, work.tasks[key], text) for index, key, text in order.items]
        controls = [(work.tasks[key], text) for key, text in order.controls]
        if not controls:
            work.run.add(items)
            work.added.set()
            return

        def start() -> None:
            for task, text in controls:
                work.run.note_judged(task, text)
            work.run.add(items)
            work.added.set()

        self._backend.call_soon(start)

    def take(self, flight: str, at_least: int, wait_s: float) -> Parcel:
        """The verdicts that are there: `at_least` if they come soon, else those that came in
        `wait_s` seconds, perhaps none."""
        work = self._works.get(flight)
        if work is None:
            return Parcel()
        try:
            verdicts = _gather(work, at_least, time.monotonic() + wait_s)
        except (SandboxUnavailableError, PoolClosedError) as error:
            return Parcel(failure=(type(error).__name__, str(error)))
        except UnhackError as error:
            return Parcel(failure=("SandboxError", f"{type(error).__name__}: {error}"))
        home = tuple(index for index, _ in verdicts if index in work.run.home)
        work.run.home.difference_update(home)
        if home:
            verdicts = [pair for pair in verdicts if pair[0] not in home]
        return Parcel(verdicts, home)

    def cancel(self, flight: str) -> None:
        """End a batch here and forget it."""
        with self._lock:
            work = self._works.pop(flight, None)
        if work is not None:
            work.run.cancel()

    def close(self) -> None:
        """End every job and worker."""
        self._backend.close()


def _gather(work: _Work, at_least: int, until: float) -> list[tuple[int, Verdict]]:
    run = work.run
    while (left := until - time.monotonic()) > 0:
        work.added.clear()
        if not run.open:
            work.added.wait(left)
            continue
        found = run.take(at_least=at_least, timeout_s=min(left, _GATHER_S))
        found = found or run.take(at_least=1, timeout_s=left)
        if found:
            return found
    return []
