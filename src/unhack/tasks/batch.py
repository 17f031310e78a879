"""`run_batch`: the verdicts, rewards and advantages of many completions.

    batch = run_batch(task, completions, group_size=8)
    batch.rewards            # one number in [0, 1] for each completion, None where unscored
    batch.advantages("grpo") # values and mask

Order is kept, identical completions of a task are judged once, a straggler holds up nobody. The
input is consumed as it is needed, so it may be a generator.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import zip_longest
from typing import cast

from unhack.core import group as groups
from unhack.core.errors import BatchUnscoredError, UsageError
from unhack.core.hashing import content_hash
from unhack.core.verdict import Verdict
from unhack.sandbox.job import Backend
from unhack.sandbox.pool.shared import shared_pool
from unhack.tasks.driver import Run
from unhack.tasks.task import Task
from unhack.verifiers.reward import reward_of

_MAX_UNSCORED_SHARE = 0.01
_MAX_UNSCORED_ITEMS = 5


@dataclass(frozen=True)
class Batch:
    """The judged completions of one call, in its order."""

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

    def report(self) -> groups.GroupReport:
        """The amount of signal in the groups."""
        return groups.group_report(self.rewards, self.group_indices)


def _check_lengths(tasks: Task | Sequence[Task], count: int) -> None:
    if not isinstance(tasks, Task) and len(tasks) != count:
        raise UsageError(
            f"{len(tasks)} tasks for {count} completions: give one task, or one for each completion"
        )


def _pairs(
    tasks: Task | Sequence[Task], completions: Iterable[str]
) -> Iterator[tuple[int, Task, str]]:
    if isinstance(tasks, Task):
        items = ((tasks, completion) for completion in completions)
    else:
        if isinstance(completions, Sequence):
            _check_lengths(tasks, len(completions))
        items = _in_step(tasks, completions)
    for index, (task, completion) in enumerate(items):
        if not isinstance(completion, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"completion {index} is a {type(completion).__name__}, not a string")
        yield index, task, completion


def _in_step(tasks: Sequence[Task], completions: Iterable[str]) -> Iterator[tuple[Task, str]]:
    """Pairs of two lengths that are not known to agree."""
    nothing = object()
    for count, (task, completion) in enumerate(zip_longest(tasks, completions, fillvalue=nothing)):
        if completion is nothing:
            _check_lengths(tasks, count)
        if task is nothing:
            raise UsageError(f"{count} tasks for more completions: give one for each completion")
        yield cast("Task", task), cast("str", completion)


def stream_batch(
    task_or_tasks: Task | Sequence[Task],
    completions: Iterable[str],
    *,
    backend: Backend | None = None,
    dedupe: bool = True,
    window: int = 256,
) -> Generator[tuple[int, Verdict]]:
    """Yield (index, verdict) pairs as they come, in any order.

    At most `window` items are in progress and not yet taken: a slow consumer slows the input down.
    Closing the iterator cancels what is in progress. Raises SandboxUnavailableError, UsageError.
    """
    yield from _stream(task_or_tasks, completions, backend, dedupe, window, 1)


def _stream(
    tasks: Task | Sequence[Task],
    completions: Iterable[str],
    backend: Backend | None,
    dedupe: bool,
    window: int,
    chunk: int,
) -> Iterator[tuple[int, Verdict]]:
    run = Run(backend or shared_pool())
    known = _Duplicates() if dedupe else None
    source = _pairs(tasks, completions)
    exhausted = False
    try:
        while True:
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
            for index, verdict in run.take(at_least=1 if exhausted and chunk == 1 else chunk):
                yield index, verdict
                if known is not None:
                    for twin in known.record(index, verdict):
                        yield twin, verdict
    finally:
        if run.open:
            run.cancel()


class _Duplicates:
    """Identical completions of a task: the first is judged, the others share its verdict."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}
        self._keys: dict[int, str] = {}
        self._twins: dict[int, list[int]] = {}
        self._verdicts: dict[str, Verdict] = {}
        self.waiting = 0
        """Items that wait for the verdict of another."""

    def look_up(self, item: tuple[int, Task, str]) -> Verdict | None:
        """The verdict, if this text was judged already; otherwise keep the item in mind."""
        index, task, completion = item
        key = content_hash(str(id(task)), completion)
        if key in self._verdicts:
            return self._verdicts[key]
        if key in self._first:
            self._twins[self._first[key]].append(index)
            self.waiting += 1
        else:
            self._first[key] = index
            self._keys[index] = key
            self._twins[index] = []
        return None

    def is_first(self, index: int) -> bool:
        """True when this item is the one to be judged."""
        return index in self._keys

    def record(self, index: int, verdict: Verdict) -> list[int]:
        """Keep a verdict and return the waiting items that share it."""
        key = self._keys.pop(index)
        if verdict.scored:
            self._verdicts[key] = verdict
        del self._first[key]
        twins = self._twins.pop(index)
        self.waiting -= len(twins)
        return twins


