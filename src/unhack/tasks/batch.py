"""`run_batch`: the verdicts, rewards and advantages of many completions.

    batch = run_batch(task, completions, group_size=8)
    batch.rewards            # one number in [0, 1] for each completion, None where unscored
    batch.advantages("grpo") # values and mask

Order is kept, identical completions of a task are judged once, a straggler holds up nobody. The
input is consumed as it is needed, so it may be a generator.
"""

from __future__ import annotations

import html
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Unpack

from unhack.core import group as groups
from unhack.core.errors import BatchUnscoredError
from unhack.core.hashing import content_hash
from unhack.core.verdict import Verdict
from unhack.tasks.execution.choosing import choose
from unhack.tasks.execution.executor import Executor, Placement, WideFlight
from unhack.tasks.pairing import check_input, group_indices, pairs
from unhack.tasks.task import Task
from unhack.verifiers.reward import reward_of

_MAX_UNSCORED_SHARE = 0.01
_MAX_UNSCORED_ITEMS = 5
_SHOWN_ROWS = 20
_LOOK_S = 0.1
_WINDOW = 512
"""Items in progress where the caller names no number."""


@dataclass(frozen=True, repr=False)
class Batch:
    """The judged completions of one call, in its order.

    Example:

        batch = run_batch(task, completions, group_size=8)
        batch.rewards, batch.advantages("grpo").values, batch.pass_at_k(4)
    """

    verdicts: tuple[Verdict, ...]
    group_indices: tuple[tuple[int, ...], ...]
    """Index lists: which items are rollouts of one problem."""

    @cached_property
    def rewards(self) -> tuple[float | None, ...]:
        """The numbers that the optimiser sees; None where unscored."""
        return tuple(reward_of(verdict) for verdict in self.verdicts)

    def advantages(self, estimator: str = "grpo") -> groups.Advantages:
        """See `unhack.core.group.advantages`. Raises UnknownNameError."""
        return groups.advantages(self.rewards, self.group_indices, estimator=estimator)

    def pass_at_k(self, k: int) -> float:
        """Mean over groups of the unbiased pass@k; unscored items are left out.

        Raises ValueError when a group has fewer than k scored items.
        """
        shares: list[float] = []
        for indices in self.group_indices:
            scored = [self.verdicts[i] for i in indices if self.verdicts[i].scored]
            passed = sum(verdict.passed for verdict in scored)
            shares.append(groups.pass_at_k(len(scored), passed, k))
        return sum(shares) / len(shares)

    def __repr__(self) -> str:
        """`Batch(4: 2 passed, 2 failed, mean 0.5)`; a failed item is one that is scored and did not
        pass."""
        if not self.verdicts:
            return "Batch(0)"
        passed = sum(verdict.passed for verdict in self.verdicts)
        unscored = sum(not verdict.scored for verdict in self.verdicts)
        parts = [f"{passed} passed", f"{len(self.verdicts) - passed - unscored} failed"]
        if unscored:
            parts.append(f"{unscored} unscored")
        scored = [reward for reward in self.rewards if reward is not None]
        if scored:
            parts.append(f"mean {sum(scored) / len(scored):.3g}")
        return f"Batch({len(self.verdicts)}: {', '.join(parts)})"

    def _repr_html_(self) -> str:
        """The same and a table of the first verdicts, for notebooks."""
        rows = "".join(
            f"<tr><td>{index}</td><td>{verdict.status}</td><td>{_shown(reward)}</td>"
            f"<td style='text-align:left'>{html.escape(verdict.reason[:200])}</td></tr>"
            for index, (verdict, reward) in enumerate(zip(self.verdicts, self.rewards, strict=True))
            if index < _SHOWN_ROWS
        )
        left = len(self.verdicts) - _SHOWN_ROWS
        more = f"<p>and {left} more</p>" if left > 0 else ""
        head = "<tr><th></th><th>status</th><th>reward</th><th>reason</th></tr>"
        return f"<p>{html.escape(repr(self))}</p><table>{head}{rows}</table>{more}"

    def report(self) -> groups.GroupReport:
        """The amount of signal in the groups."""
        return groups.group_report(self.rewards, self.group_indices)


def _shown(reward: float | None) -> str:
    return "" if reward is None else f"{reward:.3g}"


def stream_batch(
    task_or_tasks: Task | Sequence[Task],
    completions: Iterable[str],
    *,
    dedupe: bool = True,
    window: int | None = 256,
    **placement: Unpack[Placement],
) -> Generator[tuple[int, Verdict]]:
    """Yield (index, verdict) pairs as they come, in any order.

    At most `window` items are in progress and not yet taken: a slow consumer slows the input down.
    None is as many as keep the executor busy, at least 512.
    Closing the iterator cancels what is in progress. Raises SandboxUnavailableError, UsageError.
    """
    check_input(task_or_tasks, completions)
    return _stream(task_or_tasks, completions, choose(**placement), dedupe, window, _Taking())


