"""A judge for callers that bring their completions one by one, from threads and event loops.

    judge = shared_judge()
    verdict = await judge.judge(task, completion)      # asyncio
    verdict = judge.submit(task, completion).result()  # a thread

All that is open at a time shares the workers of one pool and one taking thread, so that 64 calls
cost what one batch of 64 costs. What could not be scored is tried again, after a pause, before the
caller hears of it.

Covered: any number of threads and loops; forks (a child makes a judge of its own); a pool that is
closed or a host that cannot isolate ends all open calls with that error.
`cancel` ends all that a judge has open; where calls are to be ended apart from others, give them a
judge of their own, which costs a thread while something is open.
Not covered: cancelling one call of many; it is judged to its end.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field

from unhack.core.errors import UnhackError, UsageError
from unhack.core.verdict import Verdict
from unhack.sandbox.job import Backend
from unhack.tasks.execution.choosing import choose
from unhack.tasks.execution.executor import Flight
from unhack.tasks.pairing import with_article
from unhack.tasks.task import Task

_TRIES = 3
_PAUSE_S = 0.5
"""Before the second try; twice as long before the third."""
_LOOK_S = 1.0
"""Time after which a thread that waits for verdicts sees that its run was cancelled."""


@dataclass(slots=True)
class _Call:
    task: Task
    completion: str
    tries: int = 1
    verdict: Future[Verdict] = field(default_factory=Future[Verdict])


class Judge:
    """Judges single completions together."""

    def __init__(self, *, backend: Backend | None = None) -> None:
        self._backend = backend
        self._lock = threading.Lock()
        self._run: Flight | None = None
        self._open: dict[int, _Call] = {}
        self._numbers = itertools.count()

    def submit(self, task: Task, completion: str) -> Future[Verdict]:
        """The verdict to come; unscored only after three tries.

        Raises UsageError for what is no task or no text. The future raises
        SandboxUnavailableError, PoolClosedError.
        """
        _check("task", task, Task)
        _check("completion", completion, str)
        call = _Call(task, completion)
        call.verdict.set_running_or_notify_cancel()  # who gives up ends no other call
        self._enter(call)
        return call.verdict

    async def judge(self, task: Task, completion: str) -> Verdict:
        """The verdict, on an asyncio loop. Raises what `submit` and its future raise."""
        return await asyncio.wrap_future(self.submit(task, completion))

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

    def cancel(self) -> None:
        """End the jobs of all open calls; their futures raise CancelledError."""
        with self._lock:
            run, self._run = self._run, None
            calls, self._open = list(self._open.values()), {}
        if run is not None:
            run.cancel()
        for call in calls:
            call.verdict.set_exception(CancelledError())

    def _enter(self, call: _Call) -> None:
        with self._lock:
            number = next(self._numbers)
            run = self._run or choose(self._backend).begin()
            run.add([(number, call.task, call.completion)])  # may raise: nothing is kept then
            self._open[number] = call
            if self._run is None:
                self._run = run
                threading.Thread(
                    target=self._take, args=(run,), name="unhack-judge", daemon=True
                ).start()

    def _take(self, run: Flight) -> None:
        """Hand out verdicts until nothing is open."""
        while True:
            try:
                taken = run.take(timeout_s=_LOOK_S)
            except BaseException as error:
                with self._lock:
                    if self._run is not run:  # cancelled; what is open belongs to another run
                        return
                    calls, self._open, self._run = list(self._open.values()), {}, None
                for call in calls:
                    call.verdict.set_exception(error)
                return
            for number, verdict in taken:
                with self._lock:
                    call = self._open.pop(number, None)
                if call is None:  # cancelled
                    continue
                if verdict.scored or call.tries == _TRIES:
                    call.verdict.set_result(verdict)
                else:
                    self._try_again(call)
            with self._lock:
                if self._run is not run:
                    return
                if not run.open:
                    self._run = None
                    return

    def _try_again(self, call: _Call) -> None:
        timer = threading.Timer(_PAUSE_S * call.tries, self._enter_again, (call,))
        call.tries += 1
        timer.daemon = True
        timer.start()

    def _enter_again(self, call: _Call) -> None:
        try:
            self._enter(call)
        except UnhackError as error:
            call.verdict.set_exception(error)


def _check(name: str, value: object, wanted: type) -> None:
    if not isinstance(value, wanted):
        raise UsageError(f"{name} is {with_article(value)}, not a {wanted.__name__}")


_shared: dict[int, Judge] = {}
_shared_lock = threading.Lock()


def shared_judge() -> Judge:
    """The judge of this process on its shared pool, made on first use and again after a fork."""
    with _shared_lock:
        judge = _shared.get(os.getpid())
        if judge is None:
            _shared.clear()
            judge = _shared[os.getpid()] = Judge()
        return judge
