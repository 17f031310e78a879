"""The service: what every route works with, made once for each process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request

from unhack.integrations.judge import Judge
from unhack.server.access.caller import Caller
from unhack.server.access.directory import Directory
from unhack.server.database.database import Database


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings of one server."""

    data: Path
    """The folder of the run folders of jobs, and of the SQLite database where no URL is given."""
    database: str | None = None
    """URL of a database; None is SQLite in `data`."""
    body_bytes: int = 64 << 20
    """Longest body of a request."""
    runs: tuple[Path, ...] = ()
    """Folders whose run folders the pages show, beside those in `data`."""


@dataclass(frozen=True, slots=True)
class Service:
    """The database, who may come in, and the judge."""

    settings: ServerSettings
    database: Database
    directory: Directory
    judge: Judge

    def close(self) -> None:
        """Write what is queued; the judge's pool belongs to the process."""
        self.database.close()


def make_service(settings: ServerSettings) -> Service:
    """The service of this process. Raises UsageError for a URL that names no database."""
    url = settings.database
    database = Database(url) if url else Database.in_folder(settings.data)
    return Service(settings, database, Directory(database), Judge())


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
