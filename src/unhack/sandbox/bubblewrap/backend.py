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
from typing import cast

from unhack.core.errors import PoolClosedError, SandboxUnavailableError, UnhackError
from unhack.sandbox.bubblewrap import bwrap_process as cells
from unhack.sandbox.bubblewrap.bwrap_process import START_S, Blueprint, Cell
from unhack.sandbox.guest.server import fork_server
from unhack.sandbox.job import Ending, Isolation, Job, Outcome, Profile, Ticket
from unhack.sandbox.linux import cgroups
from unhack.sandbox.linux.capabilities import advice
from unhack.sandbox.pool.attempt import Flight
from unhack.sandbox.pool.reactor import Reactor
from unhack.sandbox.pool.worker import Worker
from unhack.sandbox.rootfs import interpreter

_GRACE_S = 5.0
"""After a kill that the guest was asked for, bubblewrap itself is killed."""
_MOST_YIELDED = 8
"""Stragglers for each slot; beyond that no new job starts."""
_MOST_ATTEMPTS = 2
"""How often a job is tried whose sandbox fails; one with a peer once, for the peer has seen it."""
_FIRST_INDEX = 4096
"""Beyond the indices of the pool's workers, so that no uid is used twice at a time."""


@dataclass(slots=True, eq=False)
class _Ticketed(Flight):
    """A job, its cell, and a way for its owner to end it."""

    backend: BubblewrapBackend | None = None
    cell: Cell | None = None

    def cancel(self) -> None:
        """End the job; see `Ticket.cancel`."""
        backend = self.backend
        if backend is not None:
            backend.call_soon(lambda: backend.end(self, "cancel"))


@dataclass(slots=True, eq=False)
class _Line:
    """The jobs of one profile."""

    blueprint: Blueprint
    waiting: deque[_Ticketed] = field(default_factory=deque[_Ticketed])
    running: list[_Ticketed] = field(default_factory=list[_Ticketed])


