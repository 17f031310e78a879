"""One job between the pool and a worker: its descriptors, its buffers, its outcome.

Covered: results, output and unsent messages of jobs that run longer than a pause are read while
they fill, but nobody is woken for every byte; a job that wrote too much or has said enough is
ended. Not covered: short jobs, which are read once at their end.
"""

from __future__ import annotations

import _socket
import fcntl
import math
import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.server import deadlines, job_start
from unhack.sandbox.job import Ending, Isolation, Job, Outcome, limit_behind_kill
from unhack.sandbox.pool.reactor import Reactor

_CHUNK = 1 << 18
_PAUSE_S = 0.02
"""Pause between two looks at a running job's streams."""
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


@dataclass(slots=True, eq=False)
class Stream:
    """A pipe or socket that a job writes to, read up to a limit."""

    fd: int
    limit: int
    data: bytearray = field(default_factory=bytearray)
    spill: int = 0
    """Bytes beyond the limit that are thrown away, from the front, before the stream overflows."""
    overflowed: bool = False
    ended: bool = False
    _line_start: int = 0
    """Start of the first line that `new_lines` has not given yet."""
    _searched: int = 0

    def new_lines(self) -> bytes:
        """The complete lines that came since the last call; each byte is looked at once."""
        end = self.data.rfind(b"\n", self._searched) + 1
        self._searched = len(self.data)
        if not end:
            return b""
        lines = bytes(self.data[self._line_start : end])
        self._line_start = end
        return lines

    def drain(self) -> bool:
        """Read what is there; False at the end of the stream."""
        while True:
            try:
                part = os.read(self.fd, _CHUNK)
            except BlockingIOError:
                return True
            except OSError:
                part = b""
            if not part:
                self.ended = True
                return False
            room = self.limit - len(self.data)
            if self.spill > 0 and len(part) > room:
                self.data += part
                del self.data[: len(part) - room]
                self.spill -= len(part) - room
                continue
            self.data += part[:room]
            if len(part) > room:
                self.overflowed = True
                return True

    def close(self) -> None:
        """Give the descriptor back."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


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
    """True when it runs again with nothing beside it (`second_runs`)."""
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
                fds.append(_memory_file(self.job.stdin))
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


def _memory_file(data: bytes) -> int:
    """A descriptor that reads `data` and cannot be written."""
    fd = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


class StreamWatch:
    """A watcher of streams on the pool's thread. `end` ends a job, for `output` or `stop`."""

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
