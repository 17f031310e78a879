"""Records of runs by what was run: one SQLite file that several processes and runs share.

The key is a hash of the world's version, the hidden inputs and the completion, so a record serves
every problem and mode of a split, and a change of the probe makes all records new.

Covered: concurrent readers and writers (WAL), which is why it is no part of a run folder; a second
writer of a key is ignored, as both hold the same; a file that is full or damaged (StoreError).
Not covered: the file is trusted as the user's own; nothing in it is executed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from unhack.store.errors import storing

Item = TypeVar("Item")

_MAX_KEYS = 500
_TABLE = "CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, record TEXT) WITHOUT ROWID"


class RecordCache:
    """A mapping from key to record, in memory and on disk."""

    def __init__(self, path: Path) -> None:
        """Raises StoreError where the file cannot be opened."""
        with storing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._known: dict[str, Any] = {}
        self.hits = 0
        self.misses = 0
        with self._connect() as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(_TABLE)

    def find(self, keys: Iterable[str]) -> dict[str, Any]:
        """The stored records of these keys."""
        wanted = list(dict.fromkeys(keys))
        new = [key for key in wanted if key not in self._known]
        if new:
            with self._connect() as connection:
                for start in range(0, len(new), _MAX_KEYS):
                    part = new[start : start + _MAX_KEYS]
                    marks = ",".join("?" * len(part))
                    query = f"SELECT key, record FROM records WHERE key IN ({marks})"
                    for key, record in connection.execute(query, part):
                        self._known[key] = json.loads(record)
        found = {key: self._known[key] for key in wanted if key in self._known}
        self.hits += len(found)
        self.misses += len(wanted) - len(found)
        return found

    def keep(self, records: Mapping[str, Any]) -> None:
        """Add records."""
        self._known.update(records)
        rows = [(key, json.dumps(record, separators=(",", ":"))) for key, record in records.items()]
        with self._connect() as connection:
            connection.executemany("INSERT OR IGNORE INTO records VALUES (?, ?)", rows)

    def find_or_judge(
        self, keyed: Sequence[tuple[str, Item]], judge: Callable[[list[Item]], list[Any]]
    ) -> list[Any]:
        """The record of each (key, item), in order. Items without one are judged and kept."""
        found = self.find(key for key, _ in keyed)
        missing = {key: item for key, item in keyed if key not in found}
        if missing:
            fresh = dict(zip(missing, judge(list(missing.values())), strict=True))
            self.keep(fresh)
            found.update(fresh)
        return [found[key] for key, _ in keyed]

    @contextmanager
    def _connect(self) -> Generator[sqlite3.Connection]:
        """A connection for one transaction: processes that fork in between share no handle."""
        with storing(self._path.parent), closing(sqlite3.connect(self._path, timeout=60.0)) as base:
            base.execute("PRAGMA synchronous=NORMAL")
            with base:
                yield base
