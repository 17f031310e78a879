"""The folder of one run, held by one writer; its files are whole, its logs grow by whole lines.

    DIR/lock         held while a process writes
    DIR/format.json  the kind of run, and the version of its files

On it stand the ledger of a tournament (`store.ledger`), the records of a training run
(`run.folder`) and the scores of an audit (`proving.journal`).

Covered: a second writer (StoreError); a kill, a power cut or a full disk at any point; the folder
of another kind of run (UsageError) or of a later version (StoreError). A folder without
`format.json` is of version 1, of the kind for which it is opened.
Not covered: what else lies in the folder; file systems that lie about fsync, or have no locks;
caches that several runs share and write at once.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from unhack.core.errors import UsageError
from unhack.store.errors import StoreError, storing
from unhack.store.files import append_whole, read_whole_lines, write_whole

LOCK, FORMAT = "lock", "format.json"
VERSION = 1
"""Of the files of every kind of run; raised when an older program would misread them."""


class RunFolder:
    """A run folder, held for writing or only read. Threads may share it."""

    def __init__(self, path: Path, *, kind: str, read_only: bool = False) -> None:
        """Hold a folder, made where it is missing, for a `kind` of run; or open one for reading.

        Raises UsageError for the folder of another kind of run, StoreError where it is in use,
        damaged, of a later version or not accessible.
        """
        self.path = path
        self.read_only = read_only
        self._lock = -1 if read_only else _hold(path)
        try:
            self._check_format(kind)
        except BaseException:
            self.close()
            raise

    def read(self, name: str) -> bytes | None:
        """The content of a file; None where there is none. Raises StoreError."""
        with storing(self.path):
            path = self.path / name
            return path.read_bytes() if path.exists() else None

    def write(self, name: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file as a whole, on the disk when this returns. Raises StoreError."""
        with storing(self.path):
            write_whole(self.path / name, data, mode=mode)

    def append(self, log: str, lines: bytes, *, sync: bool = False) -> None:
        """Add whole lines to a log, all or none; with `sync` on the disk when this returns.

        Raises StoreError.
        """
        with storing(self.path):
            append_whole(self.path / log, lines, sync=sync)

    def lines(self, log: str) -> list[bytes]:
        """The whole lines of a log; a writer cuts off one that a crash left. Raises StoreError."""
        with storing(self.path):
            return read_whole_lines(self.path / log, repair=not self.read_only)

    def lengths(self, logs: Iterable[str]) -> dict[str, int]:
        """Bytes of logs, which are on the disk when this returns. Raises StoreError."""
        found: dict[str, int] = {}
        with storing(self.path):
            for name in logs:
                with (self.path / name).open("rb") as file:
                    os.fsync(file.fileno())
                    found[name] = file.seek(0, os.SEEK_END)
        return found

    def cut_back(self, lengths: Mapping[str, int]) -> None:
        """Cut logs back to so many bytes. Raises StoreError where one has less."""
        with storing(self.path):
            for name, kept in lengths.items():
                with (self.path / name).open("r+b") as file:
                    if file.seek(0, os.SEEK_END) < kept:
                        raise StoreError(
                            f"{self.path / name}: shorter than its checkpoint says; restore the "
                            "folder from a copy, or begin anew in another one"
                        )
                    file.truncate(kept)

    def close(self) -> None:
        """Give the folder to the next process. Harmless when closed."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_format(self, kind: str) -> None:
        data = self.read(FORMAT)
        if data is None:
            if not self.read_only:
                text = json.dumps({"kind": kind, "version": VERSION}) + "\n"
                self.write(FORMAT, text.encode())
            return
        found, version = _parse_format(data, self.path)
        if found != kind:
            raise UsageError(
                f"{self.path}: this folder belongs to another kind of run ({found}, not {kind}); "
                "choose another folder"
            )
        if version > VERSION:
            raise StoreError(
                f"{self.path}: its files are of version {version}, and this unhack knows those up "
                f"to {VERSION}: use the unhack that wrote it, or a newer one"
            )


def _parse_format(data: bytes, path: Path) -> tuple[str, int]:
    """(kind, version). Raises StoreError for anything else."""
    try:
        found: Any = json.loads(data)
    except ValueError:
        found = None
    match found:
        case {"kind": str() as kind, "version": int() as version}:
            return kind, version
        case _:
            raise StoreError(f"{path / FORMAT}: damaged; restore the folder from a copy")


def _hold(path: Path) -> int:
    """The descriptor of a lock that no other process holds. Raises StoreError."""
    with storing(path):
        path.mkdir(parents=True, exist_ok=True)
        handle = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise StoreError(f"{path}: another process is at work in this folder") from None
        except BaseException:
            os.close(handle)
            raise
    return handle
