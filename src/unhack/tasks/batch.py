"""`run_batch`: the verdicts, rewards and advantages of many completions.

    batch = run_batch(task, completions, group_size=8)
    batch.rewards            # one number in [0, 1] for each completion, None where unscored
    batch.advantages("grpo") # values and mask

Order is kept, identical completions of a task are judged once, a straggler holds up nobody. The
input is consumed as it is needed, so it may be a generator.

Covered: every mistake of the caller is a UsageError that says what to give instead, before anything
is run where that can be known. Tasks may be made anew at every access, as the rows of a data set
are: two are the same problem when they are equal, not only when they are one object.
Not covered: tasks that cannot be compared (an expected value whose `==` raises) are the same only
when they are one object.
"""

from __future__ import annotations

import html
import threading
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
from typing import Any, Unpack, cast

from unhack.core import group as groups
from unhack.core.errors import BatchUnscoredError, UsageError, with_article
from unhack.core.verdict import Verdict
from unhack.tasks.execution.choosing import choose
from unhack.tasks.execution.executor import Placement
from unhack.tasks.execution.scheduler import Scheduler
from unhack.tasks.task import Task, is_same_task
from unhack.verifiers.reward import reward_of

_MAX_UNSCORED_SHARE = 0.01
_MAX_UNSCORED_ITEMS = 5
_SHOWN_ROWS = 20
_STRINGS = "give a list of strings"


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
    _check_input(task_or_tasks, completions)
    scheduler = Scheduler(choose(**placement))
    return scheduler.stream(_pairs(task_or_tasks, completions), dedupe=dedupe, window=window)


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
    stream = Scheduler(choose(**placement)).stream(
        _pairs(tasks, completions), dedupe=dedupe, chunk=chunk
    )
    for index, verdict in stream:
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


def _as_list(
    task_or_tasks: Task | Sequence[Task], completions: Iterable[str], group_size: int | None
) -> Task | list[Task]:
    """The tasks, each made once; UsageError for what does not fit, before anything is run."""
    _check_input(task_or_tasks, completions)
    tasks = task_or_tasks if isinstance(task_or_tasks, Task) else list(task_or_tasks)
    if isinstance(completions, Sequence):
        groups_of(tasks, len(completions), group_size=group_size)
    return tasks


def _finish(found: dict[int, Verdict], tasks: Task | list[Task], group_size: int | None) -> Batch:
    """The batch in order, unless too much of it could not be scored."""
    verdicts = tuple(found[index] for index in range(len(found)))
    batch = Batch(verdicts, groups_of(tasks, len(verdicts), group_size=group_size))
    missing = [verdict for verdict in verdicts if not verdict.scored]
    if is_too_many(len(missing), of=len(verdicts)):
        raise BatchUnscoredError(
            f"{len(missing)} of {len(verdicts)} items could not be scored; first: "
            f"{missing[0].reason}",
            batch=batch,
        )
    return batch


def is_too_many(unscored: int, *, of: int) -> bool:
    """True where more than 1 % and more than 5 of so many items could not be scored."""
    return unscored > max(_MAX_UNSCORED_ITEMS, _MAX_UNSCORED_SHARE * of)


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

    _check_input(task_or_tasks, completions)
    stop = threading.Event()
    stream = Scheduler(choose(**placement)).stream(
        _pairs(task_or_tasks, completions), dedupe=dedupe, window=window, stop=stop
    )
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
        stop.set()
        if step is None or step.done():
            stream.close()
        else:  # cancelled while a thread waits for the next verdict: it sees that soon
            step.add_done_callback(lambda _: stream.close())


def _check_input(tasks: object, completions: object) -> None:
    """Raise UsageError for what can be seen to be wrong before anything is taken from it."""
    if not isinstance(tasks, Task):
        _check_tasks(tasks)
    if isinstance(completions, str | bytes | bytearray):
        kind = "one string" if isinstance(completions, str) else with_article(completions)
        raise UsageError(
            f"completions is {kind}, not a list of strings; for a single completion give a list "
            "that holds it: [completion]"
        )
    if isinstance(completions, Mapping):
        raise UsageError(
            f"completions is {with_article(cast('object', completions))}, which has no order of "
            "its own; give a list of strings, such as list(completions.values())"
        )
    if not isinstance(completions, Iterable):
        raise UsageError(f"completions is {with_article(completions)}; {_STRINGS}")
    if isinstance(completions, Sequence) and not isinstance(tasks, Task):
        _check_lengths(cast("Sequence[Task]", tasks), len(cast("Sequence[str]", completions)))


