"""Workers, and the jobs that wait for them: the host's side of one fork server, the workers of a
profile, and what decides when a job may have one.

A limit on memory is a promise too: a job that stays below its own must not be killed because those
beside it use theirs. So the jobs in progress never may use more together than this host has. And
the two halves of a seal wait in different queues: a judge that ran first would spend its own time
waiting for a slot of its candidate's, and a right completion behind a long queue would be lost. So
a judge is held back until its candidate has started.

Covered: memory free when the pool starts, limits of the control groups above it; candidates that
wait however long, that end unheard, that are cancelled.
Not covered: memory that others take later; a job that is killed for want of it below its own limit
is tried again (`attempt.Attempt.was_disturbed`). The wait of a started candidate for its judge,
which its own wall limit has room for.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import socket
import struct
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from unhack.sandbox.guest.server import fork_server, job_start
from unhack.sandbox.job import Isolation, Job, Kind, Profile, Role
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux import cgroups
from unhack.sandbox.pool.attempt import Attempt
from unhack.sandbox.pool.reactor import Reactor

DEPTH = 2
"""Jobs handed to a worker at once: one runs, one waits there so that the slot never idles."""
_MAX_DEMOTED = 8
"""Stragglers that a worker carries; beyond that it takes no new job."""
_SHARE = 0.9
"""Share of the free memory that jobs may use; the host needs some for itself."""
_SERVER_BYTES = 256 << 20
"""Memory of a fork server, and of what no limit of a job covers."""
_JOB_BYTES = 64 << 20
"""The latter for a single job with a group of its own."""
_SERVER_PROCESSES = 16
_IDLE_PROFILES = 4
"""Profiles whose workers are kept although no job wants them."""
_SILENCE_S, _SILENT_JOBS = 30.0, DEPTH + 20
"""A worker that is silent for so long beyond so many times its longest deadline is replaced."""
_PAUSE_S = 0.02
"""Pause between two looks at a running job's streams."""
_DYING_S = 10.0
"""Longest wait for the last process of a group to be gone: a busy kernel takes its time."""


def tree_bytes(limits: Limits) -> int:
    """Memory that all processes of a job may use together, its files included. The address space of
    a single one is bounded by `memory_bytes`; page tables and buffers come on top."""
    return 2 * limits.memory_bytes + limits.disk_bytes


def needed_bytes(job: Job) -> int:
    """Memory that a job may use, without what page tables and buffers add."""
    files = 0 if job.profile.kind is Kind.FUNCTION else job.limits.disk_bytes
    return job.limits.memory_bytes + files


