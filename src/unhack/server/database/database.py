"""The database: reads on any thread, writes by one that puts many into one transaction.

A write is acknowledged when its transaction is on the disk. Writers that come while a transaction
is being written share the next one, so a thousand verdicts cost few waits for the disk.

Covered: a write that fails is rolled back alone; the others of its transaction are written again
without it. A caller that gives up neither stops the write nor the writer. A second server on the
same database is refused: PostgreSQL's lock belongs to the session that writes, so a server that
lost its session, as when PostgreSQL was started anew, writes nothing before it has the lock again.
No statement's values are in an error's text.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from dataclasses import dataclass, field
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any, TextIO, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from unhack.core.errors import UnhackError, UsageError

T = TypeVar("T")
AnySelect = sa.Select[*tuple[Any, ...]]
_GATHERED = 1000
"""Most writes of one transaction."""
_SERVER_LOCK = 0x756E6861636B
"""The number of PostgreSQL's advisory lock that a server holds."""
_NO_URL = (
    "--database is not a URL such as postgresql://user@host/name, with '@', ':', '/' and '#' of a "
    "password as %40, %3A, %2F and %23"
)
_IN_USE = "another server uses this database; give each one its own --data or --database"


_LEAST_ROOM, _SOON_S, _LATER_S = 8 << 20, 5.0, 30.0
"""Bytes that a disk which was full must have again; seconds in which it is full whatever it says,
and in which one of another machine, which says nothing, is."""


class DatabaseTakenError(UnhackError):
    """Another server has the database that this one had: nothing is written."""


def is_of_the_disk(error: BaseException) -> bool:
    """True where the disk of the database is full, or fails."""
    cause = getattr(error, "orig", error)
    code = getattr(cause, "sqlite_errorcode", None)
    by_sqlite = code is not None and code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
    return by_sqlite or getattr(cause, "sqlstate", None) == "53100"  # disk_full of PostgreSQL


@dataclass(frozen=True, slots=True)
class _Write:
    action: Callable[[sa.Connection], Any]
    done: Future[Any] = field(default_factory=Future[Any])

    def __post_init__(self) -> None:
        self.done.set_running_or_notify_cancel()  # from here on nobody can cancel it


