"""Rule 2 over several places that judge one batch, as one run has it for itself.

A place that can judge none of an item's controls leaves the item unscored. Another place may have
judged a completion of its task meanwhile, or in an earlier batch of this process, or may yet: so
the item waits, is tried once more with that completion as its control, and is unscored only when
that fails too or nothing is left to do.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from unhack.core.verdict import Status, Verdict
from unhack.tasks.execution.driver import CONTROLS
from unhack.tasks.task import Task
from unhack.verifiers.base import HasCanaries, unjudgeable_verdict

_KEPT_CONTROLS = 1024
"""Tasks of which a completion that was judged is kept."""


class OpenItem(Protocol):
    """One completion on its way to a verdict."""

    @property
    def task(self) -> Task:
        """Its task."""
        ...

    @property
    def completion(self) -> str:
        """The text to judge."""
        ...

    @property
    def given_up(self) -> bool:
        """True when no place may try it again."""
        ...

    control: str | None
    """A completion of its task that was judged elsewhere, once it is tried with that."""


T = TypeVar("T", bound=OpenItem)


class ControlExchange(Generic[T]):
    """The completions of one batch that were judged, and the items that wait for one."""

    def __init__(self, try_again: Callable[[T], None]) -> None:
        self._try_again = try_again
        self._waiting: list[tuple[T, Verdict]] = []
        self._judged: OrderedDict[int, tuple[Task, str, Verdict]] = OrderedDict()

    def __len__(self) -> int:
        """Items that wait for a control."""
        return len(self._waiting)

    def decide(self, item: T, verdict: Verdict) -> list[tuple[T, Verdict]]:
        """The verdicts that this one makes final; an item that waits or is tried again has none."""
        task = item.task
        has_reference = task.problem.reference is not None
        settled = has_reference or (verdict.scored and id(task) in self._judged)
        if settled or not isinstance(task.verifier, HasCanaries):  # asked last: it is slow
            return [(item, verdict)]
        if verdict.scored:
            return [(item, verdict), *self._note_judged(item, verdict)]
        if item.control is not None:
            return [(item, verdict)]
        known = self._judged.get(id(task))
        if known is not None and item.given_up:
            seal, level = known[2].seal, known[2].isolation
            return [(item, unjudgeable_verdict(verdict.reason, seal=seal, isolation=level))]
        control = CONTROLS.find(task) if known is None else known[1]
        if control is None or item.given_up:
            self._waiting.append((item, verdict))
            return []
        item.control = control
        self._try_again(item)
        return []

    def _note_judged(self, item: T, verdict: Verdict) -> list[tuple[T, Verdict]]:
        """Keep a completion as a control of its task, and decide on those that wait for one."""
        task = item.task
        if verdict.status not in {Status.PASSED, Status.FAILED}:
            return []
        # The task is kept beside its number, which means nothing once the task is gone.
        self._judged[id(task)] = task, item.completion, verdict
        CONTROLS.keep(task, item.completion)
        if len(self._judged) > _KEPT_CONTROLS:
            self._judged.popitem(last=False)
        waiting = [pair for pair in self._waiting if pair[0].task is task]
        self._waiting = [pair for pair in self._waiting if pair[0].task is not task]
        return [final for pair in waiting for final in self.decide(*pair)]

    def give_up(self) -> list[tuple[T, Verdict]]:
        """Those that wait, when nothing is left that could decide them; the first verdict stays."""
        left, self._waiting = self._waiting, []
        return left
