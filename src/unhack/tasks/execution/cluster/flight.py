"""A batch on a cluster: items wait, are held by nodes, and get one verdict each.

The caller's thread adds and takes; everything else happens on the courier's thread. The first
verdict of an item counts: what is no longer open is dropped when it comes again.
"""

from __future__ import annotations

import threading
import uuid
from collections import deque
from collections.abc import Callable
from typing import Protocol

from unhack.core.errors import UnhackError
from unhack.core.verdict import Status, Verdict, unscored_verdict
from unhack.tasks.execution.cluster.home import Home
from unhack.tasks.execution.cluster.nodes import OpenItem
from unhack.tasks.task import Task
from unhack.verifiers.base import HasCanaries
from unhack.verifiers.python import PythonVerifier

_MAX_LOSSES = 3
"""Nodes that an item may outlive; after the last one, this process judges it."""


class _Post(Protocol):
    """The courier, as a flight sees it."""

    def call_soon(self, function: Callable[[], None]) -> None:
        """Run `function` on the courier's thread."""
        ...

    def enrol(self, flight: ClusterFlight) -> None:
        """Serve a flight that has open items; on the courier's thread."""
        ...

    def dismiss(self, flight: ClusterFlight) -> None:
        """Forget a flight, here and on every node; on the courier's thread."""
        ...

    @property
    def capacity(self) -> int:
        """Items that keep every node busy."""
        ...


