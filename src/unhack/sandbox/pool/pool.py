"""The pool: warm workers, one fork a job, nothing that outlives its job or its host.

One thread owns every worker and delivers every outcome; other threads hand jobs in. A worker that
dies or falls silent is replaced and its jobs are tried again, once, alone on their worker; so is
a job that its neighbours may have ended. Limits run from a job's start; profiles share no worker.

Covered: stragglers give up their slot; output is bounded as it arrives; the host may be killed.
Not covered: a host that forks without exec keeps no pool in the child (a new one starts on use).
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from unhack.core.errors import PoolClosedError, UnhackError
from unhack.sandbox.guest.server import fork_server
from unhack.sandbox.guest.server.deadlines import BY_HOST
from unhack.sandbox.job import Ending, Isolation, Job, JobHandle, Outcome, Profile
from unhack.sandbox.linux import cgroups
from unhack.sandbox.pool import worker_start
from unhack.sandbox.pool.attempt import Attempt, SecondRuns
from unhack.sandbox.pool.reactor import Reactor
from unhack.sandbox.pool.worker import (
    HeldJudges,
    MemoryAdmission,
    StreamWatch,
    Worker,
    WorkerGroup,
    idle_groups,
    supports,
)

_LOOK_S = 1.0
"""Pause between two looks for silent workers."""
_MAX_STARTS = 3
_MAX_ATTEMPTS = 3
"""A job is tried again after its worker died; the second retry only confirms the first."""
_DENIED = {errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENOSYS, errno.ENOSPC, errno.EUSERS}
"""Errors that say that this host does not allow namespaces; others may pass."""


class Pool:
    """A backend that runs jobs in sealed forks of warm interpreters.

    `slots` workers for each profile (default: this process's cores), whose jobs use `memory_share`
    of the free memory. `isolation` None picks the strongest that works here, at least `landlock`.

    Example:

        batch = run_batch(task, completions, backend=Pool(slots=4))
    """

    def __init__(self, *, slots: int | None = None, isolation: Isolation | None = None,
                 memory_share: float = 1) -> None:  # fmt: skip
        self.slots = slots or len(os.sched_getaffinity(0))
        self._choose = isolation is None
        self._isolation = isolation or Isolation.NAMESPACES
        self._groups: dict[Profile, WorkerGroup] = {}
        self._attempts: dict[int, Attempt] = {}
        self._next_id = 0
        self._closing = False
        self._pid = os.getpid()
        self._parents = cgroups.find_parents()
        cgroups.reap_stale(self._parents)
        self._memory = MemoryAdmission(int(memory_share * cgroups.available_bytes()))
        self.reactor = Reactor(name="unhack-pool", at_end=self._shut_down)
        self._second = SecondRuns()
        self._streams = StreamWatch(self.reactor, self._end)
        self._held = HeldJudges(self.reactor, self._admit)

    @property
    def isolation(self) -> Isolation:
        """The level in force; may still change to `landlock` until the first worker is ready."""
        return self._isolation

    def submit(self, job: Job, on_done: Callable[[Outcome], None]) -> JobHandle:
        """Queue a job; see `Backend.submit`. Raises PoolClosedError."""
        if self._closing or self._pid != os.getpid():
            if job.peer is not None:
                os.close(job.peer)
            raise PoolClosedError("the pool is closed, or belongs to the parent of this process")
        self._next_id += 1
        attempt = Attempt(self._next_id, job, on_done, job.peer)
        attempt.on_cancel = lambda: self.reactor.call_soon(lambda: self._end(attempt, "cancel"))
        self.call_soon(lambda: self._enqueue(attempt))
        return attempt

    def call_soon(self, function: Callable[[], None]) -> None:
        """Run `function` on the pool's thread. Raises PoolClosedError."""
        if self._closing and not self.reactor.is_current():
            raise PoolClosedError("the pool is closed")
        self.reactor.call_soon(function)

    def warm(self, profile: Profile) -> None:
        """Start the workers of a profile before its first job."""
        self.call_soon(lambda: self._start_workers(self._group(profile)))

    def worker_pids(self) -> list[int]:
        """The fork servers alive now, for monitoring and for tests."""
        return [w.process.pid for group in list(self._groups.values()) for w in list(group.workers)]

    def close(self) -> None:
        """End every job (`stopped`) and every worker, then the thread."""
        if self._closing or self._pid != os.getpid():
            return
        self._closing = True
        self.reactor.stop()

    # The pool's thread from here.
    def _group(self, profile: Profile) -> WorkerGroup:
        group = self._groups.get(profile)
        if group is None:
            if not self._groups:  # the first: from now on there are workers
                self.reactor.call_later(_LOOK_S, self._look)
            group = WorkerGroup(profile, refusal=supports(profile, self._isolation))
            self._groups[profile] = group
            for idle in idle_groups(self._groups.values()):
                self._stop_workers(idle)
                del self._groups[idle.profile]
        group.used_at = time.monotonic()
        return group

    def _enqueue(self, attempt: Attempt) -> None:
        self._attempts[attempt.id] = attempt
        if self._closing:
            return  # `_shut_down` delivers it
        group = self._group(attempt.job.profile)
        if attempt.calls_candidate and not group.refusal:
            self._start_workers(group)
            self._held.hold(attempt)
        else:
            self._admit(attempt)

    def _admit(self, attempt: Attempt) -> None:
        group = self._group(attempt.job.profile)
        group.waiting.append(attempt)
        self._dispatch(group)

    def _start_workers(self, group: WorkerGroup) -> None:
        """Bring a group to its full number of workers."""
        missing = self.slots - len(group.workers)
        if missing <= 0 or group.starts_failed >= _MAX_STARTS:
            return
        try:
            for member in worker_start.start_many(
                group.profile, self._isolation, count=missing, parents=self._parents
            ):
                group.workers.append(member)
                self.reactor.watch(member.control.fileno(), lambda _, m=member: self._listen(m))
        except (OSError, UnhackError) as error:
            self._count_failed_start(group, f"{type(error).__name__}: {error}")

    def _dispatch(self, group: WorkerGroup) -> None:
        if group.refusal:
            self._refuse(group, group.refusal)
            return
        if group.waiting:
            self._start_workers(group)
        for member in group.free_workers():
            if group.waiting and self._may_start(group, member):
                self._hand_over(group.waiting.popleft(), member)

    def _dispatch_all(self) -> None:
        for group in list(self._groups.values()):
            self._dispatch(group)

    def _may_start(self, group: WorkerGroup, member: Worker) -> bool:
        """True when a worker may take the next job: an idle one, others while there is memory."""
        attempt = group.waiting[0]
        if member.in_flight and not self._memory.has_room(attempt.job):
            return False
        return self._second.may_start(attempt) and group.may_dispatch(attempt, member)

    def _hand_over(self, attempt: Attempt, member: Worker) -> None:
        member.in_flight[attempt.id] = attempt
        self._memory.enter(attempt.job)
        self._second.enter(attempt)
        try:
            attempt.dispatch(member.hand_over, isolation=member.isolation)
        except OSError:
            self._lose(member)
            return
        self._streams.begin(attempt)

    def _look(self) -> None:
        """Replace workers that are silent, and end waits that are too long, from time to time."""
        for member in [member for group in self._groups.values() for member in group.workers]:
            if member.is_silent():
                self._lose(member)
        for attempt, first in self._second.overdue():
            self._groups[attempt.job.profile].waiting.remove(attempt)
            self._deliver(attempt, first)
        self.reactor.call_later(_LOOK_S, self._look)

    def _end(self, attempt: Attempt, why: str) -> None:
        """Have a running job killed; its outcome comes with the worker's report."""
        if attempt.done or attempt.stopping:
            return
        attempt.stopping = why
        group = self._groups.get(attempt.job.profile)
        if (group is not None and group.withdraw(attempt)) or self._held.let_go(attempt):
            outcome = Outcome(Ending.STOPPED, error="cancelled", isolation=self._isolation)
            self._deliver(attempt, outcome)
        elif group is not None:
            group.end_job(attempt.id)
        self._streams.unwatch(attempt)

    def _listen(self, member: Worker) -> None:
        while True:
            try:
                data = member.control.recv(1 << 16)
            except BlockingIOError:
                return
            except ConnectionResetError:  # see `linux.sockets.receive`; no call for each report
                continue
            except OSError:
                data = b""
            if not data:
                self._lose(member)
                return
            member.heard_at = time.monotonic()
            if not self._handle_message(member, data):
                return

    def _handle_message(self, member: Worker, data: bytes) -> bool:
        """Act on one message of a worker; False when the worker is gone."""
        kind = data[:1]
        if kind == fork_server.READY:
            member.ready = True
            self._groups[member.profile].starts_failed = 0
            self._dispatch(self._groups[member.profile])
        elif kind == fork_server.FAILED:
            number, _, text = data[1:].decode(errors="replace").partition(" ")
            self._fail_start(member, text, number=int(number))
            return False
        elif kind == fork_server.MAPS:
            try:
                worker_start.give_ids(member)
            except OSError as error:
                text = f"cannot write the id maps: {error}"
                self._fail_start(member, text, number=error.errno or 0)
                return False
        else:
            self._report(member, data)
        return True

    def _report(self, member: Worker, data: bytes) -> None:
        kind, job_id, status, why, wall, cpu, waited, peak = fork_server.REPORT.unpack(data)
        attempt = member.in_flight.get(job_id)
        if attempt is None:
            return
        if kind == fork_server.DEMOTED:
            attempt.demoted = True
            member.demoted += 1
        else:
            del member.in_flight[job_id]
            self._memory.leave(attempt.job)
            self._second.leave(attempt)
            member.has_ended(job_id)
            member.demoted -= attempt.demoted
            self._streams.drain(attempt)
            if kind == fork_server.REFUSED:
                self._retry(attempt, f"fork failed: {os.strerror(status)}")
            else:
                outcome = attempt.outcome(status, why, (wall, cpu, peak), waited_s=waited)
                self._finish(attempt, outcome, why)
        if self._second.holds_others:
            self._dispatch_all()
        else:
            self._dispatch(self._groups[member.profile])

    def _finish(self, attempt: Attempt, outcome: Outcome, why: int) -> None:
        if outcome.ending is Ending.BROKEN and not attempt.stopping:
            self._retry(attempt, outcome.error)
        elif attempt.was_disturbed(outcome, why) or self._second.grant(attempt, outcome):
            self._retry(attempt, f"other work disturbed it: {outcome.limit} limit")
        else:
            self._deliver(attempt, self._second.conclude(attempt, outcome))

    def _retry(self, attempt: Attempt, error: str) -> None:
        """Try a job on another worker, or give it up as broken; one that was to end has ended."""
        if attempt.stopping:
            killed = attempt.outcome(signal.SIGKILL, BY_HOST, (0.0, 0.0, 0))
            self._deliver(attempt, killed)
            return
        attempt.release()
        attempt.demoted = False
        if attempt.tries >= (1 if attempt.job.peer is not None else _MAX_ATTEMPTS):
            outcome = Outcome(
                Ending.BROKEN, error=error, isolation=self._isolation, attempts=attempt.tries
            )
            self._deliver(attempt, outcome)
            return
        self._groups[attempt.job.profile].waiting.appendleft(attempt)

    def _deliver(self, attempt: Attempt, outcome: Outcome) -> None:
        attempt.release()
        attempt.close_peer()
        attempt.done = True
        self._attempts.pop(attempt.id, None)
        if self._second.release(attempt):
            self.reactor.call_soon(self._dispatch_all)
        attempt.on_done(outcome)

    def _lose(self, member: Worker) -> None:
        """A worker died or fell silent: its jobs go elsewhere."""
        group = self._groups.get(member.profile)
        was_ready, attempts = member.ready, member.abandoned()
        self._stop_worker(member)
        for attempt in attempts:
            self._streams.drain(attempt)
            self._retry(attempt, "its worker died")
        if group is None:
            return
        if not was_ready:
            self._count_failed_start(group, "the worker ended before it was ready")
        else:
            group.starts_failed = 0  # workers do start here: without it nobody might serve the rest
            self._dispatch(group)

    def _stop_workers(self, group: WorkerGroup) -> None:
        for member in list(group.workers):
            self._stop_worker(member)

    def _stop_worker(self, member: Worker) -> None:
        self.reactor.unwatch(member.control.fileno())
        group = self._groups.get(member.profile)
        if group is not None and member in group.workers:
            group.workers.remove(member)
        for attempt in member.in_flight.values():
            self._memory.leave(attempt.job)
            self._second.leave(attempt)
        member.in_flight.clear()
        member.close()
        worker_start.release_index(member.index)

    def _fail_start(self, member: Worker, error: str, *, number: int) -> None:
        group = self._groups[member.profile]
        self._stop_worker(member)
        denied = number in _DENIED and self._isolation is Isolation.NAMESPACES
        if denied and self._choose:
            self._isolation = Isolation.LANDLOCK
            for other in [w for t in self._groups.values() for w in t.workers if not w.ready]:
                self._stop_worker(other)
            for other_group in list(self._groups.values()):
                other_group.refusal = supports(other_group.profile, self._isolation)
            self._dispatch_all()
            return
        self._count_failed_start(group, error)

    def _count_failed_start(self, group: WorkerGroup, error: str) -> None:
        group.starts_failed += 1
        if group.workers or group.starts_failed < _MAX_STARTS:
            self._dispatch(group)
            return
        group.starts_failed = 0
        self._refuse(group, f"no worker could be started: {error}")

    def _refuse(self, group: WorkerGroup, reason: str) -> None:
        from unhack.sandbox.linux.capabilities import advice  # few hosts need it

        error = f"{reason}. {advice()}"
        while group.waiting:
            attempt = group.waiting.popleft()
            if attempt.job.fallback is not None:
                attempt.job = replace(attempt.job, profile=attempt.job.fallback, fallback=None)
                self._enqueue(attempt)
                continue
            self._deliver(attempt, Outcome(Ending.REFUSED, error=error, isolation=self._isolation))

    def _shut_down(self) -> None:
        self._closing = True
        for group in list(self._groups.values()):
            self._stop_workers(group)
        self.reactor.run_inbox()
        for attempt in list(self._attempts.values()):
            with contextlib.suppress(Exception):
                self._deliver(attempt, Outcome(Ending.STOPPED, error="the pool was closed"))


_shared: dict[int, Pool] = {}
_shared_lock = threading.Lock()


def shared_pool() -> Pool:
    """The process's own pool, made on first use and again after a fork; its size is `SLOTS`, by
    default the cores that the process may use. Raises UsageError for another value of `SLOTS`."""
    with _shared_lock:
        found = _shared.get(os.getpid())
        if found is None:
            _shared.clear()
            found = _shared[os.getpid()] = Pool(slots=worker_start.wanted_slots())
        return found
