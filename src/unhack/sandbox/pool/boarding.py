"""Boarding: how many jobs may be under way at once, by the memory that they may use.

A limit on memory is a promise too: a job that stays below its own must not be killed because those
beside it use theirs. So the jobs under way never may use more together than this host has.

Covered: memory free when the pool starts, limits of the control groups above it.
Not covered: memory that others take later; a job that is killed for want of it below its own limit
is tried again (`attempt.Attempt.was_disturbed`).
"""

from __future__ import annotations

from unhack.sandbox.job import Job, Kind

_SHARE = 0.9
"""Share of the free memory that jobs may use; the host needs some for itself."""


def needed_bytes(job: Job) -> int:
    """Memory that a job may use, without what page tables and buffers add."""
    files = 0 if job.profile.kind is Kind.FUNCTION else job.limits.disk_bytes
    return job.limits.memory_bytes + files


class Boarding:
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
