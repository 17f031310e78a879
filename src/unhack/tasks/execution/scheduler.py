"""The scheduler: the one queue between those who ask for verdicts and those who judge.

    verdict = await scheduler.judge(task, completion)              # asyncio
    verdict = scheduler.submit(task, completion).result()          # a thread
    for index, verdict in scheduler.stream(items): ...             # a batch, as its verdicts come

Everything that judges goes through one: `run_batch` and its other forms, the stacks of
`unhack.integrations`, the server, a backend whose jobs run elsewhere. Single calls that are in
progress at a time share one batch of the executor, so that 64 of them cost what one batch of 64
costs; what could not be scored is tried again, after a pause, before the caller hears of it.

Covered: any number of threads and loops. What ends a batch as a whole, such as a pool that is
closed or a host that cannot isolate, ends all its calls with that error. Calls of one `group` are
cancelled together and apart from all others; a group has a batch and a taking thread of its own
while something of it is in progress.
Not covered: cancelling one call of a group; it is judged to its end.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict, deque
from collections.abc import Generator, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from unhack.core.errors import UsageError, with_article
from unhack.core.verdict import Verdict
from unhack.tasks.execution.executor import BatchInProgress, Executor, WideBatch
from unhack.tasks.task import Task

if TYPE_CHECKING:
    from concurrent.futures import Future

_PAUSE_S = 0.5
"""Before the second try; twice as long before the third."""
_LOOK_S = 1.0
"""Time after which a thread that waits for verdicts sees that its calls were cancelled."""
_STOP_S = 0.1
"""Longest time between two looks at the event that stops a stream."""
_WINDOW = 512
"""Items of a stream in progress where the caller names no number."""
_KEPT_VERDICTS = 1 << 14
"""Verdicts that a stream remembers, the latest used: about 16 MB."""


@dataclass(slots=True, eq=False)
class _Call:
    task: Task
    completion: str
    group: Hashable
    verdict: Future[Verdict]
    tries: int = 1
    batch: BatchInProgress | None = None
    """None while it waits for another try."""


class Scheduler:
    """Has an executor judge what many callers ask at once.

    `tries`: times that a single call is judged before it is left unscored.
    """

    def __init__(self, executor: Executor, *, tries: int = 3) -> None:
        self.executor = executor
        self._tries = tries
        self._lock = threading.Lock()
        self._calls: dict[int, _Call] = {}
        """All single calls without a verdict."""
        self._batches: dict[Hashable, BatchInProgress] = {}
        """Group -> the batch of its calls."""
        self._numbers = itertools.count()

    def submit(self, task: Task, completion: str, *, group: Hashable = None) -> Future[Verdict]:
        """The verdict to come; unscored only after the last try.

        Raises UsageError for what is no task or no text, and what the executor raises for a new
        batch. The future raises SandboxUnavailableError, PoolClosedError, CancelledError.
        """
        from concurrent.futures import Future  # loads logging, which batches need not

        _check("task", task, Task)
        _check("completion", completion, str)
        call = _Call(task, completion, group, Future())
        call.verdict.set_running_or_notify_cancel()  # who gives up ends no other call
        self._enter(next(self._numbers), call)
        return call.verdict

    async def judge(self, task: Task, completion: str, *, group: Hashable = None) -> Verdict:
        """The verdict, on an asyncio loop. Raises what `submit` and its future raise."""
        import asyncio  # loads ssl and more, which callers without a loop never need

        return await asyncio.wrap_future(self.submit(task, completion, group=group))

    def judge_all(self, tasks: Sequence[Task], completions: Sequence[str]) -> list[Verdict]:
        """The verdicts of completions, each with its task, in order; identical completions of a
        task are judged once. Raises UsageError for lists of unlike length, and what `submit` and
        its future raise."""
        if len(tasks) != len(completions):
            raise UsageError(f"{len(tasks)} tasks for {len(completions)} completions")
        asked: dict[tuple[int, str], Future[Verdict]] = {}
        for task, completion in zip(tasks, completions, strict=True):
            _check("completion", completion, str)
            key = (id(task), completion)
            if key not in asked:
                asked[key] = self.submit(task, completion)
        return [
            asked[id(task), text].result() for task, text in zip(tasks, completions, strict=True)
        ]

    def cancel(self, group: Hashable = None) -> None:
        """End the jobs of all calls of a group; their futures raise CancelledError."""
        from concurrent.futures import CancelledError  # see `submit`

        with self._lock:
            batch = self._batches.pop(group, None)
            numbers = [number for number, call in self._calls.items() if call.group == group]
            calls = [self._calls.pop(number) for number in numbers]
        for call in calls:  # first: nobody waits for ever for a batch that cannot be cancelled
            call.verdict.set_exception(CancelledError())
        if batch is not None:
            batch.cancel()

    @property
    def window(self) -> int:
        """Items in progress that keep the executor busy; 0 where it does not say."""
        return max((_window_of(batch) for batch in list(self._batches.values())), default=0)

    def _enter(self, number: int, call: _Call) -> None:
        with self._lock:
            if call.tries > 1 and number not in self._calls:  # cancelled in the pause
                return
            known = self._batches.get(call.group)
            batch = known or self.executor.begin()
            batch.add([(number, call.task, call.completion)])  # may raise: nothing is kept then
            if known is None:
                take = threading.Thread(
                    target=self._take, args=(call.group, batch), name="unhack-take", daemon=True
                )
                take.start()
                self._batches[call.group] = batch
            call.batch = batch
            self._calls[number] = call

    def _take(self, group: Hashable, batch: BatchInProgress) -> None:
        """Hand out the verdicts of a batch until nothing of it is open."""
        while True:
            try:
                taken = batch.take(timeout_s=_LOOK_S)
            except BaseException as error:
                self._fail(group, batch, error)
                return
            for number, verdict in taken:
                self._hand_over(number, verdict)
            with self._lock:
                if self._batches.get(group) is not batch:  # cancelled
                    return
                if not batch.open:
                    del self._batches[group]
                    return

    def _fail(self, group: Hashable, batch: BatchInProgress, error: BaseException) -> None:
        with self._lock:
            if self._batches.get(group) is batch:
                del self._batches[group]
            numbers = [number for number, call in self._calls.items() if call.batch is batch]
            calls = [self._calls.pop(number) for number in numbers]
        for call in calls:
            call.verdict.set_exception(error)

    def _hand_over(self, number: int, verdict: Verdict) -> None:
        with self._lock:
            call = self._calls.get(number)
            if call is None:  # cancelled
                return
            again = not verdict.scored and call.tries < self._tries
            if again:
                call.batch = None
            else:
                del self._calls[number]
        if not again:
            call.verdict.set_result(verdict)
            return
        timer = threading.Timer(_PAUSE_S * call.tries, self._enter_again, (number, call))
        call.tries += 1
        timer.daemon = True
        timer.start()

    def _enter_again(self, number: int, call: _Call) -> None:
        try:
            self._enter(number, call)
        except Exception as error:  # of any kind: on a timer's thread nobody else would hear of it
            with self._lock:
                is_open = self._calls.pop(number, None) is not None
            if is_open:  # else cancelled
                call.verdict.set_exception(error)

    def stream(
        self,
        items: Iterable[tuple[int, Task, str]],
        *,
        dedupe: bool = True,
        window: int | None = None,
        chunk: int = 1,
        stop: threading.Event | None = None,
    ) -> Generator[tuple[int, Verdict]]:
        """The (index, verdict) pairs of (index, task, completion) items, in any order, in a batch
        of their own, which ends with the generator; `tries` is for single calls.

        At most `window` items are in progress and not yet taken, by default as many as keep the
        executor busy. The generator wakes for `chunk` verdicts, where so many are open, and ends
        at `stop`, also while it waits. With `dedupe` identical completions of a task are judged
        once.
        """
        batch = self.executor.begin()
        known = _Duplicates() if dedupe else None
        source = iter(items)
        exhausted, in_progress = False, 0
        wide = batch if window is None and isinstance(batch, WideBatch) else None
        most = window or _WINDOW
        try:
            while True:
                if wide is not None:
                    most = max(_WINDOW, wide.window)
                fresh: list[tuple[int, Task, str]] = []
                while (
                    not exhausted
                    and in_progress + len(fresh) + (known.waiting if known else 0) < most
                ):
                    item = next(source, None)
                    if item is None:
                        exhausted = True
                    elif known is None:
                        fresh.append(item)
                    elif (verdict := known.look_up(item)) is not None:
                        yield item[0], verdict
                    elif known.is_first(item[0]):
                        fresh.append(item)
                if fresh:
                    in_progress += len(fresh)
                    batch.add(fresh)
                if not in_progress:
                    return
                taken = batch.take(at_least=chunk, timeout_s=None if stop is None else _STOP_S)
                if stop is not None and stop.is_set():
                    return
                in_progress -= len(taken)
                for index, verdict in taken:
                    yield index, verdict
                    for twin in known.record(index, verdict) if known else ():
                        yield twin, verdict
        finally:
            if in_progress:
                batch.cancel()


class ResultQueue:
    """The verdicts of one batch, until its caller takes them, many at once."""

    def __init__(self) -> None:
        self.failure: BaseException | None = None
        """The error that ended the batch, such as a host that cannot isolate."""
        self.open = 0
        """Items expected whose verdict has not been taken."""
        self._ready: deque[tuple[int, Verdict]] = deque()
        self._condition = threading.Condition()
        self._wanted = 1

    def expect(self, count: int) -> None:
        """Count further items, from any thread."""
        with self._condition:
            self.open += count

    def put(self, pairs: Iterable[tuple[int, Verdict]]) -> None:
        """See `ResultSink.put`; the caller is woken when there is as much as it waits for."""
        with self._condition:
            self._ready.extend(pairs)
            if len(self._ready) >= self._wanted:
                self._condition.notify()

    def fail(self, error: BaseException) -> None:
        """See `ResultSink.fail`; the first error stays."""
        with self._condition:
            self.failure = self.failure or error
            self._condition.notify()

    def take(self, *, at_least: int, timeout_s: float | None) -> list[tuple[int, Verdict]]:
        """See `BatchInProgress.take`."""
        with self._condition:
            self._wanted = min(at_least, self.open)
            self._condition.wait_for(self._enough, timeout_s)
            if self.failure is not None:
                raise self.failure
            taken = list(self._ready)
            self._ready.clear()
            self.open -= len(taken)
            return taken

    def _enough(self) -> bool:
        return self.failure is not None or len(self._ready) >= self._wanted


def _window_of(batch: BatchInProgress) -> int:
    return batch.window if isinstance(batch, WideBatch) else 0


def _check(name: str, value: object, wanted: type) -> None:
    if not isinstance(value, wanted):
        raise UsageError(f"{name} is {with_article(value)}, not a {wanted.__name__}")


_Key = tuple[int, bytes]
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
        key = (id(task), sha256(completion.encode("utf-8", "surrogatepass")).digest())
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