@dataclass(slots=True, eq=False)
class Worker:
    """One fork server."""

    profile: Profile
    isolation: Isolation
    index: int
    process: subprocess.Popen[bytes]
    control: socket.socket
    jobs: socket.socket
    group: cgroups.Cgroup
    ready: bool = False
    in_flight: dict[int, Attempt] = field(default_factory=dict[int, Attempt])
    """By job id, in the order they were handed over."""
    demoted: int = 0
    parents: cgroups.Parents = field(default_factory=cgroups.Parents)
    job_groups: dict[int, cgroups.Cgroup] = field(default_factory=dict[int, cgroups.Cgroup])
    """Groups of programs under way, by job id."""
    free_groups: list[cgroups.Cgroup] = field(default_factory=list[cgroups.Cgroup])
    heard_at: float = field(default_factory=time.monotonic)

    @property
    def load(self) -> int:
        """Jobs that have or wait for the worker's slot."""
        return len(self.in_flight) - self.demoted

    def is_silent(self) -> bool:
        """True when it has not been heard of for longer than its jobs explain."""
        now = time.monotonic()
        if not self.in_flight:
            self.heard_at = now
        if now - self.heard_at <= _SILENCE_S:
            return False
        longest = max(attempt.job.limits.wall_s for attempt in self.in_flight.values())
        return now - self.heard_at > _SILENCE_S + longest * _SILENT_JOBS

    def queued(self) -> list[Attempt]:
        """The jobs that it was given and has not started: it tells of the end or the demotion of
        one before it takes the next."""
        return [attempt for attempt in self.in_flight.values() if not attempt.demoted][1:]

    def abandoned(self) -> list[Attempt]:
        """The jobs of a worker that died, the last first; those not begun do not count as tried."""
        queued = self.queued()
        attempts = list(reversed(self.in_flight.values()))
        for attempt in attempts:
            started = attempt not in queued or attempt.job.peer is not None
            attempt.tries = max(attempt.tries, 1) if started else max(attempt.tries - 1, 0)
        return attempts

    def hand_over(self, job_id: int, job: Job, *, flags: int, fds: list[int]) -> None:
        """Queue a job with the fork server. Raises OSError when it is gone.

        The worker's group has room for all that its jobs may use: none is killed for another.
        """
        limits = job.limits
        most = fork_server.MAX_RUNNING
        self.group.make_room(
            _SERVER_BYTES + most * tree_bytes(limits), _SERVER_PROCESSES + most * limits.processes
        )
        door = self._open_door(job_id, job)
        try:
            flags |= job_start.HAS_GROUP * bool(door)
            seconds = (
                limits.wall_s,
                limits.soft_slice_s,
                math.ceil(limits.cpu_s),
                limits.wall_hard_s,
            )
            order = fork_server.ORDER.pack(job_id, flags, *seconds)
            rights = struct.pack(f"{len(fds) + len(door)}i", *fds, *door)
            self.jobs.sendmsg([order], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        finally:
            for fd in door:
                os.close(fd)

    def _open_door(self, job_id: int, job: Job) -> list[int]:
        """The way into a group of its own for a program, whose processes have a limit each and none
        together; none for other jobs, and where nothing is delegated."""
        if job.profile.kind is not Kind.PROGRAM or self.parents.memory is None:
            return []
        if self.free_groups:
            group = self.free_groups.pop()
        else:
            name = f"{self.index}-{self.profile.role.value}-{len(self.job_groups)}-{job_id}"
            places = cgroups.Parents(memory=self.parents.memory, version=self.parents.version)
            group = cgroups.create(places, name=name, pid=None)
        if not group.directories:
            return []
        self.job_groups[job_id] = group
        group.limit_memory(tree_bytes(job.limits) + _JOB_BYTES)
        return [group.open_door()]

    def has_ended(self, job_id: int) -> None:
        """Take note that a job has: its group is free for the next."""
        group = self.job_groups.pop(job_id, None)
        if group is not None:
            self.free_groups.append(group)

    def end_job(self, job_id: int) -> None:
        """Ask the fork server to kill a job."""
        self.control.send(fork_server.KILL.pack(b"K", job_id))

    def close(self) -> None:
        """Kill the fork server; the kernel takes its jobs with it."""
        self._restore_priority()
        self.process.kill()
        self.control.close()
        self.jobs.close()
        self.process.wait()
        deadline = time.monotonic() + _DYING_S
        groups = [self.group, *self.job_groups.values(), *self.free_groups]
        while groups := [group for group in groups if not group.remove()]:
            if time.monotonic() > deadline:
                break
            self._restore_priority()
            time.sleep(0.002)

    def _restore_priority(self) -> None:
        """Give dying processes their share of the cores: a job that had outstayed its slice has the
        lowest priority, and beside busy processes hundreds of them would be long about it. Needs
        CAP_SYS_NICE; without it they take their time."""
        groups = [self.group, *self.job_groups.values()]
        for pid in [pid for group in groups for pid in group.processes()]:
            with contextlib.suppress(OSError):
                if os.sched_getscheduler(pid) == os.SCHED_IDLE:
                    os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))


def supports(profile: Profile, isolation: Isolation) -> str:
    """Empty when the level can hold the profile, else why not."""
    if isolation is Isolation.LANDLOCK and profile.binds:
        return "read-only inputs are mounted, which needs namespaces"
    shows = profile.preload or profile.site_packages
    if isolation is Isolation.LANDLOCK and shows and profile.role is Role.CANDIDATE:
        return "installed packages are shown one by one, which needs namespaces"
    if isolation in (Isolation.LANDLOCK, Isolation.NONE) and profile.kind is not Kind.FUNCTION:
        return (
            f"a {profile.kind.value} job needs namespaces: without them nothing bounds its disk "
            "use or ends the processes that it leaves"
        )
    return ""


@dataclass(slots=True, eq=False)
class WorkerGroup:
    """Everything the pool knows of one profile."""

    profile: Profile
    refusal: str
    """The reason why this host cannot hold the profile; empty where it can."""
    workers: list[Worker] = field(default_factory=list[Worker])
    waiting: deque[Attempt] = field(default_factory=deque[Attempt])
    starts_failed: int = 0
    used_at: float = 0.0

    @property
    def busy(self) -> int:
        """Jobs that its workers have."""
        return sum(len(member.in_flight) for member in self.workers)

    def free_workers(self) -> Iterator[Worker]:
        """Workers that can take a job, the idle ones first."""
        for depth in range(DEPTH):
            for member in list(self.workers):
                if member.ready and member.load == depth and member.demoted < _MAX_DEMOTED:
                    yield member

    def withdraw(self, attempt: Attempt) -> bool:
        """Take a job from those that wait; False when it is not among them."""
        waits = attempt in self.waiting
        if waits:
            self.waiting.remove(attempt)
        return waits

    def end_job(self, job_id: int) -> None:
        """Ask the worker that has a job to kill it."""
        for member in self.workers:
            if job_id in member.in_flight:
                with contextlib.suppress(OSError):
                    member.end_job(job_id)

    def may_dispatch(self, attempt: Attempt, member: Worker) -> bool:
        """A job that is tried again runs alone on its worker, so that blame is exact."""
        if attempt.tries and member.in_flight:
            return False
        return not any(other.tries > 1 for other in member.in_flight.values())


