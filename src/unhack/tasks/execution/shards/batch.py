"""A batch that is judged by several shards, and its items on their way to them.

Everything happens on the pool's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from unhack.core.verdict import Verdict
from unhack.tasks.execution.control_exchange import ControlExchange
from unhack.tasks.execution.local_run import LocalRun
from unhack.tasks.execution.scheduler import ResultQueue
from unhack.tasks.execution.shards.task_cache import CachedTask
from unhack.tasks.task import Task

MAX_DEATHS = 3
"""Shards that may die of an item; it is alone on the last one."""


@dataclass(slots=True, eq=False)
class ShardItem:
    """One completion between its batch and the shard that judges it; see `OpenItem`."""

    batch: QueuedBatch
    index: int
    cached: CachedTask
    completion: str
    deaths: int = 0
    """Shards that died while they had it."""
    control: str | None = None

    @property
    def task(self) -> Task:
        """Its task."""
        return self.cached.task

    @property
    def given_up(self) -> bool:
        """True when no shard may try it again."""
        return self.deaths >= MAX_DEATHS


class QueuedBatch:
    """One batch in progress, as the pool of shards knows it."""

    def __init__(
        self,
        number: int,
        call_soon: Callable[[Callable[[], None]], None],
        *,
        route: Callable[[ShardItem], None],
        on_end: Callable[[QueuedBatch], None],
    ) -> None:
        """`route` has an item judged by a shard, or here."""
        self.number = number
        self.ended = False
        """True after an error or a cancellation: nothing more is wanted."""
        self.results = ResultQueue()
        self.open = 0
        """Items without a final verdict."""
        self._call_soon, self._on_end = call_soon, on_end
        self._controls = ControlExchange(route)
        self._local: LocalRun | None = None
        self._judged_here: dict[int, ShardItem] = {}

    def judge_locally(self, item: ShardItem) -> None:
        """Have this process's own pool judge an item. Raises UsageError, PoolClosedError."""
        if self._local is None:
            self._local = LocalRun(self._call_soon, self._receive, self.fail)
        self._judged_here[item.index] = item
        self._local.judge(item.index, item.task, item.completion, control=item.control)

    def _receive(self, verdicts: list[tuple[int, Verdict]]) -> None:
        if not self.ended:
            self.conclude([(self._judged_here.pop(index), verdict) for index, verdict in verdicts])

    def conclude(self, judged: Iterable[tuple[ShardItem, Verdict]]) -> None:
        """Take verdicts: deliver them, but for those that rule 2 has to decide."""
        final = [pair for item, verdict in judged for pair in self._controls.decide(item, verdict)]
        if self.open - len(final) == len(self._controls):
            final += self._controls.give_up()
        self.open -= len(final)
        for item, _ in final:
            item.cached.open -= 1
        if final:
            self.results.put([(item.index, verdict) for item, verdict in final])

    def fail(self, error: BaseException) -> None:
        """End the batch as a whole."""
        if not self.ended:
            self.results.fail(error)
            self._on_end(self)

    def end(self) -> None:
        """Forget everything; cancel what this process judges itself."""
        self.ended = True
        waiting = [item for item, _ in self._controls.give_up()]
        for item in (*waiting, *self._judged_here.values()):
            item.cached.open -= 1
        self._judged_here = {}
        if self._local is not None:
            self._local.cancel()
