"""A batch that is judged by several shards: rule 2 over all of them, as one run has it for itself.

A shard that can judge none of an item's controls leaves the item unscored. Another shard may have
judged a completion of its task meanwhile, or may yet: so the item waits, is tried once more with
that completion as its control, and is unscored only when that fails too or nothing is left to do.
"""

from __future__ import annotations

import contextlib
import weakref
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from unhack.core.errors import PoolClosedError
from unhack.core.verdict import Status, Verdict
from unhack.sandbox.pool.reactor import Reactor
from unhack.tasks.execution.driver import Run
from unhack.tasks.execution.scheduler import ResultQueue
from unhack.tasks.execution.shards.items import MAX_DEATHS, ItemOwner, ShardItem
from unhack.tasks.task import Task
from unhack.verifiers.base import unjudgeable_verdict

_KEPT_CONTROLS = 1024
"""Tasks of which a flight keeps a completion that was judged."""


@dataclass(frozen=True, slots=True)
class _Control:
    """A completion of a task that was judged."""

    task: Task
    completion: str
    verdict: Verdict


class Dispatcher(Protocol):
    """The crew, as it is seen from its flights."""

    @property
    def reactor(self) -> Reactor:
        """Its thread."""
        ...

    def check_open(self) -> None:
        """Raise PoolClosedError when the shards are closed."""
        ...

    def end_soon(self, number: int) -> None:
        """End a flight, from any thread."""
        ...

    def take_in(self, flight: ShardsFlight, items: list[tuple[int, Task, str]]) -> None:
        """Take items of a flight."""
        ...

    def route(self, item: ShardItem) -> None:
        """Let an item wait for a shard, or have it judged here."""
        ...

    def end_flight(self, flight: ItemOwner) -> None:
        """Nothing more of a flight is wanted."""
        ...


class ShardsFlight:
    """One batch in progress; see `executor.BatchInProgress`."""

    def __init__(self, crew: Dispatcher, number: int) -> None:
        self.number = number
        self.ended = False
        """True after an error or a cancellation: nothing more is wanted."""
        self._tray = ResultQueue()
        self._crew = crew
        self._under_way = 0
        self._undecided: list[tuple[ShardItem, Verdict]] = []
        self._judged: OrderedDict[int, _Control] = OrderedDict()
        self._here: _Here | None = None
        weakref.finalize(self, crew.end_soon, number).atexit = False

    @property
    def open(self) -> int:
        """Items handed in whose verdict has not been taken."""
        return self._tray.open

    def add(self, items: list[tuple[int, Task, str]]) -> None:
        """Hand in (index, task, completion) items. Raises PoolClosedError."""
        self._crew.check_open()
        self._tray.expect(len(items))
        self._crew.reactor.call_soon(lambda: self._crew.take_in(self, items))

    def take(
        self, *, at_least: int = 1, timeout_s: float | None = None
    ) -> list[tuple[int, Verdict]]:
        """Wait until `at_least` verdicts (or all that are open) are there, and take them."""
        return self._tray.take(at_least=at_least, timeout_s=timeout_s)

    def cancel(self) -> None:
        """End every job of this batch; no further verdict comes."""
        self._crew.end_soon(self.number)

    # The crew's thread, from here on.

    def judge_here(self, item: ShardItem) -> None:
        """Have this process's own pool judge an item. Raises UsageError, PoolClosedError."""
        if self._here is None:
            self._here = _Here(self, self._crew)
        self._here.judge(item)

    def count(self, items: int) -> None:
        """Take note of items that are under way."""
        self._under_way += items

    def conclude(self, judged: Iterable[tuple[ShardItem, Verdict]]) -> None:
        """Take verdicts: deliver them, but for those that rule 2 has to decide."""
        ready: list[tuple[int, Verdict]] = []
        for item, verdict in judged:
            self._under_way -= 1
            decided = self._decide(item, verdict) if item.passport.wants_controls else verdict
            if decided is not None:
                item.passport.open -= 1
                ready.append((item.index, decided))
        if not self._under_way and self._undecided:
            for item, verdict in self._undecided:
                item.passport.open -= 1
                ready.append((item.index, verdict))
            self._undecided = []
        if ready:
            self._tray.put(ready)

    def _decide(self, item: ShardItem, verdict: Verdict) -> Verdict | None:
        """The verdict on an item; None when it is to be tried again, now or later."""
        task = item.passport.task
        if verdict.scored:
            if verdict.status in {Status.PASSED, Status.FAILED} and id(task) not in self._judged:
                self._note_judged(task, item.completion, verdict)
            return verdict
        if item.control is not None:
            return verdict
        control = self._judged.get(id(task))
        if control is None:
            self._undecided.append((item, verdict))
            return None
        if item.deaths >= MAX_DEATHS:
            seal, level = control.verdict.seal, control.verdict.isolation
            return unjudgeable_verdict(verdict.reason, seal=seal, isolation=level)
        item.control = control.completion
        self._under_way += 1
        self._crew.route(item)
        return None

    def _note_judged(self, task: Task, completion: str, verdict: Verdict) -> None:
        """Keep a completion as a control of its task, and decide on items that wait for one."""
        self._judged[id(task)] = _Control(task, completion, verdict)
        if len(self._judged) > _KEPT_CONTROLS:
            self._judged.popitem(last=False)
        waiting = [pair for pair in self._undecided if pair[0].passport.task is task]
        self._undecided = [pair for pair in self._undecided if pair[0].passport.task is not task]
        self._under_way += len(waiting)
        self.conclude(waiting)

    def fail(self, error: BaseException) -> None:
        """End the batch as a whole."""
        if not self.ended:
            self._tray.fail(error)
            self._crew.end_flight(self)

    def end(self) -> None:
        """Forget everything; cancel what this process judges itself."""
        self.ended = True
        for item, _ in self._undecided:
            item.passport.open -= 1
        self._undecided = []
        if self._here is not None:
            self._here.end()


