"""The pool: warm workers, one fork a job, nothing that outlives its job or its host.

One thread owns every worker and delivers every outcome; other threads hand jobs in. A worker that
dies or falls silent is replaced and its jobs are tried again, once each, alone on their worker;
time limits count from a job's own start. Jobs of one profile share workers.

Covered: stragglers give up their slot, output is bounded while it arrives, the host may be killed
at any moment.
Not covered: a host that forks without exec keeps no pool in the child (a new one starts on use).
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable

from unhack.core.errors import PoolClosedError, UnhackError
from unhack.sandbox.guest.server import fork_server
from unhack.sandbox.job import Ending, Isolation, Job, Outcome, Profile, Ticket
from unhack.sandbox.linux import cgroups
from unhack.sandbox.linux.capabilities import advice
from unhack.sandbox.pool import worker
from unhack.sandbox.pool.attempt import Flight
from unhack.sandbox.pool.reactor import Reactor
from unhack.sandbox.pool.worker import Worker
from unhack.sandbox.pool.worker_group import DEPTH, Team

_PAUSE_S = 0.02
"""How long a running job's streams are left alone between two looks."""
_SILENCE_S = 30.0
"""A worker that says nothing for this long beyond its longest deadline is replaced."""
_MOST_STARTS = 3
_MOST_ATTEMPTS = 3
"""A job is tried again after its worker died; the second retry only confirms the first."""
_DENIED = {errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENOSYS, errno.ENOSPC, errno.EUSERS}
"""Errors that say that this host does not allow namespaces; others may pass."""
_IDLE_PROFILES = 4
"""Profiles whose workers are kept although no job wants them."""


