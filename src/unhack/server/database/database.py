"""The database: reads on any thread, writes by one that puts many into one transaction.

A write is acknowledged when its transaction is on the disk. Writers that come while a transaction
is being written share the next one, so a thousand verdicts cost few waits for the disk.

Covered: a write that fails is rolled back alone; the others of its transaction are written again
without it.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError

from unhack.core.errors import UsageError

T = TypeVar("T")
_GATHERED = 1000
"""Most writes of one transaction."""


@dataclass(frozen=True, slots=True)
class _Write:
    action: Callable[[sa.Connection], Any]
    done: Future[Any] = field(default_factory=Future[Any])


class Database:
    """SQLite or PostgreSQL behind one writer thread."""

    def __init__(self, url: str) -> None:
        """Raises UsageError for a URL that names no database we know."""
        try:
            parsed = sa.make_url(url)
        except ArgumentError:
            raise UsageError("--database is no URL; such as postgresql://user@host/name") from None
        if parsed.get_backend_name() not in ("sqlite", "postgresql"):
            raise UsageError(f"--database names {parsed.get_backend_name()}; sqlite or postgresql")
        if parsed.get_backend_name() == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        self.engine = sa.create_engine(parsed, pool_pre_ping=True)
        if parsed.get_backend_name() == "sqlite":
            event.listen(self.engine, "connect", _set_up_sqlite)
        self._queue: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="unhack-database", daemon=True)
        self._thread.start()

    @classmethod
    def in_folder(cls, folder: Path) -> Database:
        """The SQLite database of a data folder, which is made where it is missing."""
        folder.mkdir(parents=True, exist_ok=True)
        return cls(f"sqlite:///{folder / 'unhack.sqlite'}")

    def read(self, action: Callable[[sa.Connection], T]) -> T:
        """Run `action` in this thread and return what it read."""
        with self.engine.connect() as connection:
            return action(connection)

    def write(self, action: Callable[[sa.Connection], T]) -> Future[T]:
        """Queue a write; the future is done when it is on the disk. `action` may run twice."""
        asked = _Write(action)
        self._queue.put(asked)
        return asked.done

    def close(self) -> None:
        """Write what is queued, then end."""
        self._queue.put(None)
        self._thread.join()
        self.engine.dispose()

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
            with self.engine.begin() as connection:
                results = [asked.action(connection) for asked in gathered]
        except Exception as error:
            if len(gathered) == 1:
                gathered[0].done.set_exception(error)
                return
            for asked in gathered:
                self._write_all([asked])
            return
        for asked, result in zip(gathered, results, strict=True):
            asked.done.set_result(result)


def _set_up_sqlite(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=30000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
