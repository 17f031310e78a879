"""Jobs in the database: stored before they are acknowledged, each with its tenant.

Covered: the same idempotency key twice, at once too; a job that ended stays as it ended.
Not covered: what lies in a job's folder.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from unhack.server.database import schema
from unhack.server.database.database import Database
from unhack.server.http.idempotency import check_same
from unhack.server.http.job_models import ENDED
from unhack.server.http.problems import RequestRefused

_JOBS = schema.jobs
_HEAD = [column for column in _JOBS.c if column.name not in ("result", "request")]
MOST_OPEN = 100
"""Jobs of one tenant that may wait or run."""


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job that is asked for."""

    tenant_id: int
    kind: str
    request: str
    body_digest: str
    idempotency_key: str | None = None


def new_job_id() -> str:
    """A fresh id."""
    return uuid.uuid4().hex


class JobStore:
    """The jobs of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, job: NewJob) -> sa.RowMapping | None:
        """The job that came with the same idempotency key. Raises RequestRefused (422) where its
        body was another one."""
        if job.idempotency_key is None:
            return None
        found = self._database.row(
            sa.select(_JOBS).where(
                _JOBS.c.tenant_id == job.tenant_id, _JOBS.c.idempotency_key == job.idempotency_key
            )
        )
        if found is not None:
            check_same(found["body_digest"], job.body_digest)
        return found

    def add(self, job_id: str, job: NewJob) -> None:
        """Store a job that waits; on the disk when this returns. Raises RequestRefused (429) for a
        tenant with too many open ones, IntegrityError for an idempotency key that is taken."""
        values = {"id": job_id, "state": "queued", "created_at": time.time(), **asdict(job)}

        def write(connection: sa.Connection) -> None:
            _check_room(connection, job.tenant_id)
            connection.execute(sa.insert(_JOBS).values(values))

        self._database.write(write).result()

    def check_room(self, tenant_id: int) -> None:
        """Raise RequestRefused (429) for a tenant with too many open jobs."""
        self._database.read(lambda connection: _check_room(connection, tenant_id))

    def ended_before(self, before: float) -> list[tuple[str, int]]:
        """(id, tenant) of the jobs that ended before a time."""
        asked = sa.select(_JOBS.c.id, _JOBS.c.tenant_id).where(
            _JOBS.c.state.in_(ENDED), _JOBS.c.finished_at < before
        )
        return [(row["id"], row["tenant_id"]) for row in self._database.rows(asked)]

    def forget(self, job_id: str) -> None:
        """Delete a job that has ended."""
        statement = sa.delete(_JOBS).where(_JOBS.c.id == job_id, _JOBS.c.state.in_(ENDED))
        self._database.execute(statement).result()

    def find(self, job_id: str, tenant_id: int, *, whole: bool = True) -> sa.RowMapping | None:
        """A tenant's job; without request and result unless `whole`."""
        columns = list(_JOBS.c) if whole else _HEAD
        return self._database.row(
            sa.select(*columns).where(_JOBS.c.id == job_id, _JOBS.c.tenant_id == tenant_id)
        )

    def listed(
        self, tenant_id: int, *, most: int, before: float | None = None, kind: str | None = None
    ) -> list[sa.RowMapping]:
        """A tenant's jobs, the newest first, without request and result."""
        query = sa.select(*_HEAD).where(_JOBS.c.tenant_id == tenant_id)
        if before is not None:
            query = query.where(_JOBS.c.created_at < before)
        if kind is not None:
            query = query.where(_JOBS.c.kind == kind)
        query = query.order_by(_JOBS.c.created_at.desc(), _JOBS.c.id).limit(most)
        return self._database.rows(query)

    def reopen(self, *, but: Sequence[str] = ()) -> None:
        """Put what ran when the last process ended back into the queue, `but` what runs here."""
        left = sa.and_(_JOBS.c.state == "running", _JOBS.c.id.not_in(but))
        statement = sa.update(_JOBS).where(left).values(state="queued")
        self._database.execute(statement).result()

    def queued(self) -> list[sa.RowMapping]:
        """The jobs that wait, the oldest first."""
        query = (
            sa.select(_JOBS)
            .where(_JOBS.c.state == "queued")
            .order_by(_JOBS.c.created_at, _JOBS.c.id)
        )
        return self._database.rows(query)

    def claim(self, job_id: str) -> bool:
        """Mark a waiting job as running; False where it waits no more."""
        return self._change(job_id, ("queued",), state="running", started_at=time.time())

    def cancel(self, job_id: str) -> bool:
        """Mark an open job as cancelled; False where it has ended."""
        now = time.time()
        return self._change(job_id, ("queued", "running"), state="cancelled", finished_at=now)

    def finish(
        self, job_id: str, *, at: float, result: str | None = None, error: str | None = None
    ) -> bool:
        """Mark a running job as done, or as failed with an `error`, `at` seconds since 1970; False
        where it was cancelled meanwhile."""
        state = "done" if error is None else "failed"
        return self._change(
            job_id, ("running",), state=state, result=result, error=error, finished_at=at
        )

    def _change(self, job_id: str, states: tuple[str, ...], **values: Any) -> bool:
        statement = (
            sa.update(_JOBS).where(_JOBS.c.id == job_id, _JOBS.c.state.in_(states)).values(**values)
        )
        return self._database.execute(statement).result() == 1


def _check_room(connection: sa.Connection, tenant_id: int) -> None:
    """Raise RequestRefused (429) for a tenant with too many open jobs."""
    open_ones = sa.select(sa.func.count()).where(
        _JOBS.c.tenant_id == tenant_id, _JOBS.c.state.in_(("queued", "running"))
    )
    if (connection.execute(open_ones).scalar() or 0) >= MOST_OPEN:
        words = f"{MOST_OPEN} jobs of yours wait or run; try again when one has ended"
        raise RequestRefused(429, "too_many", words, retry_s=30)