class ClusterFlight:
    """One batch in progress; see `BatchInProgress`."""

    def __init__(self, post: _Post) -> None:
        self.id = uuid.uuid4().hex
        self.waiting: deque[OpenItem] = deque()
        self.held: dict[int, OpenItem] = {}
        """Index -> item that some node, or this process, has."""
        self._post = post
        self._condition = threading.Condition()
        self._ready: list[tuple[int, Verdict]] = []
        self._open = 0
        self._wanted = 1
        self._failure: BaseException | None = None
        self._ended = False
        self._good: dict[int, tuple[Task, str]] = {}
        self._undecided: list[tuple[OpenItem, Verdict]] = []
        self._home: Home | None = None
        self._last: Home | None = None
        """For items that have outlived their nodes."""
        self._lost: dict[int, str] = {}
        """Index -> why, of the items there."""

    @property
    def open(self) -> int:
        """Items handed in whose verdict has not been taken."""
        return self._open

    @property
    def window(self) -> int:
        """Items in progress that keep every node busy."""
        return self._post.capacity

    def add(self, items: list[tuple[int, Task, str]]) -> None:
        """Hand in (index, task, completion) items, from any thread."""
        with self._condition:
            self._open += len(items)
        self._post.call_soon(lambda: self._accept(items))

    def take(
        self, *, at_least: int = 1, timeout_s: float | None = None
    ) -> list[tuple[int, Verdict]]:
        """Wait until `at_least` verdicts (or all that are open) are there, and take them.

        Raises what ended the batch as a whole.
        """
        with self._condition:
            self._wanted = min(at_least, self._open)
            self._condition.wait_for(self._enough, timeout_s)
            if self._failure is not None:
                raise self._failure
            taken, self._ready = self._ready, []
            self._open -= len(taken)
            if not self._open and not self._ended:
                self._post.call_soon(self._rest)
            return taken

    def _enough(self) -> bool:
        return self._failure is not None or len(self._ready) >= self._wanted

    def cancel(self) -> None:
        """End the batch on every node; no further verdict comes."""
        self._post.call_soon(self._end)

    # The courier's thread, from here on.

    @property
    def idle(self) -> bool:
        """True when no item waits for a node or a verdict."""
        return not self.waiting and not self.held

    def _rest(self) -> None:
        """Leave the nodes when every verdict was taken; more items bring it back."""
        if not self._open and not self._ended:
            self._post.dismiss(self)

    def _end(self) -> None:
        self._ended = True
        self.waiting.clear()
        self.held.clear()
        self._undecided.clear()
        for home in (self._home, self._last):
            if home is not None:
                home.cancel()
        self._post.dismiss(self)

    def _accept(self, items: list[tuple[int, Task, str]]) -> None:
        if self._ended:
            return
        for index, task, completion in items:
            entry = OpenItem(index, task, completion)
            if isinstance(task.verifier, PythonVerifier):
                self.send_home(entry)
            else:
                self.waiting.append(entry)
        self._post.enrol(self)

    def send_home(self, entry: OpenItem) -> None:
        """Judge an item in this process: its verifier calls the user's callable."""
        if self._home is None:
            self._home = Home(self._receive_soon, self._soon(self.fail))
        self.held[entry.index] = entry
        self._home.add((entry.index, entry.task, entry.completion))

    def _receive_soon(self, found: list[tuple[int, Verdict]]) -> None:
        self._post.call_soon(lambda: self.receive(found))

    def _soon(self, then: Callable[[BaseException], None]) -> Callable[[BaseException], None]:
        return lambda error: self._post.call_soon(lambda: then(error))

    def receive(self, verdicts: list[tuple[int, Verdict]]) -> None:
        """Take verdicts of a node; those of items that are no longer open are dropped."""
        done: list[tuple[int, Verdict]] = []
        for index, verdict in verdicts:
            entry = self.held.pop(index, None)
            if entry is None:
                continue
            if not self._is_undecided(entry, verdict):
                done.append((index, verdict))
        self._deliver(done)
        self.settle()

    def _is_undecided(self, entry: OpenItem, verdict: Verdict) -> bool:
        """True for an item that gets another try; notes completions that others may need."""
        task = entry.task
        if task.problem.reference is not None or not isinstance(task.verifier, HasCanaries):
            return False
        if verdict.status in {Status.PASSED, Status.FAILED}:
            if id(task) not in self._good:
                self._good[id(task)] = task, entry.completion
                self._try_again(task, entry.completion)
            return False
        if verdict.scored or entry.control is not None:
            return False
        good = self._good.get(id(task))
        if good is None:
            self._undecided.append((entry, verdict))
        else:
            entry.control = good[1]
            self.waiting.append(entry)
        return True

    def _try_again(self, task: Task, control: str) -> None:
        kept: list[tuple[OpenItem, Verdict]] = []
        for entry, verdict in self._undecided:
            if entry.task is task:
                entry.control = control
                self.waiting.append(entry)
            else:
                kept.append((entry, verdict))
        self._undecided = kept

    def settle(self) -> None:
        """Give up what is undecided when nothing is left that could decide it."""
        if self.idle and self._undecided:
            left, self._undecided = self._undecided, []
            self._deliver([(entry.index, verdict) for entry, verdict in left])

    def lose(self, entries: list[OpenItem], why: str) -> None:
        """Send the items of a lost node elsewhere."""
        for entry in reversed(entries):
            if self.held.pop(entry.index, None) is None:
                continue
            entry.losses += 1
            if entry.losses < _MAX_LOSSES:
                self.waiting.appendleft(entry)
            else:
                self._judge_here(entry, f"{entry.losses} nodes were lost with it; last: {why}")
        self.settle()

    def _judge_here(self, entry: OpenItem, why: str) -> None:
        """Judge an item in this process: it may be what ends nodes, or they end by themselves."""
        self.held[entry.index] = entry
        self._lost[entry.index] = why
        try:
            if self._last is None:
                self._last = Home(self._receive_soon, self._soon(self._give_up))
            self._last.add((entry.index, entry.task, entry.completion))
        except UnhackError as error:
            self._give_up(error)

    def _give_up(self, error: BaseException) -> None:
        """Leave items unscored that no node and not this process could judge."""
        left = [index for index in self._lost if self.held.pop(index, None) is not None]
        reasons = [f"{self._lost[index]}; this process: {error}"[:1000] for index in left]
        self._lost, self._last = {}, None
        self._deliver([(i, unscored_verdict(why)) for i, why in zip(left, reasons, strict=True)])
        self.settle()

    def fail(self, error: BaseException) -> None:
        """The batch as a whole cannot go on."""
        with self._condition:
            self._failure = self._failure or error
            self._condition.notify()
        self._end()

    def _deliver(self, verdicts: list[tuple[int, Verdict]]) -> None:
        if not verdicts:
            return
        with self._condition:
            self._ready.extend(verdicts)
            if len(self._ready) >= self._wanted:
                self._condition.notify()