class Pool:
    """Runs jobs in sealed forks of warm interpreters.

    `slots` workers for each profile (default: the cores this process may use). `isolation` None
    picks the strongest level that works here and refuses to run with less than `landlock`.
    """

    def __init__(self, *, slots: int | None = None, isolation: Isolation | None = None) -> None:
        if isolation is Isolation.BUBBLEWRAP:
            raise ValueError(
                "the bubblewrap backend is unhack.sandbox.bubblewrap.backend.BubblewrapBackend"
            )
        self.slots = slots or len(os.sched_getaffinity(0))
        self._choose = isolation is None
        self._isolation = isolation or Isolation.NAMESPACES
        self._teams: dict[Profile, Team] = {}
        self._flights: dict[int, Flight] = {}
        self._unwatched: deque[tuple[float, Flight]] = deque()
        self._next_id = 0
        self._closing = False
        self._pid = os.getpid()
        self._parents = cgroups.find_parents()
        cgroups.reap_stale(self._parents)
        self._reactor = Reactor(
            name="unhack-pool",
            timeout_s=lambda: _PAUSE_S if self._unwatched else 1.0,
            tick=self._watch_slow_jobs,
            at_end=self._shut_down,
        )

    @property
    def isolation(self) -> Isolation:
        """The level in force; may still change to `landlock` until the first worker is ready."""
        return self._isolation

    def submit(self, job: Job, on_done: Callable[[Outcome], None]) -> Ticket:
        """Queue a job; see `Backend.submit`. Raises PoolClosedError."""
        if self._closing or self._pid != os.getpid():
            if job.peer is not None:
                os.close(job.peer)
            raise PoolClosedError("the pool is closed, or belongs to the parent of this process")
        self._next_id += 1
        flight = Flight(self._next_id, job, on_done, job.peer)
        flight.on_cancel = lambda: self._reactor.call_soon(lambda: self._end(flight, "cancel"))
        self.call_soon(lambda: self._enqueue(flight))
        return flight

    def call_soon(self, function: Callable[[], None]) -> None:
        """Run `function` on the pool's thread. Raises PoolClosedError."""
        if self._closing and not self._reactor.is_current():
            raise PoolClosedError("the pool is closed")
        self._reactor.call_soon(function)

    def warm(self, profile: Profile) -> None:
        """Start the workers of a profile before its first job."""
        self.call_soon(lambda: self._staff(self._team(profile)))

    def worker_pids(self) -> list[int]:
        """The fork servers alive now, for monitoring and for tests."""
        return [w.process.pid for team in list(self._teams.values()) for w in list(team.workers)]

    def close(self) -> None:
        """End every job (`stopped`) and every worker, then the thread."""
        if self._closing or self._pid != os.getpid():
            return
        self._closing = True
        self._reactor.stop()

    # The pool's thread, from here on.

    def _team(self, profile: Profile) -> Team:
        team = self._teams.get(profile)
        if team is None:
            team = self._teams[profile] = Team(profile)
            self._retire_idle_teams()
        team.used_at = time.monotonic()
        return team

    def _retire_idle_teams(self) -> None:
        idle = [t for t in self._teams.values() if not t.waiting and t.busy == 0 and t.workers]
        idle.sort(key=lambda team: team.used_at)
        for team in idle[:-_IDLE_PROFILES]:
            for member in list(team.workers):
                self._dismiss(member)
            del self._teams[team.profile]

    def _enqueue(self, flight: Flight) -> None:
        self._flights[flight.id] = flight
        if self._closing:
            return  # `_shut_down` delivers it
        team = self._team(flight.job.profile)
        team.waiting.append(flight)
        self._dispatch(team)

    def _staff(self, team: Team) -> None:
        """Bring a team to its full number of workers."""
        while len(team.workers) < self.slots and team.starts_failed < _MOST_STARTS:
            index = worker.claim_index()
            try:
                member = worker.start(
                    team.profile, self._isolation, index=index, parents=self._parents
                )
            except (OSError, UnhackError) as error:
                worker.release_index(index)
                self._start_failed(team, f"{type(error).__name__}: {error}")
                return
            team.workers.append(member)
            self._reactor.watch(member.control.fileno(), lambda _, m=member: self._listen(m))

    def _dispatch(self, team: Team) -> None:
        reason = worker.supports(team.profile, self._isolation)
        if reason:
            self._refuse(team, f"{reason}. {advice()}")
            return
        if team.waiting:
            self._staff(team)
        for member in team.free_workers():
            if team.waiting and team.may_board(team.waiting[0], member):
                self._board(team.waiting.popleft(), member)

    def _board(self, flight: Flight, member: Worker) -> None:
        member.in_flight[flight.id] = flight
        try:
            flight.board(member)
        except OSError:
            self._lose(member)
            return
        if flight.unsent:
            self._watch_streams(flight)
        else:
            self._look_later(flight)

    def _look_later(self, flight: Flight) -> None:
        """Read a job's streams after a pause, so that no job can wake the host for every byte."""
        self._unwatched.append((time.monotonic() + _PAUSE_S, flight))

    def _watch_slow_jobs(self) -> None:
        """Look at channels of jobs that run long: their pipes may be full."""
        now = time.monotonic()
        while self._unwatched and self._unwatched[0][0] < now:
            _, flight = self._unwatched.popleft()
            if not flight.done and not flight.stopping and not flight.watched and flight.streams:
                self._watch_streams(flight)
        for team in list(self._teams.values()):
            for member in list(team.workers):
                self._check_silence(member, now)

    def _check_silence(self, member: Worker, now: float) -> None:
        if not member.in_flight:
            member.heard_at = now
            return
        if now - member.heard_at > _SILENCE_S:
            longest = max(flight.job.limits.wall_s for flight in member.in_flight.values())
            if now - member.heard_at > _SILENCE_S + longest * (DEPTH + 20):
                self._lose(member)

    def _watch_streams(self, flight: Flight) -> None:
        flight.watched = True
        for position, stream in enumerate(flight.streams):
            events = select.EPOLLIN | (select.EPOLLOUT if flight.unsent and not position else 0)
            if not stream.ended:
                self._reactor.watch(stream.fd, lambda event: self._hear(flight, event), events)

    def _hear(self, flight: Flight, event: int) -> None:
        if event & select.EPOLLOUT:
            if flight.send_more():
                self._unwatch_streams(flight)
                self._look_later(flight)
            return
        self._unwatch_streams(flight)
        for stream in flight.streams:
            if not stream.ended:
                stream.drain()
        if any(stream.overflowed for stream in flight.streams):
            self._end(flight, "output")
        elif flight.wants_stop():
            self._end(flight, "stop")
        else:
            self._look_later(flight)

    def _unwatch_streams(self, flight: Flight) -> None:
        flight.watched = False
        for stream in flight.streams:
            self._reactor.unwatch(stream.fd)

    def _end(self, flight: Flight, why: str) -> None:
        """Have a running job killed; its outcome comes with the worker's report."""
        if flight.done or flight.stopping:
            return
        flight.stopping = why
        team = self._teams.get(flight.job.profile)
        if team is not None and flight in team.waiting:
            team.waiting.remove(flight)
            outcome = Outcome(Ending.STOPPED, error="cancelled", isolation=self._isolation)
            self._deliver(flight, outcome)
        elif flight.worker is not None:
            with contextlib.suppress(OSError):
                flight.worker.end_job(flight.id)
        self._unwatch_streams(flight)

    def _listen(self, member: Worker) -> None:
        while True:
            try:
                data = member.control.recv(1 << 16)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._lose(member)
                return
            member.heard_at = time.monotonic()
            if not self._obey(member, data):
                return

    def _obey(self, member: Worker, data: bytes) -> bool:
        """Act on one message of a worker; False when the worker is gone."""
        kind = data[:1]
        if kind == fork_server.READY:
            member.ready = True
            self._teams[member.profile].starts_failed = 0
            self._dispatch(self._teams[member.profile])
        elif kind == fork_server.FAILED:
            number, _, text = data[1:].decode(errors="replace").partition(" ")
            self._fail_start(member, text, number=int(number))
            return False
        elif kind == fork_server.MAPS:
            try:
                member.write_maps()
            except OSError as error:
                text = f"cannot write the id maps: {error}"
                self._fail_start(member, text, number=error.errno or 0)
                return False
        else:
            self._report(member, fork_server.REPORT.unpack(data))
        return True

    def _report(
        self, member: Worker, report: tuple[bytes, int, int, int, float, float, int]
    ) -> None:
        kind, job_id, status, why, wall, cpu, peak = report
        flight = member.in_flight.get(job_id)
        if flight is None:
            return
        if kind == fork_server.DEMOTED:
            flight.demoted = True
            member.demoted += 1
        else:
            del member.in_flight[job_id]
            member.demoted -= flight.demoted
            self._settle(flight)
            if kind == fork_server.REFUSED:
                self._again(flight, f"fork failed: {os.strerror(status)}")
            else:
                self._finish(flight, flight.outcome(status, why, (wall, cpu, peak)))
        self._dispatch(self._teams[member.profile])

    def _settle(self, flight: Flight) -> None:
        """Take what is left in the streams and stop looking at them."""
        self._unwatch_streams(flight)
        for stream in flight.streams:
            stream.drain()

    def _finish(self, flight: Flight, outcome: Outcome) -> None:
        if outcome.ending is Ending.BROKEN and not flight.stopping:
            self._again(flight, outcome.error)
        else:
            self._deliver(flight, outcome)

    def _again(self, flight: Flight, error: str) -> None:
        """Try a job on another worker, or give it up as broken; one that was to end has ended."""
        if flight.stopping:
            self._deliver(
                flight, flight.outcome(signal.SIGKILL, fork_server.BY_HOST, (0.0, 0.0, 0))
            )
            return
        flight.release()
        flight.worker = None
        flight.demoted = False
        most = 1 if flight.job.peer is not None else _MOST_ATTEMPTS
        if flight.attempts >= most:
            outcome = Outcome(
                Ending.BROKEN, error=error, isolation=self._isolation, attempts=flight.attempts
            )
            self._deliver(flight, outcome)
            return
        self._teams[flight.job.profile].waiting.appendleft(flight)

    def _deliver(self, flight: Flight, outcome: Outcome) -> None:
        flight.release()
        flight.close_peer()
        flight.done = True
        self._flights.pop(flight.id, None)
        flight.on_done(outcome)

    def _lose(self, member: Worker) -> None:
        """A worker died or fell silent: its jobs go elsewhere."""
        team = self._teams.get(member.profile)
        was_ready = member.ready
        flights = list(member.in_flight.values())
        self._dismiss(member)
        for flight in reversed(flights):
            self._settle(flight)
            flight.attempts = max(flight.attempts, 1)
            self._again(flight, "its worker died")
        if team is None:
            return
        if not was_ready:
            self._start_failed(team, "the worker ended before it was ready")
        else:
            self._dispatch(team)

    def _dismiss(self, member: Worker) -> None:
        self._reactor.unwatch(member.control.fileno())
        team = self._teams.get(member.profile)
        if team is not None and member in team.workers:
            team.workers.remove(member)
        member.in_flight.clear()
        member.close()
        worker.release_index(member.index)

    def _fail_start(self, member: Worker, error: str, *, number: int) -> None:
        team = self._teams[member.profile]
        self._dismiss(member)
        denied = number in _DENIED and self._isolation is Isolation.NAMESPACES
        if denied and self._choose:
            self._isolation = Isolation.LANDLOCK
            for other in [w for t in self._teams.values() for w in t.workers if not w.ready]:
                self._dismiss(other)
            for other_team in list(self._teams.values()):
                self._dispatch(other_team)
            return
        self._start_failed(team, error)

    def _start_failed(self, team: Team, error: str) -> None:
        team.starts_failed += 1
        if team.workers or team.starts_failed < _MOST_STARTS:
            self._dispatch(team)
            return
        team.starts_failed = 0
        self._refuse(team, f"no worker could be started: {error}. {advice()}")

    def _refuse(self, team: Team, error: str) -> None:
        while team.waiting:
            flight = team.waiting.popleft()
            outcome = Outcome(Ending.REFUSED, error=error, isolation=self._isolation)
            self._deliver(flight, outcome)

    def _shut_down(self) -> None:
        self._closing = True
        for team in list(self._teams.values()):
            for member in list(team.workers):
                self._dismiss(member)
        self._reactor.run_inbox()
        for flight in list(self._flights.values()):
            with contextlib.suppress(Exception):
                self._deliver(flight, Outcome(Ending.STOPPED, error="the pool was closed"))
