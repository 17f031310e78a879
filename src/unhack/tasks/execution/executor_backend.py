"""A backend in front of an executor: jobs run wherever that judges, on other machines too.

    with backend_on("ray") as backend:      # unhack.tasks.execution.choosing
        subject = load_subject("reward.py:score", backend=backend)
        report = audit(subject, backend=backend)

Covered: exactly one outcome for each job, though nodes are lost; whole batches that are given this
backend (`run_batch(…, backend=…)`) are judged by the executor itself, so that tasks cross and not
each of their jobs. A deadline in front of the backend holds for its batches too: at that time they
end, as the jobs of a local batch do, with PoolClosedError.
Not covered: a job with a peer or a `stop_when` runs on this process's own pool. A cancelled job
has its outcome at once; where it runs it ends at its own limits, or when all of them are cancelled.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from unhack.core.errors import PoolClosedError, UnhackError
from unhack.core.verdict import Verdict
from unhack.sandbox.deadline import DeadlineBackend
from unhack.sandbox.job import Backend, Ending, Isolation, Job, JobHandle, Outcome, Profile
from unhack.tasks.execution.bound_files import State, fingerprints_of, state_of
from unhack.tasks.execution.driver import LocalExecutor
from unhack.tasks.execution.executor import BatchInProgress, Executor, WideBatch
from unhack.tasks.execution.scheduler import Scheduler
from unhack.tasks.execution.sent_jobs import crosses, outcome_of, pack, task_for
from unhack.tasks.task import Task

_KEPT_TASKS = 64
_Key = tuple[Profile, Profile | None, State]


@dataclass(frozen=True, slots=True)
class _SentTicket:
    """The handle of a job that was handed to the executor."""

    backend: ExecutorBackend
    number: int

    def cancel(self) -> None:
        """See `JobHandle`."""
        self.backend.cancel(self.number)


class ExecutorBackend:
    """See `Backend`. Closing it leaves the executor open."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self._scheduler = Scheduler(executor, tries=1)
        self._group = object()
        """The jobs that are cancelled together; another one once they are."""
        self._isolation = Isolation.NONE
        self._lock = threading.Lock()
        self._open: dict[int, Callable[[Outcome], None]] = {}
        self._next = 0
        self._tasks: OrderedDict[_Key, Task] = OrderedDict()
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._closed = False
        threading.Thread(target=self._deliver, name="unhack-outcomes", daemon=True).start()

    @property
    def isolation(self) -> Isolation:
        """The level of the latest outcome; `none` before there is one."""
        return self._isolation

    @property
    def slots(self) -> int:
        """Jobs in progress that keep the executor busy, as far as it says so."""
        return max(len(os.sched_getaffinity(0)), self._scheduler.window)

    def submit(self, job: Job, on_done: Callable[[Outcome], None]) -> JobHandle:
        """See `Backend`. Raises PoolClosedError, and what the executor raises for a new batch."""
        if not crosses(job):
            from unhack.sandbox.pool.pool import shared_pool  # few jobs need it

            return shared_pool().submit(job, on_done)
        text, state = pack(job), state_of(_mounted(job))
        with self._lock:
            if self._closed:
                raise PoolClosedError("the backend is closed; make a new one")
            number = self._next = self._next + 1
            verdict = self._scheduler.submit(self._task(job, state), text, group=self._group)
            self._open[number] = on_done
        verdict.add_done_callback(
            lambda done: self._calls.put(partial(self._hand_over, number, done))
        )
        return _SentTicket(self, number)

    def cancel(self, number: int) -> None:
        """End a job; harmless when it has its outcome."""
        with self._lock:
            on_done = self._open.pop(number, None)
            is_last = on_done is not None and not self._open
            group = self._group
            if is_last:
                self._group = object()
        if is_last:
            self._scheduler.cancel(group)
        if on_done is not None:
            outcome = Outcome(Ending.STOPPED, error="cancelled", isolation=self._isolation)
            self._calls.put(partial(on_done, outcome))

    def call_soon(self, function: Callable[[], None]) -> None:
        """See `Backend`."""
        self._calls.put(function)

    def close(self) -> None:
        """End every job; the executor stays open."""
        with self._lock:
            self._closed = True
            waiting = list(self._open.values())
            self._open.clear()
        self._scheduler.cancel(self._group)
        for on_done in waiting:
            outcome = Outcome(Ending.STOPPED, error="the backend was closed")
            self._calls.put(partial(on_done, outcome))
        self._calls.put(None)

    def _task(self, job: Job, state: State) -> Task:
        """The task of jobs like this one, made once for each state of the files that they mount."""
        key = (job.profile, job.fallback, state)
        found = self._tasks.get(key)
        if found is None:
            files = fingerprints_of(_mounted(job))
            found = self._tasks[key] = task_for(job.profile, job.fallback, files=files)
            if len(self._tasks) > _KEPT_TASKS:
                self._tasks.popitem(last=False)
        else:
            self._tasks.move_to_end(key)
        return found

    def _hand_over(self, number: int, verdict: Future[Verdict]) -> None:
        with self._lock:
            on_done = self._open.pop(number, None)
        if on_done is None:  # cancelled
            return
        error = verdict.exception()
        if error is None:
            outcome = outcome_of(verdict.result())
            self._isolation = outcome.isolation
        elif isinstance(error, UnhackError):  # what ended the batch as a whole
            ending = Ending.STOPPED if isinstance(error, PoolClosedError) else Ending.REFUSED
            outcome = Outcome(ending, error=str(error))
        else:
            outcome = Outcome(Ending.BROKEN, error=f"{type(error).__name__}: {error}")
        on_done(outcome)

    def _deliver(self) -> None:
        """The thread of outcomes."""
        while (call := self._calls.get()) is not None:
            call()