def idle_groups(groups: Iterable[WorkerGroup]) -> list[WorkerGroup]:
    """The groups with workers that no job wants, but for those used last."""
    idle = [one for one in groups if not one.waiting and one.busy == 0 and one.workers]
    return sorted(idle, key=lambda group: group.used_at)[:-_IDLE_PROFILES]


class MemoryAdmission:
    """The memory promised to the jobs of one pool."""

    def __init__(self, available_bytes: int) -> None:
        self.total_bytes = int(_SHARE * available_bytes)
        self.promised_bytes = 0

    def has_room(self, job: Job) -> bool:
        """True when the job's limit fits beside those of the jobs under way."""
        return self.promised_bytes + needed_bytes(job) <= self.total_bytes

    def enter(self, job: Job) -> None:
        """Promise a job its memory."""
        self.promised_bytes += needed_bytes(job)

    def leave(self, job: Job) -> None:
        """Take the promise back."""
        self.promised_bytes -= needed_bytes(job)


class HeldJudges:
    """The judges that are kept back; used on the pool's thread alone."""

    def __init__(self, reactor: Reactor, admit: Callable[[Attempt], None]) -> None:
        """`admit` queues a judge whose candidate has said its first word, or has ended."""
        self._reactor = reactor
        self._admit = admit
        self._sockets: dict[int, int] = {}

    def hold(self, attempt: Attempt) -> None:
        """Keep a judge until its candidate is heard."""
        assert attempt.peer is not None
        self._sockets[attempt.id] = attempt.peer
        self._reactor.watch(attempt.peer, lambda _: self._on_word(attempt))

    def _on_word(self, attempt: Attempt) -> None:
        self.let_go(attempt)
        self._admit(attempt)

    def let_go(self, attempt: Attempt) -> bool:
        """Hold a judge no longer; False when it was not held."""
        fd = self._sockets.pop(attempt.id, None)
        if fd is not None:
            self._reactor.unwatch(fd)
        return fd is not None


class StreamWatch:
    """A watcher of streams on the pool's thread. `end` ends a job, for `output` or `stop`.

    Covered: results, output and unsent messages of jobs that run longer than a pause are read while
    they fill, but nobody is woken for every byte; a job that wrote too much or has said enough is
    ended. Not covered: short jobs, which are read once at their end.
    """

    def __init__(self, reactor: Reactor, end: Callable[[Attempt, str], None]) -> None:
        self._reactor = reactor
        self._end = end
        self._unwatched: deque[tuple[float, Attempt]] = deque()
        self._will_look = False

    def begin(self, attempt: Attempt) -> None:
        """Watch a job that was just handed over."""
        if attempt.unsent:
            self._watch(attempt)
        else:
            self._look_later(attempt)

    def _look(self) -> None:
        """Look at channels of jobs that run long: their pipes may be full."""
        self._will_look = False
        now = time.monotonic()
        while self._unwatched and self._unwatched[0][0] <= now:
            _, attempt = self._unwatched.popleft()
            over = attempt.done or attempt.stopping or attempt.watched
            if attempt.streams and not over:
                self._watch(attempt)
        if self._unwatched and not self._will_look:
            self._call_look()  # a pause later: one wake-up for all that fall due in it

    def _call_look(self) -> None:
        self._will_look = True
        self._reactor.call_later(_PAUSE_S, self._look)

    def drain(self, attempt: Attempt) -> None:
        """Take what is left in the streams and stop looking at them."""
        self.unwatch(attempt)
        for stream in attempt.streams:
            stream.drain()

    def unwatch(self, attempt: Attempt) -> None:
        """Stop looking at a job's streams."""
        attempt.watched = False
        for stream in attempt.streams:
            self._reactor.unwatch(stream.fd)

    def _look_later(self, attempt: Attempt) -> None:
        self._unwatched.append((time.monotonic() + _PAUSE_S, attempt))
        if not self._will_look:
            self._call_look()

    def _watch(self, attempt: Attempt) -> None:
        attempt.watched = True
        for position, stream in enumerate(attempt.streams):
            events = select.EPOLLIN | (select.EPOLLOUT if attempt.unsent and not position else 0)
            if not stream.ended:
                self._reactor.watch(stream.fd, lambda event: self._on_event(attempt, event), events)

    def _on_event(self, attempt: Attempt, event: int) -> None:
        if event & select.EPOLLOUT:
            if attempt.send_more():
                self.unwatch(attempt)
                self._look_later(attempt)
            return
        self.unwatch(attempt)
        for stream in attempt.streams:
            if not stream.ended:
                stream.drain()
        if any(stream.overflowed for stream in attempt.streams):
            self._end(attempt, "output")
        elif attempt.wants_stop():
            self._end(attempt, "stop")
        else:
            self._look_later(attempt)
