"""The service: what every route works with, made once for each process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request

from unhack.integrations.judge import Judge
from unhack.server.access.caller import Caller
from unhack.server.access.directory import Directory
from unhack.server.database.database import Database
from unhack.server.environments.episode_book import EpisodeBook
from unhack.server.jobs.job_runner import JobRunner


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings of one server."""

    data: Path
    """The folder of the run folders of jobs, and of the SQLite database where no URL is given."""
    database: str | None = None
    """URL of a database; None is SQLite in `data`."""
    body_bytes: int = 64 << 20
    """Longest body of a request."""
    jobs_at_once: int = 2
    """Audits and tournaments that run at a time; the others wait."""


@dataclass(frozen=True, slots=True)
class Service:
    """The database, who may come in, and the judge."""

    settings: ServerSettings
    database: Database
    directory: Directory
    judge: Judge
    jobs: JobRunner
    episodes: EpisodeBook

    def close(self) -> None:
        """Write what is queued; the judge's pool belongs to the process."""
        self.episodes.close()
        self.jobs.close()
        self.database.close()


def make_service(settings: ServerSettings) -> Service:
    """The service of this process. Raises UsageError for a URL that names no database."""
    url = settings.database
    database = Database(url) if url else Database.in_folder(settings.data)
    jobs = JobRunner(database, settings.data, at_once=settings.jobs_at_once)
    return Service(settings, database, Directory(database), Judge(), jobs, EpisodeBook())


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
