"""Named JSON values in SQLite, each change together with the event that tells of it.

A change and its event are one transaction, on the disk when `change` returns (write-ahead log,
`synchronous=FULL`). The event log is written after it; what a crash kept out of the log is put
there from here on the next opening.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unhack.store.errors import storing
from unhack.store.events import Event, parse_line
from unhack.store.files import sync_folder

_TABLES = """
CREATE TABLE value (key TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE event (n INTEGER PRIMARY KEY, line BLOB NOT NULL);
"""


def value_text(value: Any) -> str:
    """The JSON under which a value is stored."""
    return json.dumps(value, sort_keys=True)


def create_state(path: Path) -> None:
    """A new database, there as a whole or not at all. Raises StoreError."""
    beside = path.with_name(f".new-{path.name}")
    with storing(path.parent):
        for left in path.parent.glob(f"{beside.name}*"):
            left.unlink()
        base = sqlite3.connect(beside, isolation_level=None)
        try:
            base.execute("PRAGMA journal_mode=WAL")
            base.execute("PRAGMA synchronous=FULL")
            base.executescript(_TABLES)
        finally:
            base.close()
        os.replace(beside, path)
        sync_folder(path.parent)


class StoredState:
    """The values of one database file. Threads may share it."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Raises StoreError where the file cannot be opened."""
        self._folder = path.parent
        self._lock = threading.Lock()
        with storing(self._folder):
            address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
            self._base = sqlite3.connect(
                address, uri=True, check_same_thread=False, isolation_level=None, timeout=30
            )
            if not read_only:
                self._base.execute("PRAGMA journal_mode=WAL")
                self._base.execute("PRAGMA synchronous=FULL")

    def change(self, values: Mapping[str, Any], event: Event) -> None:
        """Store values and the event as one. Raises StoreError; then nothing is stored."""
        rows = [(key, value_text(value)) for key, value in values.items()]
        with self._lock, storing(self._folder):
            self._base.execute("BEGIN IMMEDIATE")
            try:
                self._base.executemany("INSERT OR REPLACE INTO value VALUES (?, ?)", rows)
                self._base.execute("INSERT INTO event VALUES (?, ?)", (event.n, event.line()))
                self._base.execute("COMMIT")
            except BaseException:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                raise

    def get(self, key: str) -> Any:
        """The value of a key; None where there is none."""
        with self._lock, storing(self._folder):
            row = self._base.execute("SELECT json FROM value WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def under(self, prefix: str) -> dict[str, Any]:
        """Every key that begins with `prefix`, in order, with its value."""
        query = "SELECT key, json FROM value WHERE substr(key, 1, ?) = ? ORDER BY key"
        with self._lock, storing(self._folder):
            rows = self._base.execute(query, (len(prefix), prefix)).fetchall()
        return {key: json.loads(text) for key, text in rows}

    def events(self, *, after: int = 0) -> list[Event]:
        """The events with a number above `after`, in order."""
        query = "SELECT line FROM event WHERE n > ? ORDER BY n"
        with self._lock, storing(self._folder):
            rows = self._base.execute(query, (after,)).fetchall()
        return [parse_line(line) for (line,) in rows]

    def length(self) -> int:
        """The number of the newest event; 0 before the first."""
        with self._lock, storing(self._folder):
            [newest] = self._base.execute("SELECT coalesce(max(n), 0) FROM event").fetchone()
        return int(newest)

    def snapshot(self) -> tuple[list[bytes], dict[str, str]]:
        """(lines of all events in order, JSON text of each value), as of one moment."""
        with self._lock, storing(self._folder):
            self._base.execute("BEGIN")
            try:
                lines = self._base.execute("SELECT line FROM event ORDER BY n").fetchall()
                values = self._base.execute("SELECT key, json FROM value ORDER BY key").fetchall()
            finally:
                self._base.execute("ROLLBACK")
        events = [line if isinstance(line, bytes) else str(line).encode() for (line,) in lines]
        return events, {str(key): str(text) for key, text in values}

    def close(self) -> None:
        """Give the file back. Harmless when closed."""
        with self._lock:
            self._base.close()
