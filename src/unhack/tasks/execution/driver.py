"""The driver of verifiers: hands their jobs to a backend, feeds outcomes back, applies rule 2.

Everything here happens on the backend's thread, woken once for many outcomes; callers wait.
A completion never makes an item unscored: when a verifier breaks, controls run through the same
verifier, and only if they all fail too is the item unscored. The control is the reference, without
one the verifier's canary. A verifier that runs code of a task's author knows several; there a
completion of the task that was judged in this run, or else by this process, comes before them, and
when none of them is judged, the item waits until a completion of its task is, or nothing else is
left to do. So completions that are judged one by one get the verdicts that a batch of them gets,
once one of them could be judged.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from unhack.core.errors import PoolClosedError, SandboxUnavailableError, UnhackError
from unhack.core.verdict import Verdict, unscored_verdict
from unhack.sandbox.job import Backend, Ending, Job, JobHandle, Outcome
from unhack.tasks.execution.executor import BatchInProgress, ResultSink
from unhack.tasks.execution.scheduler import ResultQueue
from unhack.tasks.task import (
    MissingControlWarning,
    Task,
    is_same_task,
    warn_of_missing_control,
)
from unhack.verifiers.base import (
    HasCanaries,
    HostCall,
    Steps,
    VerifierFault,
    canaries_of,
    unjudgeable_verdict,
)
from unhack.verifiers.jobs import JobStep

_SLICE_S = 0.002
"""Longest stretch of starting items without looking at the sandbox again."""
_CONTROLS_S = 20.0
"""Time after which no further canary is tried on a verifier that has judged none so far."""
_KEPT_CONTROLS = 1024
"""Tasks of which a run, and the process, keeps a completion that was judged."""
_MAX_CONTROL_CHARS = 1 << 16
"""Of a completion that is kept for other runs."""


class Run:
    """One batch in progress: items go in, (index, verdict) pairs come out."""

    def __init__(self, backend: Backend, sink: ResultSink | None = None) -> None:
        """Verdicts go to `sink`, without one to `take`."""
        self.backend = backend
        self.failure: BaseException | None = None
        """The error that ended the run as a whole, such as a host that cannot isolate."""
        self._results = ResultQueue()
        self._sink = sink or self._results
        self._fresh: deque[tuple[int, Task, str]] = deque()
        self._handles: dict[int, list[JobHandle]] = {}
        self._cancelled = False
        self._starting = False
        self._under_way = 0
        self._undecided: list[_Item] = []
        self._judged: OrderedDict[int, tuple[Task, str]] = OrderedDict()

    @property
    def open(self) -> int:
        """Items handed in whose verdict has not been taken."""
        return self._results.open

    def add(self, items: list[tuple[int, Task, str]]) -> None:
        """Hand in (index, task, completion) items, from any thread."""
        self._results.expect(len(items))
        self._fresh.extend(items)
        self.backend.call_soon(self._start_some)

    def take(
        self, *, at_least: int = 1, timeout_s: float | None = None
    ) -> list[tuple[int, Verdict]]:
        """Wait until `at_least` verdicts (or all that are open) are there, and take them.

        Raises what ended the run as a whole.
        """
        return self._results.take(at_least=at_least, timeout_s=timeout_s)

    def cancel(self) -> None:
        """End every job of this run; no further verdict comes."""
        self._cancelled = True
        with contextlib.suppress(PoolClosedError):  # then its jobs have ended already
            self.backend.call_soon(self._cancel_jobs)

    # The backend's thread, from here on.

    def _cancel_jobs(self) -> None:
        self._fresh.clear()
        for handles in list(self._handles.values()):
            for handle in handles:
                handle.cancel()

    def _start_some(self) -> None:
        if self._starting:
            return
        self._starting = True
        try:
            until = time.monotonic() + _SLICE_S
            while self._fresh and not self._cancelled:
                index, task, completion = self._fresh.popleft()
                self._under_way += 1
                _Item(self, index, task, completion).start()
                if time.monotonic() > until:
                    self.backend.call_soon(self._start_some)
                    return
        finally:
            self._starting = False

    def deliver(self, index: int, verdict: Verdict) -> None:
        """Hand over the verdict of an item."""
        self._sink.put([(index, verdict)])
        self._under_way -= 1
        self._settle()

    def known_good(self, task: Task) -> str | None:
        """A completion of this very task that its verifier has judged."""
        return self._judged.get(id(task), (task, None))[1] or CONTROLS.find(task)

    def note_judged(self, task: Task, completion: str) -> None:
        """Keep a completion as a control of its task, and try it on items that wait for one."""
        if id(task) in self._judged or not isinstance(task.verifier, HasCanaries):
            return
        CONTROLS.keep(task, completion)
        self._judged[id(task)] = task, completion  # the task is kept: its number means nothing else
        if len(self._judged) > _KEPT_CONTROLS:
            self._judged.popitem(last=False)
        waiting = {item for item in self._undecided if is_same_task(item.task, task)}
        self._undecided = [item for item in self._undecided if item not in waiting]
        self._under_way += len(waiting)
        for item in waiting:
            item.ask_controls([completion])

    def leave_undecided(self, item: _Item) -> None:
        """No control of this item was judged: wait for a completion of its task that is."""
        self._undecided.append(item)
        self._under_way -= 1
        self._settle()

    def _settle(self) -> None:
        """Give up what is undecided when nothing is left that could decide it."""
        if self._under_way or self._fresh or not self._undecided:
            return
        left, self._undecided = self._undecided, []
        self._under_way += len(left)
        for item in left:
            item.give_up()

    def fail(self, error: BaseException) -> None:
        """The run as a whole cannot go on."""
        self.failure = self.failure or error
        self._sink.fail(self.failure)
        self._cancelled = True
        self._cancel_jobs()

    def call_on_host(
        self, index: int, call: HostCall, then: Callable[[Any, BaseException | None], None]
    ) -> None:
        """Run a trusted callable of the user, without holding up the backend's thread."""
        call.start(then)

    def submit(self, index: int, jobs: list[Job], then: Callable[[list[Outcome]], None]) -> None:
        """Run jobs of one step together; `then` gets their outcomes in order."""
        step = JobStep(jobs, lambda outcomes: (self._handles.pop(index, None), then(outcomes)))
        self._handles[index] = step.handles
        try:
            step.start(self.backend)
        except UnhackError as error:  # closed, or its executor begins nothing more
            self.fail(error)


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Judges in this process: verifiers on the backend's thread, code in its workers."""

    backend: Backend

    def begin(self) -> BatchInProgress:
        """A new batch on the backend."""
        return Run(self.backend)