def _check_tasks(tasks: object) -> None:
    if isinstance(tasks, str):
        raise UsageError(
            f"{tasks[:80]!r} is a name, not a task; load it first: "
            f"[task] = find_tasks({tasks[:80]!r})"
        )
    listed = hasattr(tasks, "__getitem__") and hasattr(tasks, "__len__")
    if isinstance(tasks, Mapping | bytes | bytearray) or not listed:
        raise UsageError(
            f"{with_article(cast('object', tasks))} stands where a Task belongs; give one Task, or "
            "a list with one for each completion"
        )


def _check_lengths(tasks: Task | Sequence[Task], count: int) -> None:
    """Raise UsageError unless there is one task for all, or one for each completion."""
    if not isinstance(tasks, Task) and len(tasks) != count:
        raise UsageError(
            f"{len(tasks)} task{'s' * (len(tasks) != 1)} for {count} completion{'s' * (count != 1)}"
            ": give one task, or one for each completion"
        )


def _pairs(
    tasks: Task | Sequence[Task], completions: Iterable[str]
) -> Iterator[tuple[int, Task, str]]:
    """(index, task, completion), taken as they are needed. Raises UsageError at the first that does
    not fit."""
    if isinstance(tasks, Task):
        items = ((tasks, completion) for completion in completions)
    else:
        items = _in_step(tasks, completions)
    for index, (task, completion) in enumerate(items):
        if not isinstance(task, Task):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"task {index} is {with_article(task)}, not a Task")
        if not isinstance(completion, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(
                f"completion {index} is {with_article(completion)}; {_hint(completion)}"
            )
        yield index, task, completion


def _hint(completion: Any) -> str:
    """The way from what was given to a string."""
    if isinstance(completion, bytes | bytearray):
        return "decode it to a string first"
    if isinstance(completion, Mapping | list):
        return "give the text alone, such as message['content']"
    return _STRINGS


def _in_step(tasks: Sequence[Task], completions: Iterable[str]) -> Iterator[tuple[Task, str]]:
    """Pairs of two lengths that are not known to agree."""
    nothing = object()
    for count, (task, completion) in enumerate(zip_longest(tasks, completions, fillvalue=nothing)):
        if completion is nothing:
            _check_lengths(tasks, count)
        if task is nothing:
            raise UsageError(f"{count} tasks for more completions: give one for each completion")
        yield cast("Task", task), cast("str", completion)


def groups_of(
    tasks: Task | Sequence[Task], count: int, *, group_size: int | None = None
) -> tuple[tuple[int, ...], ...]:
    """Index lists of the rollouts of one problem.

    Raises UsageError when `group_size` does not cut the completions into groups of one problem.
    """
    if group_size is not None:
        if group_size < 1 or count % group_size:
            raise UsageError(f"{count} completions cannot be cut into groups of {group_size}")
        starts = range(0, count, group_size)
        if not isinstance(tasks, Task):
            for start in starts:
                _check_group(tasks, start, group_size)
        return tuple(tuple(range(start, start + group_size)) for start in starts)
    if isinstance(tasks, Task):
        return (tuple(range(count)),) if count else ()
    result: list[list[int]] = []
    for index in range(count):
        if index and is_same_task(tasks[index], tasks[index - 1]):
            result[-1].append(index)
        else:
            result.append([index])
    return tuple(map(tuple, result))


def _check_group(tasks: Sequence[Task], start: int, size: int) -> None:
    first = tasks[start]
    if not all(is_same_task(first, tasks[index]) for index in range(start + 1, start + size)):
        raise UsageError(f"the group of completions {start} to {start + size - 1} mixes problems")