@dataclass(frozen=True, slots=True)
class _Taking:
    """The way in which a stream takes verdicts from a flight."""

    chunk: int = 1
    """As many at least, where so many are open."""
    stop: threading.Event | None = None
    """Ends the stream, also while it waits for a verdict."""

    @property
    def timeout_s(self) -> float | None:
        """Longest time between two looks at `stop`."""
        return None if self.stop is None else _LOOK_S

    @property
    def over(self) -> bool:
        """True once the stream is to end."""
        return self.stop is not None and self.stop.is_set()


def _stream(
    tasks: Task | Sequence[Task],
    completions: Iterable[str],
    executor: Executor,
    dedupe: bool,
    window: int | None,
    taking: _Taking,
) -> Generator[tuple[int, Verdict]]:
    run = executor.begin()
    known = _Duplicates() if dedupe else None
    source = pairs(tasks, completions)
    exhausted = False
    wide = run if window is None and isinstance(run, WideFlight) else None
    window = window or _WINDOW
    try:
        while True:
            if wide is not None:
                window = max(_WINDOW, wide.window)
            fresh: list[tuple[int, Task, str]] = []
            while (
                not exhausted and run.open + len(fresh) + (known.waiting if known else 0) < window
            ):
                item = next(source, None)
                if item is None:
                    exhausted = True
                    break
                if known is None:
                    fresh.append(item)
                    continue
                verdict = known.look_up(item)
                if verdict is not None:
                    yield item[0], verdict
                elif known.is_first(item[0]):
                    fresh.append(item)
            if fresh:
                run.add(fresh)
            if not run.open:
                return
            taken = run.take(at_least=taking.chunk, timeout_s=taking.timeout_s)
            if taking.over:
                return
            for index, verdict in taken:
                yield index, verdict
                if known is not None:
                    for twin in known.record(index, verdict):
                        yield twin, verdict
    finally:
        if run.open:
            run.cancel()


_KEPT_VERDICTS = 1 << 14
"""Verdicts that a stream remembers, the latest used: about 16 MB."""
_Key = tuple[int, str]
"""The `id` of a task, which its entry keeps alive, and the hash of a completion."""


@dataclass(slots=True)
class _First:
    """The first of identical completions, while it is judged."""

    key: _Key
    task: Task
    twins: list[int] = field(default_factory=list[int])


class _Duplicates:
    """Identical completions of a task: the first is judged, the others share its verdict.

    Every key stands beside its task: a number that stands for a task means nothing once that task
    is gone, for the next one may be given it. The store is bounded; what it has forgotten is judged
    again.
    """

    def __init__(self, kept: int = _KEPT_VERDICTS) -> None:
        self._kept = kept
        self._first: dict[_Key, int] = {}
        self._open: dict[int, _First] = {}
        self._verdicts: OrderedDict[_Key, tuple[Task, Verdict]] = OrderedDict()
        self.waiting = 0
        """Items that wait for the verdict of another."""

    def look_up(self, item: tuple[int, Task, str]) -> Verdict | None:
        """The verdict, if this text was judged already; otherwise keep the item in mind."""
        index, task, completion = item
        key = (id(task), content_hash(completion))
        if key in self._verdicts:
            self._verdicts.move_to_end(key)
            return self._verdicts[key][1]
        if key in self._first:
            self._open[self._first[key]].twins.append(index)
            self.waiting += 1
        else:
            self._first[key] = index
            self._open[index] = _First(key, task)
        return None

    def is_first(self, index: int) -> bool:
        """True when this item is the one to be judged."""
        return index in self._open

    def record(self, index: int, verdict: Verdict) -> list[int]:
        """Keep a verdict and return the waiting items that share it."""
        first = self._open.pop(index)
        del self._first[first.key]
        if verdict.scored:
            self._verdicts[first.key] = first.task, verdict
            if len(self._verdicts) > self._kept:
                self._verdicts.popitem(last=False)
        self.waiting -= len(first.twins)
        return first.twins


