"""The threads that run jobs, a bounded number at a time, and take up what a kill left behind.

Covered: kill -9 at any point (a job that ran goes on in its folder, by what the audit or the
tournament has stored); a tenant with many jobs does not keep another one's waiting; a job that
fails, or breaks, is a state with words, and the next one runs; while the database does not answer,
what runs goes on, its end is stored afterwards, and what waits begins afterwards.
Not covered: a cancelled job's last step, which runs to its end before its thread is free.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import shutil
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from unhack.core.errors import UnhackError
from unhack.core.optional_dependencies import require
from unhack.server.database.database import Database, DatabaseTakenError
from unhack.server.http.job_models import AuditOrder, JobProgress, TournamentOrder
from unhack.server.jobs.audit_jobs import check_audit, run_audit, without_paths
from unhack.server.jobs.job_store import JobStore, NewJob, new_job_id
from unhack.server.jobs.job_work import PAGE, JobResult, JobStopped, JobWork
from unhack.server.scoring.fair_semaphore import FairSemaphore
from unhack.store.files import write_whole

_log = logging.getLogger("unhack.server")
_PACKAGES = ("numpy", "scipy", "safetensors")
_LOOKS = 4
_PAUSE_S = 5.0
"""Before a database that did not answer is asked again."""
_GRACE_S = 5.0
"""Seconds that a server's end waits for jobs to see it."""


