"""The items of a batch that this process judges, while other processes judge the rest."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable

from unhack.core.errors import PoolClosedError
from unhack.core.verdict import Verdict
from unhack.tasks.execution.driver import Run
from unhack.tasks.task import Task


class LocalRun:
    """Runs on this process's shared pool, and the sink of their verdicts.

    `put` and `fail` are called on the pool's thread, everything else on that of `call_soon`, where
    `on_verdicts` and `on_error` are called, too.
    """

    def __init__(
        self,
        call_soon: Callable[[Callable[[], None]], None],
        on_verdicts: Callable[[list[tuple[int, Verdict]]], None],
        on_error: Callable[[BaseException], None],
    ) -> None:
        from unhack.sandbox.pool.pool import shared_pool  # half of the import time

        self._call_soon = call_soon
        self._on_verdicts, self._on_error = on_verdicts, on_error
        self._pool = shared_pool()
        self._runs = [Run(self._pool, self)]
        self._ready: deque[tuple[int, Verdict]] = deque()
        self._will_hand_on = False

    def judge(self, index: int, task: Task, completion: str, *, control: str | None) -> None:
        """Judge an item, with a completion of its task that was judged elsewhere as its control.
        Raises PoolClosedError."""
        run = self._runs[0]
        if control is not None:
            run = Run(self._pool, self)
            self._runs.append(run)
            self._pool.call_soon(lambda: run.note_judged(task, control))
        run.add([(index, task, completion)])

    def put(self, pairs: Iterable[tuple[int, Verdict]]) -> None:
        """Take verdicts to the other thread, many at once."""
        self._ready.extend(pairs)
        if not self._will_hand_on:
            self._will_hand_on = True
            self._soon(self._hand_on)

    def fail(self, error: BaseException) -> None:
        """Take an error to the other thread."""
        self._soon(lambda: self._on_error(error))

    def _soon(self, function: Callable[[], None]) -> None:
        with contextlib.suppress(PoolClosedError):  # then nobody waits for it
            self._call_soon(function)

    def _hand_on(self) -> None:
        self._will_hand_on = False  # first: what comes from now on has a call of its own
        found: list[tuple[int, Verdict]] = []
        while self._ready:
            found.append(self._ready.popleft())
        self._on_verdicts(found)

    def cancel(self) -> None:
        """End every job here."""
        with contextlib.suppress(PoolClosedError):
            for run in self._runs:
                run.cancel()
