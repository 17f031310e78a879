"""The workers of one profile, and the jobs that wait for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from unhack.sandbox.job import Profile
from unhack.sandbox.pool.attempt import Attempt
from unhack.sandbox.pool.worker import Worker

DEPTH = 2
"""Jobs handed to a worker at once: one runs, one waits there so that the slot never idles."""
_MAX_DEMOTED = 8
"""Stragglers that a worker carries; beyond that it takes no new job."""


@dataclass(slots=True, eq=False)
class WorkerGroup:
    """Everything the pool knows of one profile."""

    profile: Profile
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

    def may_dispatch(self, attempt: Attempt, member: Worker) -> bool:
        """A job that is tried again runs alone on its worker, so that blame is exact."""
        if attempt.tries and member.in_flight:
            return False
        return not any(other.tries > 1 for other in member.in_flight.values())
