"""One job between the pool and a worker: its descriptors, its buffers, its outcome; and the second
runs of a pool.

Cores share caches and execution units, so a right program near its CPU limit may be lost for what
runs beside it. A loop reaches the same limit, and nothing tells the two apart. So such a job is
tried once more, alone in its pool, where that can change something (others ran beside it for half
of its time, or the kernel ended it by its coarse count before its time was up), and second runs may
take a twentieth of the time that the pool is at work, after half a minute that every pool may
spend. All that is in the way of a second run is charged to it: programs that always reach their
limit cost everybody that share, however many they are. The two halves of a seal are tried again by
those who made them, not alone but with more patience, where the candidate waited for a core while
its judge waited for it, on the same account.

Covered: CPU limits, and wall limits that a job reached by computing.
Not covered: the rest of the host, which no pool can hold still; judges.
"""

from __future__ import annotations

import _socket
import math
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.server import deadlines, job_start
from unhack.sandbox.job import Ending, Isolation, Job, Outcome, Role, limit_behind_kill
from unhack.sandbox.pool.reactor import Stream, memory_file

_SPILL = 16
"""Standard error may exceed its limit this many times over before it ends the job: nothing there
counts for a verdict, its end is what tells why a program failed, and reading it is bounded."""
_LIMITS = {
    deadlines.BY_WALL: "wall",
    deadlines.BY_STARVING: "wall",
    deadlines.BY_CPU: "cpu",
    deadlines.BY_HARD_WALL: "wall_hard",
}
_LEAST_S = 0.001
_SPARE_S = 30.0
"""Seconds that second runs may take before the pool has been at work for long."""
_SHARE = 1 / 20
"""Share of the time that the pool is at work for second runs."""
_CROWDED = 0.5
"""Share of a job's time with others beside it that may have lengthened its CPU time."""
_COMPUTING = 0.9
"""Share of its wall limit that a job has computed when that is what made it late."""
_STARVED = 0.1
"""Share of its time that a candidate waited for a core when that may have made it late."""
_MARGIN, _MOST_PATIENCE = 4, 20.0
"""Patience beyond what a candidate lacked, since the next wait may be longer, and the most."""
_NO_TIME = "it ran beside others, and no time was left for a second run alone"


