"""The ledger of a tournament: named values in a run folder, and the log of how they came about.

    DIR/state.sqlite    named JSON values, with their events
    DIR/events.jsonl    the same events as a hash chain, for people and other programs
    DIR/secret          32 random bytes, readable by the owner alone

Covered: what `store.run_folder` covers; a folder without permission (StoreError); a log that was
changed (StoreError on opening); a database older than its log (StoreError).
Not covered: what else lies in the folder.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from unhack.core.errors import UsageError
from unhack.store.errors import StoreError, storing
from unhack.store.events import Event, EventLog, chain
from unhack.store.files import write_whole
from unhack.store.run_folder import FORMAT, LOCK, RunFolder
from unhack.store.state import StoredState, create_state

_KIND = "tournament"
_STATE, _EVENTS, _SECRET = "state.sqlite", "events.jsonl", "secret"


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
        self._failed = ""
        self._folder = RunFolder(path, kind=_KIND, read_only=read_only)
        try:
            self._state = StoredState(path / _STATE, read_only=read_only)
            try:
                self._log = EventLog(path / _EVENTS, repair=not read_only)
                self._catch_up()
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

    def get(self, key: str) -> Any:
        """The value of a key; None where there is none."""
        return self._state.get(key)

    def under(self, prefix: str) -> dict[str, Any]:
        """Every key that begins with `prefix`, in order, with its value."""
        return self._state.under(prefix)

    def change(self, kind: str, values: Mapping[str, Any], **data: Any) -> None:
        """Store values, and the event `kind` with its `data`. On the disk when this returns.

        Raises StoreError; then either nothing is stored or everything will be found on the next
        opening.
        """
        with self._turn:
            if self._failed:
                raise StoreError(self._failed)
            event = chain(self._log.last, time=round(time.time(), 3), kind=kind, data=data)
            self._state.change(values, event)
            try:
                self._log.append(event)
            except StoreError as error:
                self._failed = str(error)
                raise

    def close(self) -> None:
        """Give it to the next process. Harmless when closed."""
        self._state.close()
        self._folder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _catch_up(self) -> None:
        """Append to the log what a crash kept out of it; the database is always the newer one."""
        last = self._log.last
        stored = self._state.events(after=max(0, last.n - 1) if last else 0)
        if last is not None and (not stored or stored[0] != last):
            raise StoreError(
                f"{self.path}: the log and the database tell different stories; restore the folder "
                "from a copy"
            )
        missing = stored[1:] if last is not None else stored
        for event in missing:
            if self._folder.read_only:
                self._log.events.append(event)
            else:
                self._log.append(event)


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