class Database:
    """SQLite or PostgreSQL behind one writer thread."""

    def __init__(self, url: str) -> None:
        """Raises UsageError for a URL that names no database we know; it tells nothing of the URL,
        which may hold a password."""
        try:
            parsed = sa.make_url(url)
        except (ArgumentError, ValueError):
            raise UsageError(_NO_URL) from None
        if parsed.host is not None and "@" in parsed.host:
            raise UsageError(_NO_URL)
        if parsed.get_backend_name() not in ("sqlite", "postgresql"):
            raise UsageError(f"--database names {parsed.get_backend_name()}; sqlite or postgresql")
        if parsed.get_backend_name() == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        self.engine = sa.create_engine(
            parsed, pool_pre_ping=True, hide_parameters=True, pool_size=8, max_overflow=40
        )
        if parsed.get_backend_name() == "sqlite":
            event.listen(self.engine, "connect", _set_up_sqlite)
        self._lock_file: TextIO | None = None
        self._session: sa.Connection | None = None
        """PostgreSQL: the session that has the lock, by which a server writes."""
        self.is_taken = False
        """True while another server has the database that this one had."""
        self._full: tuple[OperationalError, float] | None = None
        self._closed = False
        self._queue: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="unhack-database", daemon=True)
        self._thread.start()

    @classmethod
    def in_folder(cls, folder: Path) -> Database:
        """The SQLite database of a data folder, which is made where it is missing; its files are
        the owner's alone. Raises UsageError for a folder that cannot be written to."""
        path = folder / "unhack.sqlite"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            with _open_lock(path) as lock:
                was_served = lock.tell() > 0
            is_empty = path.stat().st_size == 0
        except OSError as error:
            named = error.filename or path
            raise UsageError(
                f"--data {folder}: {named}: {error.strerror}; give a folder that can be written to"
            ) from None
        if was_served and is_empty:
            raise UsageError(
                f"--data {folder}: {path} is empty, and a server has had it: restore it from a "
                f"backup, or remove it and {path.name}.lock to begin anew"
            )
        return cls(f"sqlite:///{path}")

    def claim(self) -> None:
        """Make this process the database's only server until it ends. Raises UsageError."""
        if self._lock_file is not None or self._session is not None:
            return
        if self.engine.dialect.name == "postgresql":
            self._session = self._locked_session()
            if self._session is None:
                raise UsageError(_IN_USE)
            return
        name = self.engine.url.database
        if name is None or name in ("", ":memory:"):
            raise UsageError(
                "--database does not name a file; give one, such as sqlite:////var/lib/unhack.sqlite"
            )
        file = _open_lock(Path(name))  # held until the process ends
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            file.close()
            raise UsageError(_IN_USE) from None
        if not file.tell():  # `in_folder` tells a new database by it from one that lost its content
            file.write("served\n")
            file.flush()
        self._lock_file = file

    def read(self, action: Callable[[sa.Connection], T]) -> T:
        """Run `action` in this thread and return what it read."""
        with self.engine.connect() as connection:
            try:
                return action(connection)
            finally:
                if self._closed:  # a late reader's goes with this block: its pool is gone
                    connection.detach()

    def rows(self, asked: AnySelect) -> list[sa.RowMapping]:
        """The rows of a query."""
        return self.read(lambda connection: list(connection.execute(asked).mappings()))

    def row(self, asked: AnySelect) -> sa.RowMapping | None:
        """The one row of a query; None for none."""
        return self.read(lambda connection: connection.execute(asked).mappings().one_or_none())

    def scalar(self, asked: AnySelect) -> Any:
        """The first column of a query's first row; None without a row."""
        return self.read(lambda connection: connection.execute(asked).scalar())

    def execute(self, statement: sa.Executable, values: Any = None) -> Future[int]:
        """Queue one statement; the number of rows that it changed. See `write`."""
        return self.write(lambda connection: connection.execute(statement, values).rowcount)

    def write(self, action: Callable[[sa.Connection], T]) -> Future[T]:
        """Queue a write; the future is done when it is on the disk. `action` may run twice.

        Raises UsageError after `close`.
        """
        if self._closed:
            raise UsageError("the database is closed")
        asked = _Write(action)
        self._queue.put(asked)
        return asked.done

    def close(self) -> None:
        """Write what is queued, then end."""
        if self._closed:
            return
        self._closed = True
        self._queue.put(None)
        self._thread.join()
        for held in (self._lock_file, self._session):
            if held is not None:
                held.close()
        self.engine.dispose()

    @property
    def disk_error(self) -> OperationalError | None:
        """The error of a write that the disk did not take, a moment ago or without room since."""
        if self._full is None:
            return None
        error, at = self._full
        ago = time.monotonic() - at
        name = self.engine.url.database if self.engine.dialect.name == "sqlite" else None
        if name is None:
            return error if ago < _LATER_S else None
        is_full = ago < _SOON_S or shutil.disk_usage(Path(name).parent).free < _LEAST_ROOM
        return error if is_full else None

    @property
    def waiting(self) -> int:
        """Writes that are queued."""
        return self._queue.qsize()

    def _work(self) -> None:
        while True:
            first = self._queue.get()
            if first is None:
                return
            gathered, over = [first], False
            while len(gathered) < _GATHERED and not self._queue.empty():
                more = self._queue.get()
                if more is None:
                    over = True
                    break
                gathered.append(more)
            self._write_all(gathered)
            if over:
                return

    def _write_all(self, gathered: list[_Write]) -> None:
        """Write all in one transaction; where that fails, each in one of its own."""
        try:
            with self._transaction() as connection:
                results = [asked.action(connection) for asked in gathered]
        except Exception as error:
            if len(gathered) == 1:
                if isinstance(error, OperationalError) and is_of_the_disk(error):
                    self._full = error, time.monotonic()
                gathered[0].done.set_exception(error)
                return
            for asked in gathered:
                self._write_all([asked])
            return
        for asked, result in zip(gathered, results, strict=True):
            asked.done.set_result(result)

    @contextlib.contextmanager
    def _transaction(self) -> Generator[sa.Connection]:
        """A transaction of the writer. Raises DatabaseTakenError."""
        if self._session is None:
            with self.engine.begin() as connection:
                yield connection
            return
        # The lock ends with the session: by now another server may have it, and two would write.
        if not _is_alive(self._session):
            if not self._session.closed:
                self._session.invalidate()
                self._session.close()
            locked = self._locked_session()
            self.is_taken = locked is None
            if locked is None:
                raise DatabaseTakenError(
                    "this server lost its session with the database, which another one has; end one"
                )
            self._session = locked
        with self._session.begin():
            yield self._session

    def _locked_session(self) -> sa.Connection | None:
        """A session of PostgreSQL that has the server's lock; None where another one has it."""
        connection = self.engine.connect()
        try:
            asked = sa.select(sa.func.pg_try_advisory_lock(_SERVER_LOCK))
            taken = connection.execute(asked).scalar()
            connection.commit()
        except BaseException:
            connection.close()
            raise
        if not taken:
            connection.close()
            return None
        return connection


def _is_alive(session: sa.Connection) -> bool:
    """True for the session that it was; SQLAlchemy opens a lost one anew by itself."""
    if session.closed or session.invalidated:
        return False
    try:
        session.exec_driver_sql("SELECT 1")
        session.rollback()
    except DBAPIError:
        return False
    return True


def _open_lock(database: Path) -> TextIO:
    return Path(f"{database}.lock").open("a")


def _set_up_sqlite(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=30000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