@dataclass(slots=True, eq=False)
class Attempt:
    """A job that was handed in, until its outcome is delivered."""

    id: int
    job: Job
    on_done: Callable[[Outcome], None]
    peer: int | None = None
    """The peer socket until a worker has it; such a job is not tried twice, for its other half has
    seen the first try."""
    on_cancel: Callable[[], None] | None = None
    isolation: Isolation = Isolation.NONE
    """The level of the worker that has it."""
    streams: list[Stream] = field(default_factory=list[Stream])
    """The result channel, then stdout and stderr when they are captured."""
    unsent: memoryview | None = None
    """The part of the message that the channel has not taken yet."""
    watched: bool = False
    tries: int = 0
    stopping: str = ""
    """The host's reason to end it: `output`, `stop` or `cancel`."""
    demoted: bool = False
    disturbed: bool = False
    """True when its first end may not have been its own doing."""
    alone: bool = False
    """True when it runs again with nothing beside it (`SecondRuns`)."""
    denied: str = ""
    """The reason why it may not run again alone, although that might help."""
    began: tuple[float, float] = 0.0, 0.0
    """The time at which its worker was given it, and how long the pool had been crowded by then."""
    waited_s: float = 0.0
    """Time that its last try waited for a core; 0 for a short one."""
    spent_s: float = 0.0
    """Wall time of all its tries."""
    done: bool = False

    def cancel(self) -> None:
        """End the job; see `JobHandle.cancel`."""
        if self.on_cancel is not None:
            self.on_cancel()

    def dispatch(self, hand_over: Callable[..., None], *, isolation: Isolation) -> None:
        """Make the descriptors and give the job to a worker through its `hand_over`.

        Raises OSError when the worker is gone.
        """
        limit = self.job.limits.output_bytes
        ours, theirs = _socket.socketpair()  # the C half: no objects around it for each job
        ours.setblocking(False)
        self.streams = [Stream(ours.detach(), limit)]
        fds = [theirs.detach()]
        flags = 0
        try:
            if self.job.stdin is not None:
                fds.append(memory_file(self.job.stdin))
                flags |= job_start.HAS_STDIN
            if self.job.capture:
                for _ in range(2):
                    read_end, write_end = os.pipe()
                    os.set_blocking(read_end, False)
                    self.streams.append(Stream(read_end, limit))
                    fds.append(write_end)
                self.streams[-1].spill = _SPILL * limit
                flags |= job_start.HAS_OUTPUT
            if self.peer is not None:
                fds.append(self.peer)
                self.peer = None
                flags |= job_start.HAS_PEER
            hand_over(self.id, self._job_now(), flags=flags, fds=fds)
        finally:
            for fd in fds:
                os.close(fd)
        self.isolation = isolation
        self.tries += 1
        message = self.job.message
        self.unsent = memoryview(runner.HEADER.pack(len(message)) + message)
        self.send_more()

    @property
    def calls_candidate(self) -> bool:
        """True for a judge with a peer: the candidate has the first word (`candidate.serve`)."""
        return self.peer is not None and self.job.profile.role is Role.JUDGE

    @property
    def left_s(self) -> float:
        """Seconds of its hard wall that its tries have left."""
        return self.job.limits.wall_hard_s - self.spent_s

    def _job_now(self) -> Job:
        """The job, with the time that is left; one that runs alone makes room for nobody."""
        limits = self.job.limits
        if self.spent_s and limits.wall_hard_s != math.inf:
            limits = limits.with_(wall_hard_s=max(self.left_s, _LEAST_S))
        if self.alone:
            limits = limits.with_(soft_slice_s=math.inf)
        return self.job if limits is self.job.limits else replace(self.job, limits=limits)

    def send_more(self) -> bool:
        """Write more of the message; True when all of it is out, or can never be."""
        while self.unsent:
            try:
                sent = os.write(self.streams[0].fd, self.unsent)
            except BlockingIOError:
                return False
            except OSError:
                break
            self.unsent = self.unsent[sent:]
        self.unsent = None
        return True

    def release(self) -> None:
        """Close everything that belongs to this attempt."""
        for stream in self.streams:
            stream.close()
        self.streams = []
        self.unsent = None
        self.watched = False

    def wants_stop(self) -> bool:
        """True when the judge has seen enough in the lines that are new."""
        stop = self.job.stop_when
        lines = self.streams[0].new_lines() if stop is not None else b""
        return stop is not None and bool(lines) and stop(lines)

    def close_peer(self) -> None:
        """Close the peer socket of a job that no worker took."""
        if self.peer is not None:
            os.close(self.peer)
            self.peer = None

    def outcome(
        self, status: int, why: int, figures: tuple[float, float, int], *, waited_s: float = 0.0
    ) -> Outcome:
        """The outcome that the worker's report and the streams amount to."""
        wall, cpu, peak = figures
        self.spent_s += wall
        self.waited_s = waited_s
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        ending, limit = self._ending(code, number, why, cpu, peak)
        stdout, stderr = (
            (bytes(s.data) for s in self.streams[1:]) if self.job.capture else (b"", b"")
        )
        result = bytes(self.streams[0].data)
        error = "cancelled" if ending is Ending.STOPPED and self.stopping == "cancel" else ""
        if code == runner.BROKEN_EXIT and (not result or b'"broken"' in result[:64]):
            ending, error = Ending.BROKEN, result[:500].decode(errors="replace")
        return Outcome(
            ending,
            exit_code=code,
            signal=number,
            limit=limit,
            result=result,
            stdout=stdout,
            stderr=stderr,
            truncated=any(stream.overflowed for stream in self.streams),
            wall_s=wall,
            cpu_s=cpu,
            max_rss_bytes=peak,
            isolation=self.isolation,
            error=error,
            attempts=self.tries,
        )

    def was_disturbed(self, outcome: Outcome, why: int) -> bool:
        """True when something else than the job may have ended it: it waited for a core until its
        deadline, or was killed for memory though it had used less than it may.

        Said once of a job at most: it is tried again, alone on a worker, and then it is believed.
        """
        if self.disturbed or self.stopping:
            return False
        below = outcome.max_rss_bytes < self.job.limits.memory_bytes
        killed = outcome.signal == signal.SIGKILL and why == deadlines.BY_ITSELF
        self.disturbed = why == deadlines.BY_STARVING or (
            killed and outcome.limit == "memory" and below
        )
        return self.disturbed

    def _ending(
        self, code: int | None, number: int | None, why: int, cpu: float, peak: int
    ) -> tuple[Ending, str]:
        if why in _LIMITS:
            return Ending.LIMIT, _LIMITS[why]
        if self.stopping == "output" or any(stream.overflowed for stream in self.streams):
            return Ending.LIMIT, "output"
        if why == deadlines.BY_HOST or self.stopping:
            return Ending.STOPPED, ""
        if code is not None:
            return Ending.EXITED, ""
        if number == signal.SIGXFSZ:
            return Ending.LIMIT, "file"
        if number == signal.SIGKILL:
            # Nothing inside can send it: the kernel did, for CPU time or for memory.
            return Ending.LIMIT, limit_behind_kill(self.job.limits, cpu_s=cpu, peak_bytes=peak)
        return Ending.SIGNALED, ""