class _Here:
    """The part of a flight that this process judges, and the outlet of its runs.

    `put` and `fail` are called on the pool's thread, everything else on the crew's.
    """

    def __init__(self, flight: ShardsFlight, crew: Dispatcher) -> None:
        from unhack.sandbox.pool.shared import shared_pool  # many flights need none

        self._flight = weakref.ref(flight)
        self._crew = crew
        self._pool = shared_pool()
        self._run = Run(self._pool, self)
        self._others: list[Run] = []
        self._items: dict[int, ShardItem] = {}
        self._ready: deque[tuple[int, Verdict]] = deque()
        self._will_hand_on = False

    def judge(self, item: ShardItem) -> None:
        """Hand an item to the pool."""
        self._items[item.index] = item
        task = item.passport.task
        run, control = self._run, item.control
        if control is not None:
            run = Run(self._pool, self)
            self._others.append(run)
            self._pool.call_soon(lambda: run.note_judged(task, control))
        run.add([(item.index, task, item.completion)])

    def put(self, pairs: Iterable[tuple[int, Verdict]]) -> None:
        """Take verdicts to the crew's thread, many at once."""
        self._ready.extend(pairs)
        if not self._will_hand_on:
            self._will_hand_on = True
            self._crew.reactor.call_soon(self._hand_on)

    def fail(self, error: BaseException) -> None:
        """Take an error to the crew's thread."""
        self._crew.reactor.call_soon(lambda: self._fail(error))

    def _hand_on(self) -> None:
        self._will_hand_on = False  # first: what comes from now on has a call of its own
        judged: list[tuple[ShardItem, Verdict]] = []
        while self._ready:
            index, verdict = self._ready.popleft()
            if index in self._items:
                judged.append((self._items.pop(index), verdict))
        flight = self._flight()
        if flight is not None and not flight.ended:
            flight.conclude(judged)

    def _fail(self, error: BaseException) -> None:
        flight = self._flight()
        if flight is not None:
            flight.fail(error)

    def end(self) -> None:
        """Cancel what is under way."""
        for item in self._items.values():
            item.passport.open -= 1
        self._items = {}
        with contextlib.suppress(PoolClosedError):
            for run in (self._run, *self._others):
                run.cancel()
