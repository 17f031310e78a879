"""The second backend: one bubblewrap process for each job.

bubblewrap makes the namespaces and the root; inside, `server.single_job` changes the uid, mounts
the private directory and applies rlimits, Landlock and the filter, then runs the same runner as the
pool's workers. Far dearer than a fork of a warm worker: for hosts and audits that want an
independent implementation of the outer layers, and to prove that the checks of `conformance` are
not written around one of them.

Covered: everything that `unhack.sandbox.job.Backend` promises; no job outlives its outcome, nor
the host; a sandbox that fails is tried once more.
Not covered: a job that outstays its soft slice gives up its slot and keeps its priority.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from unhack.core.errors import PoolClosedError, SandboxUnavailableError, UnhackError
from unhack.sandbox.bubblewrap import bwrap_process
from unhack.sandbox.bubblewrap.bwrap_process import START_S, Blueprint, BwrapProcess
from unhack.sandbox.guest.server import fork_server
from unhack.sandbox.job import Ending, Isolation, Job, Outcome, Profile, Ticket
from unhack.sandbox.linux import cgroups
from unhack.sandbox.linux.capabilities import advice
from unhack.sandbox.pool.attempt import Attempt
from unhack.sandbox.pool.reactor import Reactor
from unhack.sandbox.pool.worker_start import claim_index, release_index
from unhack.sandbox.rootfs import interpreter

_GRACE_S = 5.0
"""After a kill that the guest was asked for, bubblewrap itself is killed."""
_MAX_YIELDED = 8
"""Stragglers for each slot; beyond that no new job starts."""
_MAX_ATTEMPTS = 2
"""Tries of a job whose sandbox fails; one with a peer is tried once, for the peer has seen it."""


@dataclass(slots=True, eq=False)
class _BwrapAttempt(Attempt):
    """A job, its process, and a way for its owner to end it."""

    backend: BubblewrapBackend | None = None
    process: BwrapProcess | None = None

    def cancel(self) -> None:
        """End the job; see `Ticket.cancel`."""
        backend = self.backend
        if backend is not None:
            backend.call_soon(lambda: backend.end(self, "cancel"))


@dataclass(slots=True, eq=False)
class _ProfileQueue:
    """The jobs of one profile."""

    blueprint: Blueprint
    waiting: deque[_BwrapAttempt] = field(default_factory=deque[_BwrapAttempt])
    running: list[_BwrapAttempt] = field(default_factory=list[_BwrapAttempt])


class BubblewrapBackend:
    """A backend that runs each job in a bubblewrap of its own, `slots` of each profile at a time.

    Raises SandboxUnavailableError where bubblewrap is missing or may not make namespaces.
    """

    def __init__(self, *, slots: int | None = None) -> None:
        self.slots = slots or len(os.sched_getaffinity(0))
        self._bwrap = find()
        self._lines: dict[Profile, _ProfileQueue] = {}
        self._attempts: dict[int, _BwrapAttempt] = {}
        self._next_id = 0
        self._closing = False
        self._pid = os.getpid()
        self._parents = cgroups.find_parents()
        cgroups.reap_stale(self._parents)
        self._reactor = Reactor(
            name="unhack-bubblewrap",
            timeout_s=self._timeout_s,
            tick=self._watch_clocks,
            at_end=self._shut_down,
        )

    @property
    def isolation(self) -> Isolation:
        """Always `bubblewrap`."""
        return Isolation.BUBBLEWRAP

    def submit(self, job: Job, on_done: Callable[[Outcome], None]) -> Ticket:
        """Queue a job; see `Backend.submit`. Raises PoolClosedError."""
        if self._closing or self._pid != os.getpid():
            raise PoolClosedError("the backend is closed, or belongs to the parent of this process")
        self._next_id += 1
        attempt = _BwrapAttempt(self._next_id, job, on_done, job.peer, backend=self)
        self.call_soon(lambda: self._enqueue(attempt))
        return attempt

    def call_soon(self, function: Callable[[], None]) -> None:
        """Run `function` on the backend's thread."""
        self._reactor.call_soon(function)

    def close(self) -> None:
        """End every job (`stopped`), then the thread."""
        if self._closing or self._pid != os.getpid():
            return
        self._closing = True
        self._reactor.stop()

    # The backend's thread, from here on.

    def _enqueue(self, attempt: _BwrapAttempt) -> None:
        profile = attempt.job.profile
        self._attempts[attempt.id] = attempt
        if self._closing:
            return  # `_shut_down` delivers it
        try:
            line = self._lines.get(profile)
            if line is None:
                line = self._lines[profile] = _ProfileQueue(
                    bwrap_process.blueprint(self._bwrap, profile)
                )
        except (OSError, UnhackError) as error:
            self._deliver(attempt, Outcome(Ending.REFUSED, error=str(error)))
            return
        line.waiting.append(attempt)
        self._dispatch(line)

    def _dispatch(self, line: _ProfileQueue) -> None:
        while line.waiting:
            yielded = sum(f.process is not None and f.process.yielded for f in line.running)
            full = len(line.running) - yielded >= self.slots
            if full or yielded >= _MAX_YIELDED * self.slots:
                return
            attempt = line.waiting.popleft()
            if attempt.stopping:
                self._deliver(attempt, Outcome(Ending.STOPPED, error="cancelled"))
            else:
                self._start(line, attempt)

    def _start(self, line: _ProfileQueue, attempt: _BwrapAttempt) -> None:
        index = claim_index()
        process = attempt.process = BwrapProcess(line.blueprint, index, self._parents)
        line.running.append(attempt)
        try:
            attempt.dispatch(process)
        except OSError as error:
            process.failure = f"bubblewrap could not be started: {error}"
            process.destroy()
            self._finish(attempt, process)
            return
        if process.control is not None:
            self._reactor.watch(process.control.fileno(), lambda _: self._listen(attempt, process))
        self._reactor.watch(process.pidfd, lambda _: self._finish(attempt, process))
        for position, stream in enumerate(attempt.streams):
            events = select.EPOLLIN | (select.EPOLLOUT if attempt.unsent and not position else 0)
            self._reactor.watch(
                stream.fd, lambda event, p=position: self._on_event(attempt, p, event), events
            )

    def _listen(self, attempt: _BwrapAttempt, process: BwrapProcess) -> None:
        if not process.listen(attempt.job) and process.control is not None:
            self._reactor.unwatch(process.control.fileno())

    def _on_event(self, attempt: _BwrapAttempt, position: int, event: int) -> None:
        stream = attempt.streams[position]
        if event & select.EPOLLOUT and attempt.send_more():
            self._reactor.change(stream.fd, select.EPOLLIN)
        if event & ~select.EPOLLOUT:
            if not stream.drain():
                self._reactor.unwatch(stream.fd)
            if stream.overflowed:
                self.end(attempt, "output")
            elif position == 0 and attempt.wants_stop():
                self.end(attempt, "stop")

    def end(self, attempt: _BwrapAttempt, why: str) -> None:
        """Have a job killed, on the backend's thread; its outcome follows."""
        if attempt.done or attempt.stopping:
            return
        attempt.stopping = why
        for stream in attempt.streams:
            self._reactor.unwatch(stream.fd)
        if attempt.process is not None:
            attempt.process.end_job(attempt.id)

    def _timeout_s(self) -> float:
        events = [_next_event(f, f.process) for f in self._running() if f.process is not None]
        return max(0.0, min(events, default=time.monotonic() + 60.0) - time.monotonic())

    def _running(self) -> list[_BwrapAttempt]:
        return [attempt for line in self._lines.values() for attempt in line.running]

    def _watch_clocks(self) -> None:
        now = time.monotonic()
        for attempt in self._running():
            process = attempt.process
            if process is None or now < _next_event(attempt, process):
                continue
            if process.killed_at or not process.running_since:
                if not process.running_since:
                    process.failure = f"bubblewrap was not ready after {START_S:.0f} s"
                process.destroy()
                process.killed_at = now
            elif now >= process.running_since + attempt.job.limits.wall_s:
                process.kill(fork_server.BY_WALL)
            else:
                process.yielded = True
                self._dispatch(self._lines[attempt.job.profile])

    def _finish(self, attempt: _BwrapAttempt, process: BwrapProcess) -> None:
        """Deliver or retry a job whose bubblewrap, and so every process of it, has ended."""
        if process.control is not None:
            process.listen(attempt.job)
            self._reactor.unwatch(process.control.fileno())
        self._reactor.unwatch(process.pidfd)
        for stream in attempt.streams:
            self._reactor.unwatch(stream.fd)
            stream.drain()
        outcome = _outcome(attempt, process, process.close())
        release_index(process.index)
        attempt.process = None
        line = self._lines[attempt.job.profile]
        line.running.remove(attempt)
        max_tries = 1 if attempt.job.peer is not None else _MAX_ATTEMPTS
        if outcome.ending is Ending.BROKEN and attempt.tries < max_tries and not attempt.stopping:
            attempt.release()
            line.waiting.appendleft(attempt)
        else:
            self._deliver(attempt, outcome)
        self._dispatch(line)

    def _deliver(self, attempt: _BwrapAttempt, outcome: Outcome) -> None:
        attempt.release()
        attempt.close_peer()
        attempt.done = True
        self._attempts.pop(attempt.id, None)
        attempt.on_done(replace(outcome, isolation=Isolation.BUBBLEWRAP))

    def _shut_down(self) -> None:
        for attempt in self._running():
            if attempt.process is not None:
                attempt.process.hang_up()
        for attempt in self._running():
            if attempt.process is not None:
                attempt.process.wait()
                attempt.process.close()
        self._reactor.run_inbox()
        for attempt in list(self._attempts.values()):
            with contextlib.suppress(Exception):
                self._deliver(attempt, Outcome(Ending.STOPPED, error="cancelled"))


