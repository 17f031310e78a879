"""Admission: when a job may start.

A limit on memory is a promise too: a job that stays below its own must not be killed because those
beside it use theirs. So the jobs under way never may use more together than this host has.

A judge that calls a candidate is kept out of the queue until that candidate has started. The two
halves of a seal wait in different queues: a judge that ran first would spend its own time waiting
for a slot of the candidate's, and a right completion behind a long queue would be lost.

Covered: memory free when the pool starts, limits of the control groups above it; candidates that
wait however long, that end unheard, that are cancelled.
Not covered: memory that others take later; a job that is killed for want of it below its own limit
is tried again (`attempt.Attempt.was_disturbed`). The wait of a started candidate for its judge,
which its own wall limit has room for.
"""

from __future__ import annotations

from collections.abc import Callable

from unhack.sandbox.job import Job, Kind, Role
from unhack.sandbox.pool.attempt import Attempt
from unhack.sandbox.pool.reactor import Reactor

_SHARE = 0.9
"""Share of the free memory that jobs may use; the host needs some for itself."""


def needed_bytes(job: Job) -> int:
    """Memory that a job may use, without what page tables and buffers add."""
    files = 0 if job.profile.kind is Kind.FUNCTION else job.limits.disk_bytes
    return job.limits.memory_bytes + files


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


def calls_candidate(attempt: Attempt) -> bool:
    """True for a judge with a peer: the candidate has the first word (`candidate.serve`)."""
    return attempt.peer is not None and attempt.job.profile.role is Role.JUDGE


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
