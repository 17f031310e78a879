"""A server in this process: its app, its keys, a client that speaks to it without a socket.

`@pytest.mark.parametrize("database", BOTH, indirect=True)` runs a test on both databases; the
PostgreSQL is a real one, started for the session on a Unix socket, and skipped where there is none,
unless `UNHACK_TEST_DATABASE=postgresql` asks for it: then all other tests run on it too.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.service import ServerSettings, Service

_FOLDERS = tuple(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))
_CHOSEN = os.environ.get("UNHACK_TEST_DATABASE", "sqlite")
"""The database of tests that name none."""


def _absent(why: str) -> NoReturn:
    """End a test that needs PostgreSQL: as failed where it was asked for."""
    if _CHOSEN == "postgresql":
        pytest.fail(f"UNHACK_TEST_DATABASE asks for PostgreSQL: {why}")
    pytest.skip(f"no PostgreSQL here: {why}")


def _program(name: str) -> str | None:
    found = shutil.which(name, path=os.pathsep.join(map(str, _FOLDERS)))
    return found or shutil.which(name)


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL of the tests, whose superuser is `postgres`."""

    folder: Path
    """Of its socket and its data."""
    begin: tuple[str, ...]
    end: tuple[str, ...]

    @property
    def url(self) -> str:
        """The address of its first database."""
        return f"postgresql://postgres@/postgres?host={quote(str(self.folder))}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._run(self.begin)

    def stop(self) -> None:
        """End it at once."""
        self._run(self.end)

    def _run(self, command: tuple[str, ...]) -> None:
        subprocess.run(command, check=True, cwd=self.folder, stdout=subprocess.DEVNULL, timeout=300)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The socket folder of a running PostgreSQL."""
    with _running_postgres() as found:
        yield str(found.folder)


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A running PostgreSQL that a test may stop and start."""
    with _running_postgres() as found:
        yield found


@contextlib.contextmanager
def _running_postgres() -> Iterator[Postgres]:
    initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
    if initdb is None or pg_ctl is None:
        _absent("initdb and pg_ctl are not installed")
    as_user: list[str] = []
    if os.geteuid() == 0:  # PostgreSQL refuses root
        if shutil.which("setpriv") is None:
            _absent("it refuses root, and setpriv is not installed")
        as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    folder = Path(tempfile.mkdtemp(prefix="unhack-pg-", dir="/tmp"))
    if as_user:
        os.chown(folder, 65534, 65534)
    data = folder / "data"
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    make = [initdb, "-D", str(data), "-U", "postgres", "-A", "trust", "--no-sync"]
    control = [pg_ctl, "-D", str(data), "-w", "-t", "290"]  # of itself it waits for a minute
    start = [*control, "-o", options, "-l", str(folder / "log"), "start"]
    stop = [*control, "-m", "immediate", "stop"]
    made = Postgres(folder, (*as_user, *start), (*as_user, *stop))
    command = [*as_user, *make]
    try:
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, timeout=300)
        made.start()
        yield made
    finally:
        subprocess.run(made.end, check=False, cwd=folder, capture_output=True, timeout=300)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """The URL of an empty database; None is SQLite in the data folder."""
    if getattr(request, "param", _CHOSEN) == "sqlite":
        return None
    import psycopg

    folder = request.getfixturevalue("postgres")
    name = f"t_{os.getpid()}_{abs(hash(tmp_path))}"
    with psycopg.connect(host=folder, user="postgres", dbname="postgres", autocommit=True) as made:
        made.execute(f'CREATE DATABASE "{name}"')
    return f"postgresql://postgres@/{name}?host={quote(folder)}"


@pytest.fixture
def service(tmp_path: Path, database: str | None) -> Iterator[Service]:
    made = Service(ServerSettings(data=tmp_path / "data", database=database))
    yield made
    made.database.close()
    made.database.engine.dispose()  # a test may have read after the service's end


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    with TestClient(make_app(service), raise_server_exceptions=False) as found:
        yield found


@pytest.fixture
def key(service: Service) -> str:
    return service.directory.add_key("alpha", list(Grant))


@pytest.fixture
def other_key(service: Service) -> str:
    return service.directory.add_key("beta", list(Grant))
