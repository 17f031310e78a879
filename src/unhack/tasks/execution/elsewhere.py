"""A backend in front of an executor: jobs run wherever that judges, on other machines too.

    with backend_on("ray") as backend:      # unhack.tasks.execution.choosing
        subject = load_subject("reward.py:score", backend=backend)
        report = audit(subject, backend=backend)

Covered: exactly one outcome for each job, though nodes are lost; whole batches that are given this
backend (`run_batch(…, backend=…)`) are judged by the executor itself.
Not covered: a job with a peer or a `stop_when` runs on this process's own pool. A cancelled job
has its outcome at once; where it runs it ends at its own limits, or when all of them are cancelled.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from unhack.core.errors import PoolClosedError, UnhackError
from unhack.sandbox.job import Ending, Isolation, Job, JobHandle, Outcome, Profile
from unhack.tasks.execution.bound_files import State, fingerprints_of, state_of
from unhack.tasks.execution.executor import Executor, Flight, WideFlight
from unhack.tasks.execution.sent_jobs import crosses, outcome_of, pack, task_for
from unhack.tasks.task import Task

_KEPT_TASKS = 64
_TAKE_S = 5.0
"""Longest wait of the taker, after which it sees that nothing is left."""
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
        self._isolation = Isolation.NONE
        self._lock = threading.Lock()
        self._open: dict[int, Callable[[Outcome], None]] = {}
        self._next = 0
        self._flight: Flight | None = None
        """All open jobs are in it."""
        self._taking = False
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
        flight = self._flight
        cores = len(os.sched_getaffinity(0))
        return max(cores, flight.window) if isinstance(flight, WideFlight) else cores

    def submit(self, job: Job, on_done: Callable[[Outcome], None]) -> JobHandle:
        """See `Backend`. Raises PoolClosedError, and what the executor raises for a new batch."""
        if not crosses(job):
            from unhack.sandbox.pool.shared import shared_pool  # few jobs need it

            return shared_pool().submit(job, on_done)
        text, state = pack(job), state_of(_mounted(job))
        with self._lock:
            if self._closed:
                raise PoolClosedError("the backend is closed; make a new one")
            flight = self._flight = self._flight or self.executor.begin()
            number = self._next = self._next + 1
            flight.add([(number, self._task(job, state), text)])
            self._open[number] = on_done
            if not self._taking:
                self._taking = True
                take = threading.Thread(target=self._take, args=(flight,), daemon=True)
                take.start()
        return _SentTicket(self, number)

    def cancel(self, number: int) -> None:
        """End a job; harmless when it has its outcome."""
        with self._lock:
            on_done = self._open.pop(number, None)
            flight = None if self._open or on_done is None else self._drop()
        if flight is not None:
            flight.cancel()
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
            flight = self._drop()
        if flight is not None:
            flight.cancel()
        self._end_all(Outcome(Ending.STOPPED, error="the backend was closed"))
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

    def _drop(self) -> Flight | None:
        """Forget the flight and return it; the next job begins another."""
        flight, self._flight, self._taking = self._flight, None, False
        return flight

    def _take(self, flight: Flight) -> None:
        """Take verdicts while there are open jobs."""
        while True:
            with self._lock:
                if self._flight is not flight:
                    return
                if not flight.open:
                    self._taking = False
                    return
            try:
                found = flight.take(timeout_s=_TAKE_S)
            except UnhackError as error:
                self._fail(flight, error)
                return
            for number, verdict in found:
                self._calls.put(partial(self._hand_over, number, outcome_of(verdict)))

    def _fail(self, flight: Flight, error: UnhackError) -> None:
        """Every open job gets what ended the batch as a whole."""
        with self._lock:
            if self._flight is not flight:
                return
            self._drop()
        ending = Ending.STOPPED if isinstance(error, PoolClosedError) else Ending.REFUSED
        self._end_all(Outcome(ending, error=str(error)))

    def _end_all(self, outcome: Outcome) -> None:
        with self._lock:
            waiting = list(self._open.values())
            self._open.clear()
        for on_done in waiting:
            self._calls.put(partial(on_done, outcome))

    def _hand_over(self, number: int, outcome: Outcome) -> None:
        with self._lock:
            on_done = self._open.pop(number, None)
        if on_done is not None:
            self._isolation = outcome.isolation
            on_done(outcome)

    def _deliver(self) -> None:
        """The thread of outcomes."""
        while (call := self._calls.get()) is not None:
            call()


def _mounted(job: Job) -> list[str]:
    """Paths of this machine that a job has mounted."""
    profiles = (job.profile, job.fallback)
    return sorted({path for one in profiles if one is not None for path, _ in one.binds})