class BubblewrapBackend:
    """Runs each job in a bubblewrap of its own, `slots` of each profile at a time.

    Raises SandboxUnavailableError where bubblewrap is missing or may not make namespaces.
    """

    def __init__(self, *, slots: int | None = None) -> None:
        self.slots = slots or len(os.sched_getaffinity(0))
        self._bwrap = find()
        self._lines: dict[Profile, _Line] = {}
        self._flights: dict[int, _Ticketed] = {}
        self._next_id = 0
        self._indices: set[int] = set()
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
        flight = _Ticketed(self._next_id, job, on_done, job.peer, backend=self)
        self.call_soon(lambda: self._enqueue(flight))
        return flight

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

    def _enqueue(self, flight: _Ticketed) -> None:
        profile = flight.job.profile
        self._flights[flight.id] = flight
        if self._closing:
            return  # `_shut_down` delivers it
        try:
            line = self._lines.get(profile)
            if line is None:
                line = self._lines[profile] = _Line(cells.blueprint(self._bwrap, profile))
        except (OSError, UnhackError) as error:
            self._deliver(flight, Outcome(Ending.REFUSED, error=str(error)))
            return
        line.waiting.append(flight)
        self._dispatch(line)

    def _dispatch(self, line: _Line) -> None:
        while line.waiting:
            yielded = sum(f.cell is not None and f.cell.yielded for f in line.running)
            full = len(line.running) - yielded >= self.slots
            if full or yielded >= _MOST_YIELDED * self.slots:
                return
            flight = line.waiting.popleft()
            if flight.stopping:
                self._deliver(flight, Outcome(Ending.STOPPED, error="cancelled"))
            else:
                self._start(line, flight)

    def _start(self, line: _Line, flight: _Ticketed) -> None:
        index = next(n for n in range(_FIRST_INDEX, 1 << 20) if n not in self._indices)
        cell = flight.cell = Cell(line.blueprint, index, self._parents)
        self._indices.add(index)
        line.running.append(flight)
        try:
            flight.board(cast("Worker", cell))
        except OSError as error:
            cell.failure = f"bubblewrap could not be started: {error}"
            cell.destroy()
            self._finish(flight, cell)
            return
        if cell.control is not None:
            self._reactor.watch(cell.control.fileno(), lambda _: self._listen(flight, cell))
        self._reactor.watch(cell.pidfd, lambda _: self._finish(flight, cell))
        for position, stream in enumerate(flight.streams):
            events = select.EPOLLIN | (select.EPOLLOUT if flight.unsent and not position else 0)
            self._reactor.watch(
                stream.fd, lambda event, p=position: self._hear(flight, p, event), events
            )

    def _listen(self, flight: _Ticketed, cell: Cell) -> None:
        if not cell.listen(flight.job) and cell.control is not None:
            self._reactor.unwatch(cell.control.fileno())

    def _hear(self, flight: _Ticketed, position: int, event: int) -> None:
        stream = flight.streams[position]
        if event & select.EPOLLOUT and flight.send_more():
            self._reactor.change(stream.fd, select.EPOLLIN)
        if event & ~select.EPOLLOUT:
            if not stream.drain():
                self._reactor.unwatch(stream.fd)
            if stream.overflowed:
                self.end(flight, "output")
            elif position == 0 and flight.wants_stop():
                self.end(flight, "stop")

    def end(self, flight: _Ticketed, why: str) -> None:
        """On the backend's thread: have a job killed; its outcome follows."""
        if flight.done or flight.stopping:
            return
        flight.stopping = why
        for stream in flight.streams:
            self._reactor.unwatch(stream.fd)
        if flight.cell is not None:
            flight.cell.kill(fork_server.BY_HOST)

    def _timeout_s(self) -> float:
        events = [_next_event(f, f.cell) for f in self._running() if f.cell is not None]
        return max(0.0, min(events, default=time.monotonic() + 60.0) - time.monotonic())

    def _running(self) -> list[_Ticketed]:
        return [flight for line in self._lines.values() for flight in line.running]

    def _watch_clocks(self) -> None:
        now = time.monotonic()
        for flight in self._running():
            cell = flight.cell
            if cell is None or now < _next_event(flight, cell):
                continue
            if cell.killed_at or not cell.running_since:
                if not cell.running_since:
                    cell.failure = f"bubblewrap was not ready after {START_S:.0f} s"
                cell.destroy()
                cell.killed_at = now
            elif now >= cell.running_since + flight.job.limits.wall_s:
                cell.kill(fork_server.BY_WALL)
            else:
                cell.yielded = True
                self._dispatch(self._lines[flight.job.profile])

    def _finish(self, flight: _Ticketed, cell: Cell) -> None:
        """bubblewrap has exited, and with it every process of the job."""
        if cell.control is not None:
            cell.listen(flight.job)
            self._reactor.unwatch(cell.control.fileno())
        self._reactor.unwatch(cell.pidfd)
        for stream in flight.streams:
            self._reactor.unwatch(stream.fd)
            stream.drain()
        outcome = _outcome(flight, cell, cell.close())
        self._indices.discard(cell.index)
        flight.cell = None
        line = self._lines[flight.job.profile]
        line.running.remove(flight)
        most = 1 if flight.job.peer is not None else _MOST_ATTEMPTS
        if outcome.ending is Ending.BROKEN and flight.attempts < most and not flight.stopping:
            flight.release()
            line.waiting.appendleft(flight)
        else:
            self._deliver(flight, outcome)
        self._dispatch(line)

    def _deliver(self, flight: _Ticketed, outcome: Outcome) -> None:
        flight.release()
        flight.close_peer()
        flight.done = True
        self._flights.pop(flight.id, None)
        flight.on_done(replace(outcome, isolation=Isolation.BUBBLEWRAP))

    def _shut_down(self) -> None:
        for flight in self._running():
            if flight.cell is not None:
                flight.cell.hang_up()
        for flight in self._running():
            if flight.cell is not None:
                flight.cell.wait()
                flight.cell.close()
        self._reactor.run_inbox()
        for flight in list(self._flights.values()):
            with contextlib.suppress(Exception):
                self._deliver(flight, Outcome(Ending.STOPPED, error="cancelled"))


def _next_event(flight: _Ticketed, cell: Cell) -> float:
    """When the host must look at a job again."""
    if not cell.running_since:
        return max(cell.started_at, cell.killed_at) + START_S
    if cell.killed_at:
        return cell.killed_at + _GRACE_S
    limits = flight.job.limits
    soft = limits.wall_s if cell.yielded else min(limits.soft_slice_s, limits.wall_s)
    return cell.running_since + soft


def _outcome(flight: _Ticketed, cell: Cell, words: str) -> Outcome:
    """What the guest's report, or its absence, amounts to."""
    if cell.report is not None:
        status, wall, cpu, peak = cell.report
        return flight.outcome(status, cell.why, (wall, cpu, peak))
    if cell.running_since and cell.killed_at:
        elapsed = time.monotonic() - cell.running_since
        return flight.outcome(signal.SIGKILL, cell.why, (elapsed, 0.0, 0))
    if flight.stopping:
        return Outcome(Ending.STOPPED, error="cancelled", attempts=flight.attempts)
    error = cell.failure or words or "bubblewrap ended without a report"
    return Outcome(Ending.BROKEN, error=error, attempts=flight.attempts)


def find() -> str:
    """The path of a `bwrap` that works here.

    Raises SandboxUnavailableError that says what to install or to allow.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxUnavailableError(
            "bubblewrap is not installed: apt-get install bubblewrap (or dnf, apk, pacman)"
        )
    arguments = cells.namespace_arguments(as_root=os.geteuid() == 0)
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