def _next_event(attempt: _BwrapAttempt, process: BwrapProcess) -> float:
    """The time at which the host must look at a job again."""
    if not process.running_since:
        return max(process.started_at, process.killed_at) + START_S
    if process.killed_at:
        return process.killed_at + _GRACE_S
    limits = attempt.job.limits
    soft = limits.wall_s if process.yielded else min(limits.soft_slice_s, limits.wall_s)
    return process.running_since + soft


def _outcome(attempt: _BwrapAttempt, process: BwrapProcess, words: str) -> Outcome:
    """The outcome that the guest's report, or its absence, amounts to."""
    if process.report is not None:
        status, wall, cpu, peak = process.report
        return attempt.outcome(status, process.why, (wall, cpu, peak))
    if process.running_since and process.killed_at:
        elapsed = time.monotonic() - process.running_since
        return attempt.outcome(signal.SIGKILL, process.why, (elapsed, 0.0, 0))
    if attempt.stopping:
        return Outcome(Ending.STOPPED, error="cancelled", attempts=attempt.tries)
    error = process.failure or words or "bubblewrap ended without a report"
    return Outcome(Ending.BROKEN, error=error, attempts=attempt.tries)


def find() -> str:
    """The path of a `bwrap` that works here.

    Raises SandboxUnavailableError that says what to install or to allow.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxUnavailableError(
            "bubblewrap is not installed: apt-get install bubblewrap (or dnf, apk, pacman)"
        )
    arguments = bwrap_process.namespace_arguments(as_root=os.geteuid() == 0)
    trial = subprocess.run(
        [bwrap, *arguments, "--ro-bind", "/", "/", "--", interpreter(), "-I", "-S", "-c", "pass"],
        env={},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=START_S,
        check=False,
    )
    if trial.returncode:
        words = trial.stderr.decode(errors="replace").strip()[:400]
        raise SandboxUnavailableError(f"bubblewrap does not work here: {words}. {advice()}")
    return bwrap
