"""The service: what every route works with, made once for each process."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request

from unhack.server.access.caller import Caller
from unhack.server.access.callers import Callers
from unhack.server.access.directory import Directory
from unhack.server.connection_gate import ConnectionGate
from unhack.server.database.database import Database
from unhack.server.database.migrate import migrate
from unhack.server.http.body_room import BodyRoom
from unhack.server.http.idempotency import IdempotencyKeys
from unhack.server.jobs.episode_book import EpisodeBook
from unhack.server.jobs.job_runner import JobRunner
from unhack.server.jobs.pruning import Pruning
from unhack.server.observing.metrics import Metrics
from unhack.server.scoring.batch_store import BatchStore
from unhack.server.scoring.catalogue import make_catalogue
from unhack.server.scoring.scoring import ScoringService
from unhack.server.scoring.task_names import TaskNames
from unhack.server.scoring.tenant_limits import TenantLimits


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings of one server."""

    data: Path
    """The folder of the run folders of jobs, and of the SQLite database where no URL is given."""
    database: str | None = None
    """URL of a database; None is SQLite in `data`."""
    body_bytes: int = 64 << 20
    """Longest body of a request."""
    bodies_bytes: int = 512 << 20
    """Memory of all bodies together, as they come and as they are parsed."""
    tasks: tuple[Path, ...] = ()
    """Folders of tasks beside the built-in ones."""
    tenant_items: int = 100_000
    """Most completions of a tenant that are accepted and not judged."""
    tenant_requests: int = 60_000
    """Most requests of a tenant in a minute."""
    jobs_at_once: int = 2
    """Audits and tournaments that run at a time; the others wait."""
    keep_days: float | None = None
    """Days for which batches and jobs are kept that have ended; None for ever."""
    outputs: bool = True
    """True when outputs of failing cases are stored beside their verdict."""
    runs: tuple[Path, ...] = ()
    """Folders whose run folders the pages show, beside those in `data`."""


class Service:
    """The database, who may come in, and the judge."""

    def __init__(self, settings: ServerSettings) -> None:
        """Raises UsageError, TaskError."""
        catalogue = make_catalogue(settings.tasks)
        self.settings = settings
        self.database = database = open_database(settings)
        try:
            database.claim()
        except BaseException:
            database.close()
            raise
        self.directory = Directory(database)
        self.callers = Callers(self.directory)
        self.store = BatchStore(database, outputs=settings.outputs)
        self.limits = limits = TenantLimits(
            items=settings.tenant_items, requests=settings.tenant_requests
        )
        self.names = TaskNames(catalogue, self.store)
        self.scoring = scoring = ScoringService(self.store, self.names, limits)
        self.connection_gate = gate = ConnectionGate()
        self.metrics = Metrics(
            {
                "items_open": (lambda: limits.open, "Completions accepted and not judged"),
                "places_taken": (lambda: scoring.slots.taken, "Completions at the judge"),
                "requests_open": (lambda: gate.in_progress, "Requests without a whole reply"),
                "writes_waiting": (lambda: database.waiting, "Writes that wait for the database"),
            }
        )
        scoring.on_verdict = self.metrics.count_verdict
        self.room = BodyRoom(longest=settings.body_bytes, together=settings.bodies_bytes)
        self.idempotency = IdempotencyKeys()
        self.jobs = JobRunner(database, settings.data, at_once=settings.jobs_at_once)
        self.episodes = EpisodeBook()
        self.pruning = Pruning(database, self.jobs, keep_days=settings.keep_days)

    async def start(self) -> None:
        """Go on with what an earlier server accepted."""
        await self.scoring.start()
        await asyncio.to_thread(self.jobs.start)
        self.pruning.start()

    async def stop(self) -> None:
        """Leave unfinished work for the next start, write what is queued; the judge's pool belongs
        to the process."""
        await self.pruning.stop()
        await self.scoring.stop()
        self.episodes.close()
        await asyncio.to_thread(self.jobs.close)
        self.database.close()


def open_database(settings: ServerSettings) -> Database:
    """The database, brought up to date. Raises UsageError for one that cannot be used."""
    url = settings.database
    database = Database(url) if url is not None else Database.in_folder(settings.data)
    try:
        migrate(database.engine)
    except BaseException:
        database.close()
        raise
    return database


def service_of(request: Request) -> Service:
    """The service behind a request."""
    found = request.app.state.service
    assert isinstance(found, Service)
    return found


def caller_of(request: Request) -> Caller:
    """The owner of the key that the request carries."""
    found = request.state.caller
    assert isinstance(found, Caller)
    return found