class SecondRuns:
    """The second runs of one pool, and the time left for them; used on the pool's thread alone.

    Example:

        runs = SecondRuns()
        if runs.grant(attempt, outcome):  # from here on nothing else may start
            ...
        runs.release(attempt)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counted_at = self._quiet_since = clock()
        self._in_flight = 0
        self._busy_s = 0.0
        """Time with a job in flight."""
        self._crowded_s = 0.0
        """Time with two or more."""
        self._granted: dict[int, tuple[Attempt, Outcome, float]] = {}
        """Attempt id -> the job that waits or runs, its first outcome, the time of that."""
        self._running = False
        """True while one of them has its worker."""
        self._held_since = 0.0
        self._spent_s = 0.0

    @property
    def holds_others(self) -> bool:
        """True while nothing else may start."""
        return bool(self._granted)

    def enter(self, attempt: Attempt) -> None:
        """Take note that a worker was given a job."""
        attempt.began = self._count(1), self._crowded_s
        self._running = attempt.alone

    def leave(self, attempt: Attempt) -> None:
        """Take note that its worker has it no longer."""
        now = self._count(-1)
        if attempt.alone:
            self._running, self._quiet_since = False, now

    def may_start(self, attempt: Attempt) -> bool:
        """True when no second run is in the way of a job, and nothing in that of a second run.

        A judge whose candidate runs already goes on: its candidate waits for it.
        """
        if attempt.alone:
            return not self._in_flight
        return not self._granted or attempt.calls_candidate

    def grant(self, attempt: Attempt, outcome: Outcome) -> bool:
        """True when a job is to run again alone; the time for it is set aside."""
        if not _computed_to_its_end(attempt, outcome):
            return False
        now = self._count(0)
        began, crowded = attempt.began
        cpu_s = attempt.job.limits.cpu_s
        by_ticks = outcome.limit == "cpu" and outcome.cpu_s < math.ceil(cpu_s)
        beside = self._crowded_s - crowded >= _CROWDED * (now - began)
        if not (by_ticks or beside):
            return False
        if self._left_s(now) < cpu_s:
            attempt.denied = _NO_TIME
            return False
        if not self._granted:
            self._held_since = now
        self._granted[attempt.id] = attempt, outcome, now
        attempt.alone = True
        return True

    def conclude(self, attempt: Attempt, outcome: Outcome) -> Outcome:
        """The outcome, which says where there was no time for a second run; of a candidate that its
        judge gave up on while it waited for a core, with the patience that another try needs, for
        which its CPU limit is charged."""
        if attempt.denied:
            return replace(outcome, error=attempt.denied)
        waited, wall, limits = attempt.waited_s, outcome.wall_s, attempt.job.limits
        given_up = attempt.stopping == "cancel" and attempt.job.peer is not None
        starved = waited > _STARVED * wall and attempt.left_s > limits.cpu_s
        if not (given_up and starved) or self._left_s(self._count(0)) < limits.cpu_s:
            return outcome
        self._spent_s += limits.cpu_s
        had = max(wall - waited, wall / _MOST_PATIENCE)
        return replace(outcome, patience=min(_MARGIN * wall / had, _MOST_PATIENCE))

    def release(self, attempt: Attempt) -> bool:
        """Take note that a second run is over, or does not take place; False when it was none."""
        if self._granted.pop(attempt.id, None) is None:
            return False
        now = self._count(0)
        if not self._granted:
            self._spent_s += now - self._held_since
        return True

    def overdue(self) -> list[tuple[Attempt, Outcome]]:
        """The jobs that have waited for those under way as long as their first run took, or until
        no time is left, with their first outcomes, which are to count."""
        if self._running:
            return []
        now = self._count(0)
        is_over = self._left_s(now) < 0
        return [
            (attempt, replace(first, error=_NO_TIME))
            for attempt, first, since in self._granted.values()
            if is_over or now - max(since, self._quiet_since) > first.wall_s
        ]

    def _left_s(self, now: float) -> float:
        """Seconds for second runs that are neither spent nor set aside."""
        aside = sum(attempt.job.limits.cpu_s for attempt, *_ in self._granted.values())
        held = now - self._held_since if self._granted else 0.0
        return _SPARE_S + _SHARE * self._busy_s - self._spent_s - held - aside

    def _count(self, change: int) -> float:
        """Bring the sums up to now, which is returned, and the number of jobs in flight after."""
        now = self._clock()
        passed, self._counted_at = now - self._counted_at, now
        if self._in_flight:
            self._busy_s += passed
            if self._in_flight > 1:
                self._crowded_s += passed
        self._in_flight += change
        return now


def _computed_to_its_end(attempt: Attempt, outcome: Outcome) -> bool:
    """True for the first end of a candidate's job by its CPU time, if it has a hard wall ahead that
    leaves time for another."""
    job = attempt.job
    if attempt.stopping or attempt.tries != 1 or job.peer is not None:
        return False
    if job.profile.role is not Role.CANDIDATE or job.limits.cpu_s > attempt.left_s:
        return False
    late = outcome.limit == "wall" and outcome.cpu_s >= _COMPUTING * job.limits.wall_s
    return late or outcome.limit == "cpu"
