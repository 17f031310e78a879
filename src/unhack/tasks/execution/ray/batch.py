"""A batch on a Ray cluster: items wait, are held by nodes, and get one verdict each.

Everything happens on the dispatcher's thread. The first verdict of an item counts: what is no
longer open is dropped when it comes again.
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from unhack.core.errors import UnhackError
from unhack.core.verdict import Verdict, unscored_verdict
from unhack.tasks.execution.control_exchange import ControlExchange
from unhack.tasks.execution.local_run import LocalRun
from unhack.tasks.execution.scheduler import ResultQueue
from unhack.tasks.task import Task
from unhack.verifiers.python import PythonVerifier

_MAX_LOSSES = 3
"""Nodes that an item may outlive; after the last one, this process judges it."""


@dataclass(slots=True, eq=False)
class RayItem:
    """One item on its way to a verdict; see `OpenItem`."""

    index: int
    task: Task
    completion: str
    losses: int = 0
    """Nodes that were lost while they judged it."""
    control: str | None = None
    given_up: bool = False


class DispatchedBatch:
    """One batch in progress, as the dispatcher knows it."""

    def __init__(
        self,
        call_soon: Callable[[Callable[[], None]], None],
        on_end: Callable[[DispatchedBatch], None],
    ) -> None:
        self.id = uuid.uuid4().hex
        self.results = ResultQueue()
        self.waiting: deque[RayItem] = deque()
        self.held: dict[int, RayItem] = {}
        """Index -> item that some node, or this process, has."""
        self.ended = False
        self._call_soon, self._on_end = call_soon, on_end
        self._controls: ControlExchange[RayItem] = ControlExchange(self.waiting.append)
        self._local: LocalRun | None = None
        self._last: LocalRun | None = None
        """For items that have outlived their nodes."""
        self._lost: dict[int, str] = {}
        """Index -> why, of the items there."""

    def accept(self, items: list[tuple[int, Task, str]]) -> None:
        """Take (index, task, completion) items."""
        for index, task, completion in items:
            item = RayItem(index, task, completion)
            if isinstance(task.verifier, PythonVerifier):
                self.judge_locally(item)
            else:
                self.waiting.append(item)

    def judge_locally(self, item: RayItem) -> None:
        """Judge an item in this process: its verifier calls the user's callable."""
        if self._local is None:
            self._local = LocalRun(self._call_soon, self.receive, self.fail)
        self.held[item.index] = item
        self._local.judge(item.index, item.task, item.completion, control=item.control)

    def receive(self, verdicts: Iterable[tuple[int, Verdict]]) -> None:
        """Take verdicts; those of items that are no longer open are dropped."""
        final: list[tuple[RayItem, Verdict]] = []
        for index, verdict in verdicts:
            item = self.held.pop(index, None)
            if item is not None:
                final += self._controls.decide(item, verdict)
        self._deliver(final)

    def _deliver(self, final: list[tuple[RayItem, Verdict]]) -> None:
        if not self.waiting and not self.held:
            final = [*final, *self._controls.give_up()]
        if final:
            self.results.put([(item.index, verdict) for item, verdict in final])

    def lose(self, items: list[RayItem], why: str) -> None:
        """Send the items of a lost node elsewhere."""
        for item in reversed(items):
            if self.held.pop(item.index, None) is None:
                continue
            item.losses += 1
            if item.losses < _MAX_LOSSES:
                self.waiting.appendleft(item)
            else:
                self._judge_last(item, f"{item.losses} nodes were lost with it; last: {why}")
        self._deliver([])

    def _judge_last(self, item: RayItem, why: str) -> None:
        """Judge an item in this process: it may be what ends nodes, or they end by themselves."""
        self.held[item.index] = item
        self._lost[item.index] = why
        try:
            if self._last is None:
                self._last = LocalRun(self._call_soon, self.receive, self._give_up)
            self._last.judge(item.index, item.task, item.completion, control=item.control)
        except UnhackError as error:
            self._give_up(error)

    def _give_up(self, error: BaseException) -> None:
        """Leave items unscored that no node and not this process could judge."""
        left = [
            (item, why) for index, why in self._lost.items() if (item := self.held.pop(index, None))
        ]
        self._lost, self._last = {}, None
        self._deliver(
            [(item, unscored_verdict(f"{why}; this process: {error}"[:1000])) for item, why in left]
        )

    def fail(self, error: BaseException) -> None:
        """The batch as a whole cannot go on."""
        self.results.fail(error)
        self.end()

    def end(self) -> None:
        """Forget every item; no further verdict comes."""
        self.ended = True
        self.waiting.clear()
        self.held.clear()
        self._controls.give_up()
        for run in (self._local, self._last):
            if run is not None:
                run.cancel()
        self._on_end(self)