class JobRunner:
    """The jobs of one server."""

    def __init__(self, database: Database, data: Path, *, at_once: int) -> None:
        self.store = JobStore(database)
        self._folder = data.resolve() / "jobs"  # whole, so that it can be cut out of reports
        self._at_once = at_once
        self._work: dict[str, JobWork] = {}
        self._changed = threading.Condition()
        self._changes = 0
        """Orders and ends so far."""
        self._taking = threading.Lock()
        """Held by the one thread that asks the database for a job."""
        self.looks = FairSemaphore(_LOOKS)
        """Places of orders that are looked at, given on the event loop to tenants in turn: a
        source takes seconds to parse, and threads that wait for that are few."""
        self._looking = threading.Lock()
        self._closing = False
        self._unsure = False
        """True when a claim may be stored of which nobody here knows."""
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Take up what an earlier process left behind, and begin to work."""
        self.store.reopen()
        for number in range(self._at_once):
            thread = threading.Thread(target=self._run, name=f"unhack-job-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Stop working; what runs goes on with the next process."""
        with self._changed:
            self._closing = True
            for work in self._work.values():
                work.stopping.set()
            self._tell()
        for thread in self._threads:
            thread.join(_GRACE_S)

    def order(self, job: NewJob, order: AuditOrder | TournamentOrder) -> str:
        """The id of a job, stored when this returns; the same one for the same idempotency key.

        Raises UsageError for an order that cannot be carried out, RequestRefused (422, 429).
        """
        known = self.store.known(job)
        if known is not None:
            return str(known["id"])
        self.store.check_room(job.tenant_id)
        job_id = new_job_id()
        folder = self.folder_of(job_id, job.tenant_id)
        folder.mkdir(parents=True, mode=0o700)
        try:
            if isinstance(order, AuditOrder):
                with self._looking:  # a source may take seconds to parse; others go on meanwhile
                    check_audit(order, folder)
            else:
                require("tournament", *_PACKAGES, purpose="a tournament")
                # a server without unhack[tournament] has no numpy
                from unhack.server.jobs.tournament_jobs import check_tournament

                check_tournament(order)
            self.store.add(job_id, job)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            twin = self.store.known(job) if isinstance(error, IntegrityError) else None
            if twin is not None:  # the same key at the same time
                return str(twin["id"])
            raise
        with self._changed:
            self._tell()
        return job_id

    def cancel(self, job_id: str) -> None:
        """End an open job; harmless for one that has ended."""
        self.store.cancel(job_id)
        with self._taking, self._changed:  # what was claimed before is known by now
            work = self._work.get(job_id)
            if work is not None:
                work.stopping.set()

    def progress(self, job_id: str) -> JobProgress | None:
        """The progress of a job that runs here."""
        work = self._work.get(job_id)
        return None if work is None else work.progress

    def page(self, job_id: str, tenant_id: int) -> bytes | None:
        """The HTML report of a job; None before its end."""
        path = self.folder_of(job_id, tenant_id) / PAGE
        return path.read_bytes() if path.is_file() else None

    def prune(self, before: float) -> int:
        """Delete the jobs that ended before a time, in seconds since 1970, and their folders; their
        number."""
        old = self.store.ended_before(before)
        for job_id, tenant_id in old:
            shutil.rmtree(self.folder_of(job_id, tenant_id), ignore_errors=True)
            self.store.forget(job_id)
        return len(old)

    def folder_of(self, job_id: str, tenant_id: int) -> Path:
        """The folder of a job."""
        return self._folder / f"tenant-{tenant_id}" / f"job-{job_id}"

    def _run(self) -> None:
        while (taken := self._next()) is not None:
            row, work = taken
            try:
                self._do(row, work)
            finally:
                with self._changed:
                    self._work.pop(work.id, None)
                    self._tell()

    def _next(self) -> tuple[sa.RowMapping, JobWork] | None:
        """The next job, waited for; None at the end. Whoever waits for the database here keeps no
        order, cancellation or end waiting."""
        while not self._closing:
            with self._changed:
                seen = self._changes
            pause = None
            with self._taking:
                try:
                    taken = self._take()
                except Exception as error:  # the database
                    _log.error("jobs wait for the database", exc_info=error)
                    self._unsure, taken, pause = True, None, _PAUSE_S
            if taken is not None:
                return taken
            with self._changed:
                self._changed.wait_for(functools.partial(self._is_news, seen), pause)
        return None

    def _is_news(self, seen: int) -> bool:
        return self._closing or self._changes != seen

    def _tell(self) -> None:
        """Have all threads look again; with `_changed` held."""
        self._changes += 1
        self._changed.notify_all()

    def _take(self) -> tuple[sa.RowMapping, JobWork] | None:
        """The oldest waiting job of the tenant with the fewest that run; None where none waits."""
        with self._changed:
            known = dict(self._work)  # none is added by another thread: `_taking` is held
        if self._unsure:
            self.store.reopen(but=list(known))
            self._unsure = False
        running = Counter(work.tenant_id for work in known.values())
        waiting = self.store.queued()
        for row in sorted(waiting, key=lambda one: running[one["tenant_id"]]):
            if running[row["tenant_id"]] >= max(1, self._at_once - 1):
                return None  # a place is left for another tenant's job
            if row["id"] in known or not self.store.claim(row["id"]):
                continue
            folder = self.folder_of(row["id"], row["tenant_id"])
            folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            work = JobWork(row["id"], row["tenant_id"], folder)
            with self._changed:
                self._work[work.id] = work
                if self._closing:
                    work.stopping.set()
            return row, work
        return None

    def _do(self, row: sa.RowMapping, work: JobWork) -> None:
        try:
            result = _carried_out(str(row["kind"]), json.loads(row["request"]), work)
            write_whole(work.folder / PAGE, result.page.encode("utf-8", "backslashreplace"))
        except JobStopped:
            return  # it is cancelled, or waits for the next process
        except UnhackError as error:
            words = str(without_paths(str(error), work.folder)).replace("\0", "\\0")
            self._store_end(work, error=words.encode("utf-8", "backslashreplace").decode())
            return
        except BaseException as error:
            self._store_end(work, error=_failed(error))
            return
        self._store_end(work, result=json.dumps(result.report, allow_nan=False))

    def _store_end(
        self, work: JobWork, *, result: str | None = None, error: str | None = None
    ) -> None:
        """Store how a job ended, again and again where the database does not take it, until this
        process leaves the job to the next."""
        ended_at = time.time()
        while True:
            try:
                self.store.finish(work.id, result=result, error=error, at=ended_at)
                return
            except (SQLAlchemyError, DatabaseTakenError) as unstored:
                _log.error(
                    "the end of a job will be stored", exc_info=unstored, extra={"job": work.id}
                )
            except Exception as broken:  # the database is closed, for one
                _log.error("a job could not be stored", exc_info=broken, extra={"job": work.id})
                return
            with self._changed:
                if self._changed.wait_for(lambda: self._closing, _PAUSE_S):
                    return


def _failed(error: BaseException) -> str:
    """The words for a client; the log gets the trace."""
    number = uuid.uuid4().hex[:12]
    _log.error("job failed", exc_info=error, extra={"error_id": number})
    return f"unhack failed; the server's log has it under {number}"


def _carried_out(kind: str, request: dict[str, Any], work: JobWork) -> JobResult:
    with contextlib.suppress(FileNotFoundError):
        (work.folder / PAGE).unlink()
    if kind == "audit":
        return run_audit(AuditOrder.model_validate(request), work)
    require("tournament", *_PACKAGES, purpose="a tournament")
    # a server without unhack[tournament] has no numpy
    from unhack.server.jobs.tournament_jobs import run_tournament

    return run_tournament(TournamentOrder.model_validate(request), work)