def _mounted(job: Job) -> list[str]:
    """Paths of this machine that a job has mounted."""
    profiles = (job.profile, job.fallback)
    return sorted({path for one in profiles if one is not None for path, _ in one.binds})


def executor_behind(backend: Backend) -> Executor:
    """The executor that a backend stands for; for a pool the one that judges on it."""
    if isinstance(backend, ExecutorBackend):
        return backend.executor
    if isinstance(backend, DeadlineBackend) and isinstance(backend.inner, ExecutorBackend):
        return TimedExecutor(backend.inner.executor, backend)
    return LocalExecutor(backend)


@dataclass(frozen=True, slots=True)
class TimedExecutor:
    """An executor whose batches end with the deadline that holds when they begin."""

    inner: Executor
    deadline: DeadlineBackend

    def begin(self) -> BatchInProgress:
        """See `Executor`."""
        return TimedBatch(self.inner.begin(), self.deadline.until)


@dataclass(frozen=True, slots=True)
class TimedBatch:
    """A batch that ends at a time by `time.monotonic`."""

    inner: BatchInProgress
    until: float

    @property
    def open(self) -> int:
        """See `BatchInProgress`."""
        return self.inner.open

    @property
    def window(self) -> int:
        """See `WideBatch`; 0 where nothing is known."""
        return self.inner.window if isinstance(self.inner, WideBatch) else 0

    def add(self, items: list[tuple[int, Task, str]]) -> None:
        """See `BatchInProgress`."""
        self.inner.add(items)

    def take(
        self, *, at_least: int = 1, timeout_s: float | None = None
    ) -> list[tuple[int, Verdict]]:
        """See `BatchInProgress`. Raises PoolClosedError when the time is up before there are so
        many."""
        left = self.until - time.monotonic()
        is_last = timeout_s is None or timeout_s >= left
        found = self.inner.take(
            at_least=at_least, timeout_s=max(0.0, left) if is_last else timeout_s
        )
        if is_last and self.inner.open and len(found) < at_least:
            raise PoolClosedError("a job was ended before its time: the time was up")
        return found

    def cancel(self) -> None:
        """See `BatchInProgress`."""
        self.inner.cancel()