@dataclass(slots=True)
class _Fault:
    """A fault of a verifier, and the controls that are to decide whose it is."""

    reason: str
    controls: Iterator[str]
    said: str = ""  # what became of the first control


class _Item:
    """One completion on its way through its verifier; after a fault, its controls."""

    __slots__ = ("completion", "index", "judging", "run", "steps", "task")

    def __init__(self, run: Run, index: int, task: Task, completion: str) -> None:
        self.run = run
        self.index = index
        self.task = task
        self.completion = completion
        self.judging: _Fault | None = None
        """The fault that is being decided; None while the completion itself is judged."""
        self.steps: Steps | None = None

    def start(self) -> None:
        """Take the first step."""
        try:
            self.steps = self.task.verifier.verify(self.task.problem, self.completion)
        except Exception as error:
            self.fault(f"{type(error).__name__}: {error}")
            return
        if not hasattr(self.steps, "send"):
            self.fault("`verify` is not a generator")
            return
        self.advance(None)

    def advance(self, value: Any) -> None:
        """Give the verifier the results it asked for, and start what it asks next."""
        if self.run.failure is not None:
            return
        assert self.steps is not None
        try:
            request: Any = self.steps.send(value)
            while request == []:
                request = self.steps.send([])
        except StopIteration as stop:
            self.conclude(stop.value)
            return
        except VerifierFault as fault:
            self.fault(str(fault))
            return
        except Exception as error:
            self.fault(f"{type(error).__name__}: {error}")
            return
        if isinstance(request, HostCall):
            self.run.call_on_host(self.index, request, self.resume_from_host)
        elif isinstance(request, list) and all(
            isinstance(job, Job) for job in cast("list[Any]", request)
        ):
            self.run.submit(self.index, cast("list[Job]", request), self.receive)
        else:
            kind = type(cast("object", request)).__name__
            self.fault(f"the verifier asked for a {kind}, not a list of jobs")

    def receive(self, outcomes: list[Outcome]) -> None:
        """Take the outcomes of the jobs of one step."""
        for outcome in outcomes:
            if outcome.ending is Ending.REFUSED:
                self.run.fail(SandboxUnavailableError(outcome.error))
                return
            if outcome.ending is Ending.STOPPED and outcome.error:
                self.run.fail(PoolClosedError(f"a job was ended before its time: {outcome.error}"))
                return
        self.advance(outcomes)

    def resume_from_host(self, value: Any, error: BaseException | None) -> None:
        """A callable of the user has ended, on a thread of its own."""
        if error is None:
            self.run.backend.call_soon(lambda: self.advance(value))
        else:
            text = f"{type(error).__name__}: {error}"
            self.run.backend.call_soon(lambda: self.fault(text))

    def conclude(self, verdict: Verdict) -> None:
        """The verifier has spoken."""
        if not isinstance(verdict, Verdict):  # pyright: ignore[reportUnnecessaryIsInstance]
            self.fault(f"the verifier returned a {type(verdict).__name__}, not a verdict")
            return
        fault = self.judging
        has_reference = self.task.problem.reference is not None
        if fault is None:
            if not has_reference and verdict.was_judged:
                self.run.note_judged(self.task, self.completion)
            self.run.deliver(self.index, verdict)
        elif verdict.passed if has_reference else verdict.was_judged:
            seal, level = verdict.seal, verdict.isolation
            blamed = unjudgeable_verdict(fault.reason, seal=seal, isolation=level)
            self.run.deliver(self.index, blamed)
        else:
            self._go_on(fault, f"the control scored {verdict.score}: {verdict.reason}")

    def fault(self, reason: str) -> None:
        """The verifier broke: run the next control."""
        if self.judging is not None:
            self._go_on(self.judging, f"the control broke too: {reason}")
            return
        self.judging = _Fault(reason, iter(()))
        self.ask_controls(self._controls())

    def _controls(self) -> Iterator[str]:
        reference = self.task.problem.reference
        if reference is not None:
            yield reference
            return
        known = self.run.known_good(self.task)
        if known is not None:
            yield known
        until = time.monotonic() + _CONTROLS_S
        for canary in canaries_of(self.task.verifier, self.task.problem):
            if time.monotonic() > until:
                break
            yield canary
        later = self.run.known_good(self.task)
        if known is None and later is not None:
            yield later

    def ask_controls(self, controls: Iterable[str]) -> None:
        """Let these decide whose the fault is."""
        assert self.judging is not None
        self.judging.controls = iter(controls)
        self._ask_next(self.judging)

    def _go_on(self, fault: _Fault, said: str) -> None:
        fault.said = fault.said or said
        self._ask_next(fault)

    def _ask_next(self, fault: _Fault) -> None:
        if self.run.failure is not None:
            return
        control = next(fault.controls, None)
        if control is not None:
            self.completion = control
            self.start()
        elif self.task.problem.reference is None and isinstance(self.task.verifier, HasCanaries):
            self.run.leave_undecided(self)
        else:
            self.give_up()

    def give_up(self) -> None:
        """Leave the item unscored: the fault is not the completion's."""
        assert self.judging is not None
        reason = f"{self.judging.reason}; {self.judging.said}"[:900]
        if self.task.problem.reference is None:
            CONTROLS.miss(self.task, self.judging.said)
            reason += "; give the task a reference, which shows whose fault it is"
        self.run.deliver(self.index, unscored_verdict(reason))