def run_batch(
    task_or_tasks: Task | Sequence[Task],
    completions: Iterable[str],
    *,
    group_size: int | None = None,
    backend: Backend | None = None,
    dedupe: bool = True,
    on_verdict: Callable[[int, Verdict], None] | None = None,
) -> Batch:
    """Judge `completions` and wait for all verdicts.

    `task_or_tasks` is one task, or one for each completion. Groups are runs of `group_size`
    consecutive completions; without it, runs of the same task. `on_verdict(index, verdict)` is
    called in this thread as verdicts come, for progress.

    Raises UsageError for input that does not fit, SandboxUnavailableError where the host cannot
    isolate, BatchUnscoredError (which carries the batch) above 1 % and 5 unscored items.
    """
    if isinstance(completions, Sequence):
        _check_lengths(task_or_tasks, len(completions))
        _group(task_or_tasks, len(completions), group_size)  # before anything is run
    found: dict[int, Verdict] = {}
    chunk = 1 if on_verdict is not None else 64
    tasks = task_or_tasks if isinstance(task_or_tasks, Task) else list(task_or_tasks)
    for index, verdict in _stream(tasks, completions, backend, dedupe, 512, chunk):
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
    return _group(task_or_tasks, count, group_size)


def _finish(found: dict[int, Verdict], tasks: Task | list[Task], group_size: int | None) -> Batch:
    """The batch in order, unless too much of it could not be scored."""
    verdicts = tuple(found[index] for index in range(len(found)))
    batch = Batch(verdicts, _group(tasks, len(verdicts), group_size))
    missing = [verdict for verdict in verdicts if not verdict.scored]
    if len(missing) > max(_MAX_UNSCORED_ITEMS, _MAX_UNSCORED_SHARE * len(verdicts)):
        raise BatchUnscoredError(
            f"{len(missing)} of {len(verdicts)} items could not be scored; first: "
            f"{missing[0].reason}",
            batch=batch,
        )
    return batch


def _group(
    tasks: Task | Sequence[Task], count: int, group_size: int | None
) -> tuple[tuple[int, ...], ...]:
    if group_size is not None:
        if group_size < 1 or count % group_size:
            raise UsageError(f"{count} completions cannot be cut into groups of {group_size}")
        starts = range(0, count, group_size)
        single = isinstance(tasks, Task)
        for start in starts:
            if not single and len(set(map(id, tasks[start : start + group_size]))) > 1:
                raise UsageError(
                    f"the group of completions {start} to {start + group_size - 1} mixes problems"
                )
        return tuple(tuple(range(start, start + group_size)) for start in starts)
    if isinstance(tasks, Task):
        return (tuple(range(count)),) if count else ()
    result: list[list[int]] = []
    for index in range(count):
        if index and tasks[index] is tasks[index - 1]:
            result[-1].append(index)
        else:
            result.append([index])
    return tuple(map(tuple, result))


async def arun_batch(
    task_or_tasks: Task | Sequence[Task],
    completions: Iterable[str],
    *,
    group_size: int | None = None,
    backend: Backend | None = None,
    dedupe: bool = True,
) -> Batch:
    """`run_batch` for asyncio; the event loop goes on meanwhile. Cancelling the task cancels the
    jobs."""
    tasks = task_or_tasks if isinstance(task_or_tasks, Task) else list(task_or_tasks)
    found: dict[int, Verdict] = {}
    async for index, verdict in astream_batch(
        tasks, completions, backend=backend, dedupe=dedupe, window=512
    ):
        found[index] = verdict
    return _finish(found, tasks, group_size)


async def astream_batch(
    task_or_tasks: Task | Sequence[Task],
    completions: Iterable[str],
    *,
    backend: Backend | None = None,
    dedupe: bool = True,
    window: int = 256,
) -> AsyncIterator[tuple[int, Verdict]]:
    """`stream_batch` as an async iterator."""
    stream = stream_batch(task_or_tasks, completions, backend=backend, dedupe=dedupe, window=window)
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
        if step is None or step.done():
            stream.close()
        else:  # cancelled while a thread waits for the next verdict: close once it is back
            step.add_done_callback(lambda _: stream.close())
