"""The ledger of a tournament: named values in a run folder, and the log of how they came about.

    DIR/state.sqlite    named JSON values, with their events
    DIR/events.jsonl    the same events as a hash chain, for people and other programs
    DIR/head.json       number and hash of the newest event
    DIR/secret          32 random bytes, readable by the owner alone

Covered: what `store.run_folder` covers; a folder without permission (StoreError); a log that was
changed or cut, a value, a head or a secret that was edited (StoreError on opening, see
`store.agreement`); a database older than its log (StoreError).
Not covered: what else lies in the folder.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from unhack.core.errors import UsageError
from unhack.store.agreement import (
    STORED,
    check_log,
    check_values,
    head_number,
    head_text,
    value_hash,
)
from unhack.store.errors import StoreError, storing
from unhack.store.events import Event, EventLog, chain, check_chain, parse_line
from unhack.store.files import write_whole
from unhack.store.run_folder import FORMAT, LOCK, RunFolder
from unhack.store.state import StoredState, create_state, value_text

_KIND = "tournament"
_STATE, _EVENTS, _SECRET, _HEAD = "state.sqlite", "events.jsonl", "secret", "head.json"
_SECRET_HASH = "secret"
"""In the data of the first event."""


class Ledger:
    """One opened ledger. Threads may share it; processes may not, but for reading."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open what `create_ledger` made.

        Raises UsageError where there is no run, StoreError where it is in use, damaged or not
        accessible.
        """
        if not (path / _STATE).is_file():
            raise UsageError(f"{path}: there is no run in this folder")
        self._turn = threading.Lock()
        self._seen: dict[str, str] | None = None
        self._unbound: tuple[str, ...] = ()
        self._failed = ""
        self._folder = RunFolder(path, kind=_KIND, read_only=read_only)
        try:
            self._state = StoredState(path / _STATE, read_only=read_only)
            try:
                self._open_log()
            except BaseException:
                self._state.close()
                raise
        except BaseException:
            self._folder.close()
            raise

    @property
    def path(self) -> Path:
        """The run folder."""
        return self._folder.path

    @property
    def secret(self) -> bytes:
        """32 bytes that nobody but the owner may read. Raises StoreError."""
        with storing(self.path):
            return (self.path / _SECRET).read_bytes()

    @property
    def events(self) -> tuple[Event, ...]:
        """All events, in order."""
        return tuple(self._log.events)

    @property
    def head(self) -> str:
        """The hash of the newest event; empty before the first."""
        return self._log.last.hash if self._log.last else ""

    @property
    def unbound(self) -> tuple[str, ...]:
        """Keys of values that no event vouches for: written by an earlier version."""
        return self._unbound

    def get(self, key: str) -> Any:
        """The value of a key; None where there is none. A reader sees one moment's values."""
        if self._seen is None:
            return self._state.get(key)
        return json.loads(self._seen[key]) if key in self._seen else None

    def under(self, prefix: str) -> dict[str, Any]:
        """Every key that begins with `prefix`, in order, with its value."""
        if self._seen is None:
            return self._state.under(prefix)
        found = sorted(item for item in self._seen.items() if item[0].startswith(prefix))
        return {key: json.loads(text) for key, text in found}

    def change(self, kind: str, values: Mapping[str, Any], **data: Any) -> None:
        """Store values, and the event `kind` with its `data`. On the disk when this returns.

        Raises StoreError; then either nothing is stored or everything will be found on the next
        opening.
        """
        with self._turn:
            if self._failed:
                raise StoreError(self._failed)
            stored = {key: value_hash(value_text(value)) for key, value in values.items()}
            told = {**data, STORED: stored}
            if self._log.last is None:
                told[_SECRET_HASH] = hashlib.sha256(self.secret).hexdigest()
            event = chain(self._log.last, time=round(time.time(), 3), kind=kind, data=told)
            self._state.change(values, event)
            try:
                self._log.append(event)
                self._folder.write(_HEAD, head_text(event))
            except StoreError as error:
                self._failed = str(error)
                raise

    def close(self) -> None:
        """Give it to the next process. Harmless when closed."""
        self._state.close()
        self._folder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_log(self) -> None:
        """Read log, head and database, hold them against each other, and catch up with what a crash
        kept out of log and head; the database is always the newest. Raises StoreError.

        They are read in the order in which another process may be writing them, the other way
        round, so that a reader finds in each at least what the one before it had.
        """
        read_only = self._folder.read_only
        least = max(0, self._state.length() - 1)
        head = self._folder.read(_HEAD)
        self._log = EventLog(self.path / _EVENTS, repair=not read_only)
        lines, values = self._state.snapshot()
        events = [parse_line(line) for line in lines]
        check_chain(events)
        logged = [event.line() for event in self._log.events]
        old = not (events and STORED in events[0].data)
        check_log(self.path, lines, logged, least=0 if old else least)
        number = head_number(self.path, head, events, least=least)
        check_log(self.path, lines, logged, least=number)
        self._unbound = check_values(self.path, events, values)
        self._check_secret(events)
        self._seen = values if read_only else None
        for event in events[len(logged) :]:
            if read_only:
                self._log.events.append(event)
            else:
                self._log.append(event)
        if events and not read_only and number != len(events):
            self._folder.write(_HEAD, head_text(events[-1]))

    def _check_secret(self, events: Sequence[Event]) -> None:
        told = events[0].data.get(_SECRET_HASH) if events else None
        if told is None:
            return
        try:
            found = (self.path / _SECRET).read_bytes()
        except PermissionError:
            return  # somebody else's run, to look at
        except OSError as error:
            raise StoreError(f"{self.path / _SECRET}: {error.strerror}; restore it") from error
        if hashlib.sha256(found).hexdigest() != told:
            raise StoreError(f"{self.path / _SECRET} was changed; restore the folder from a copy")


def create_ledger(path: Path, *, secret: bytes | None = None) -> Ledger:
    """A new ledger in a directory that is not there yet, or is empty.

    `secret` instead of 32 random bytes makes a run repeatable. Raises UsageError for a directory
    with something in it, StoreError where nothing can be written.
    """
    with storing(path):
        if path.exists() and not path.is_dir():
            raise UsageError(f"{path} is no directory")
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _begun(path):
            raise UsageError(f"{path}: this folder is not empty; choose another, or resume")
        write_whole(path / _SECRET, secret or secrets.token_bytes(32), mode=0o600)
    if not (path / _STATE).exists():
        create_state(path / _STATE)
    return Ledger(path)


def _begun(path: Path) -> bool:
    """True where a directory holds more than a crash between its first files leaves behind."""
    ours = {_SECRET, LOCK, FORMAT, *(f"{_STATE}{end}" for end in ("", "-wal", "-shm"))}
    strange = [item for item in path.iterdir() if not item.name.startswith(".new-")]
    if any(item.name not in ours for item in strange):
        return True
    if not (path / _STATE).is_file():
        return False
    state = StoredState(path / _STATE)
    try:
        return bool(state.events())
    finally:
        state.close()
