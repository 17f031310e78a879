"""The worker of a node: requests of many items come in, responses of many verdicts go out.

Covered: several batches at once; a task is sent once and kept until the dispatcher says to forget
it; known completions of other nodes serve as controls here (rule 2).
Not covered: callables of the user (`HostCall`): such an item goes back to the caller's process.

Nothing here knows of Ray: the worker is an ordinary object that an actor holds.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from unhack.core.errors import PoolClosedError, SandboxUnavailableError, UnhackError
from unhack.core.verdict import Verdict, unscored_verdict
from unhack.sandbox.distributions import versions
from unhack.sandbox.job import Backend
from unhack.tasks.execution.driver import Run
from unhack.tasks.task import Task
from unhack.verifiers.base import HostCall

_GATHER_S = 0.1
"""Time in which verdicts are gathered into one response."""


@dataclass(frozen=True, slots=True)
class ItemsRequest:
    """Items for a node, with the tasks that it does not have yet."""

    items: list[tuple[int, int, str]]
    """(index, key of its task, completion) triples."""
    tasks: dict[int, Task]
    """Key -> task, for those that are new to the node."""
    forget: tuple[int, ...] = ()
    """Keys of tasks that no later request names."""
    controls: tuple[tuple[int, str], ...] = ()
    """(key, completion) pairs that were judged on another node."""


@dataclass(frozen=True, slots=True)
class VerdictsResponse:
    """Verdicts of a node."""

    verdicts: list[tuple[int, Verdict]] = field(default_factory=list[tuple[int, Verdict]])
    local: tuple[int, ...] = ()
    """Items that only the caller's process can judge."""
    failure: tuple[str, str] | None = None
    """(class of the error, its words) of what ended the batch here."""


class _RemoteRun(Run):
    """A run away from the user's process: an item that calls there is sent back."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self.local: set[int] = set()

    def call_on_host(
        self, index: int, call: HostCall, then: Callable[[Any, BaseException | None], None]
    ) -> None:
        """Send the item back instead of calling."""
        self.local.add(index)
        self.deliver(index, unscored_verdict("the user's callable runs in the user's process"))


class _NodeBatch:
    """The part of one batch that this node judges."""

    def __init__(self, backend: Backend) -> None:
        self.run = _RemoteRun(backend)
        self.tasks: dict[int, Task] = {}
        self.added = threading.Event()


class NodeWorker:
    """Judges requests on the pool of its node; every method may be called from any thread."""

    def __init__(self, slots: int) -> None:
        from unhack.sandbox.pool.pool import Pool  # loaded on nodes alone

        self._backend: Backend = Pool(slots=max(1, min(slots, len(os.sched_getaffinity(0)))))
        self._batches: dict[str, _NodeBatch] = {}
        self._lock = threading.Lock()

    def handshake(self) -> dict[str, str]:
        """The versions of unhack and of contents that are installed here."""
        return versions()

    def add(self, batch: str, request: ItemsRequest) -> None:
        """Start the items of a request. The next one of a batch comes after this has returned."""
        with self._lock:
            known = self._batches.get(batch)
            if known is None:
                known = self._batches[batch] = _NodeBatch(self._backend)
        for key in request.forget:
            known.tasks.pop(key, None)
        known.tasks.update(request.tasks)
        items = [(index, known.tasks[key], text) for index, key, text in request.items]
        controls = [(known.tasks[key], text) for key, text in request.controls]

        def start() -> None:
            for task, text in controls:
                known.run.note_judged(task, text)
            known.run.add(items)
            known.added.set()

        if controls:
            self._backend.call_soon(start)
        else:
            start()

    def take(self, batch: str, at_least: int, wait_s: float) -> VerdictsResponse:
        """The verdicts that are there: `at_least` if they come soon, else those that came in
        `wait_s` seconds, perhaps none."""
        known = self._batches.get(batch)
        if known is None:
            return VerdictsResponse()
        try:
            verdicts = _gather(known, at_least, time.monotonic() + wait_s)
        except (SandboxUnavailableError, PoolClosedError) as error:
            return VerdictsResponse(failure=(type(error).__name__, str(error)))
        except UnhackError as error:
            return VerdictsResponse(failure=("SandboxError", f"{type(error).__name__}: {error}"))
        local = tuple(index for index, _ in verdicts if index in known.run.local)
        known.run.local.difference_update(local)
        if local:
            verdicts = [pair for pair in verdicts if pair[0] not in local]
        return VerdictsResponse(verdicts, local)

    # As `ray.method(concurrency_group="take")` says it without importing Ray: a wait for verdicts
    # holds up nothing else. An option of each call would not go through Ray's client.
    take.__ray_concurrency_group__ = "take"  # pyright: ignore[reportFunctionMemberAccess]

    def cancel(self, batch: str) -> None:
        """End a batch here and forget it."""
        with self._lock:
            known = self._batches.pop(batch, None)
        if known is not None:
            known.run.cancel()


def _gather(batch: _NodeBatch, at_least: int, until: float) -> list[tuple[int, Verdict]]:
    run = batch.run
    while (left := until - time.monotonic()) > 0:
        batch.added.clear()
        if not run.open:
            batch.added.wait(left)
            continue
        found = run.take(at_least=at_least, timeout_s=min(left, _GATHER_S))
        found = found or run.take(at_least=1, timeout_s=left)
        if found:
            return found
    return []