def run_batch(
    task_or_tasks: Task | Sequence[Task],
    completions: Iterable[str],
    *,
    group_size: int | None = None,
    dedupe: bool = True,
    on_verdict: Callable[[int, Verdict], None] | None = None,
    **placement: Unpack[Placement],
) -> Batch:
    """Judge `completions` and wait for all verdicts.

    `task_or_tasks` is one task, or one for each completion. Groups are runs of `group_size`
    consecutive completions; without it, runs of the same task. `on_verdict(index, verdict)` is
    called in this thread as verdicts come, for progress.

    Raises UsageError for input that does not fit, SandboxUnavailableError where the host cannot
    isolate, BatchUnscoredError (which carries the batch) above 1 % and 5 unscored items.
    """
    tasks = _as_list(task_or_tasks, completions, group_size)
    found: dict[int, Verdict] = {}
    chunk = 1 if on_verdict is not None else 64
    taking = _Taking(chunk)
    for index, verdict in _stream(tasks, completions, choose(**placement), dedupe, None, taking):
        found[index] = verdict
        if on_verdict is not None:
            on_verdict(index, verdict)
    return _finish(found, tasks, group_size)


def as_batch(
    verdicts: Mapping[int, Verdict],
    task_or_tasks: Task | Sequence[Task],
    *,
    group_size: int | None = None,
) -> Batch:
    """The batch of verdicts that came one by one, by index, as `stream_batch` gives them.

    Raises what `run_batch` raises.
    """
    tasks = task_or_tasks if isinstance(task_or_tasks, Task) else list(task_or_tasks)
    return _finish(dict(verdicts), tasks, group_size)


def groups_of(
    task_or_tasks: Task | Sequence[Task], count: int, *, group_size: int | None = None
) -> tuple[tuple[int, ...], ...]:
    """The index lists of the groups of `count` completions. Raises UsageError."""
    tasks = task_or_tasks if isinstance(task_or_tasks, Task) else list(task_or_tasks)
    return group_indices(tasks, count, group_size)


def _as_list(
    task_or_tasks: Task | Sequence[Task], completions: Iterable[str], group_size: int | None
) -> Task | list[Task]:
    """The tasks, each made once; UsageError for what does not fit, before anything is run."""
    check_input(task_or_tasks, completions)
    tasks = task_or_tasks if isinstance(task_or_tasks, Task) else list(task_or_tasks)
    if isinstance(completions, Sequence):
        group_indices(tasks, len(completions), group_size)
    return tasks


def _finish(found: dict[int, Verdict], tasks: Task | list[Task], group_size: int | None) -> Batch:
    """The batch in order, unless too much of it could not be scored."""
    verdicts = tuple(found[index] for index in range(len(found)))
    batch = Batch(verdicts, group_indices(tasks, len(verdicts), group_size))
    missing = [verdict for verdict in verdicts if not verdict.scored]
    if len(missing) > max(_MAX_UNSCORED_ITEMS, _MAX_UNSCORED_SHARE * len(verdicts)):
        raise BatchUnscoredError(
            f"{len(missing)} of {len(verdicts)} items could not be scored; first: "
            f"{missing[0].reason}",
            batch=batch,
        )
    return batch


async def arun_batch(
    task_or_tasks: Task | Sequence[Task],
    completions: Iterable[str],
    *,
    group_size: int | None = None,
    dedupe: bool = True,
    **placement: Unpack[Placement],
) -> Batch:
    """`run_batch` for asyncio; the event loop goes on meanwhile. Cancelling the task cancels the
    jobs."""
    tasks = _as_list(task_or_tasks, completions, group_size)
    found: dict[int, Verdict] = {}
    async for index, verdict in astream_batch(
        tasks, completions, dedupe=dedupe, window=None, **placement
    ):
        found[index] = verdict
    return _finish(found, tasks, group_size)


async def astream_batch(
    task_or_tasks: Task | Sequence[Task],
    completions: Iterable[str],
    *,
    dedupe: bool = True,
    window: int | None = 256,
    **placement: Unpack[Placement],
) -> AsyncIterator[tuple[int, Verdict]]:
    """`stream_batch` as an async iterator; one that is left ends its jobs at once."""
    import asyncio  # loads ssl, logging and more, which callers without a loop never need

    check_input(task_or_tasks, completions)
    taking = _Taking(stop=threading.Event())
    stream = _stream(task_or_tasks, completions, choose(**placement), dedupe, window, taking)
    loop = asyncio.get_running_loop()
    step: asyncio.Future[tuple[int, Verdict] | None] | None = None
    try:
        while True:
            step = loop.run_in_executor(None, partial(next, stream, None))
            pair = await asyncio.shield(step)
            if pair is None:
                return
            yield pair
    finally:
        assert taking.stop is not None
        taking.stop.set()
        if step is None or step.done():
            stream.close()
        else:  # cancelled while a thread waits for the next verdict: it sees that soon
            step.add_done_callback(lambda _: stream.close())