class KnownControls:
    """Completions that were judged in this process, one for a task, for the tasks met last.

    Tasks that are made anew for every call, as rows of a data set are, are the same when equal.
    Calls may come from any thread; other processes keep their own.

    Example:

        CONTROLS.keep(task, completion)
        CONTROLS.find(task)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[str, str], tuple[Task, str]] = OrderedDict()
        self._missed: OrderedDict[int, Task] = OrderedDict()

    def keep(self, task: Task, completion: str) -> None:
        """Keep a completion, unless it is long or the task has one."""
        key = task.problem.id, task.problem.prompt
        with self._lock:
            known = self._found.get(key)
            has_one = known is not None and is_same_task(known[0], task)
            if len(completion) <= _MAX_CONTROL_CHARS and not has_one:
                self._found[key] = task, completion
            if len(self._found) > _KEPT_CONTROLS:
                self._found.popitem(last=False)

    def find(self, task: Task) -> str | None:
        """The completion of this task, or of an equal one."""
        with self._lock:
            known = self._found.get((task.problem.id, task.problem.prompt))
        return known[1] if known is not None and is_same_task(known[0], task) else None

    def miss(self, task: Task, said: str) -> None:
        """Warn, once for a task, that none of its controls could be judged: what became of one."""
        with self._lock:
            if id(task) in self._missed or task.control_doubt:  # which was said when it was made
                return
            self._missed[id(task)] = task
            if len(self._missed) > _KEPT_CONTROLS:
                self._missed.popitem(last=False)
        with contextlib.suppress(MissingControlWarning):  # as an error it would end the pool
            warn_of_missing_control(task, said, stacklevel=2)


CONTROLS = KnownControls()
"""Of this process."""
