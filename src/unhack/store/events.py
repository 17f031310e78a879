"""A log that only grows, each line bound to the one before by its hash.

A line is one JSON object: `n` (from 1), `time` (seconds since 1970), `kind`, `data`, `before` (hash
of the line before; 64 zeros for the first) and `hash`, the SHA-256 of the others. Every line is on
the disk when `append` returns.

Covered: a last line that a crash cut off (dropped), lines that were changed, removed, swapped or
put in (StoreError that names the first), two processes (the run folder's lock).
Not covered: somebody who writes the whole log anew; for that, keep the head elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhack.store.errors import StoreError, storing
from unhack.store.files import append_whole, read_whole_lines

START = "0" * 64
"""The hash before the first event."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened."""

    n: int
    time: float
    kind: str
    data: Mapping[str, Any]
    before: str
    hash: str

    def line(self) -> bytes:
        """The line of the log, with its line end."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"


def chain(last: Event | None, *, time: float, kind: str, data: Mapping[str, Any]) -> Event:
    """The event that follows `last`."""
    n, before = (1, START) if last is None else (last.n + 1, last.hash)
    return Event(n, time, kind, data, before, _hash(n, time, kind, data, before))


def _hash(n: int, time: float, kind: str, data: Mapping[str, Any], before: str) -> str:
    text = json.dumps([n, time, kind, data, before], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def check_chain(events: Iterable[Event]) -> None:
    """Raises StoreError at the first event that does not follow from the one before."""
    n, before = 1, START
    for event in events:
        right = _hash(event.n, event.time, event.kind, event.data, event.before)
        if (event.n, event.before, event.hash) != (n, before, right):
            raise StoreError(f"event {n} does not follow from the one before: the log was changed")
        n, before = n + 1, event.hash


def parse_line(line: bytes) -> Event:
    """The event of one line. Raises StoreError for anything else."""
    try:
        fields = json.loads(line)
        event = Event(**fields)
        written = event.line()
    except (ValueError, TypeError):
        raise StoreError(f"no event: {line[:80]!r}: the log was changed") from None
    if written != line.removesuffix(b"\n") + b"\n":
        raise StoreError(f"event {event.n} is not as it was written: the log was changed")
    return event


class EventLog:
    """The log of one file."""

    def __init__(self, path: Path, *, repair: bool = False) -> None:
        """Read and check the file, which need not exist; `repair` cuts off half a last line,
        which is otherwise passed over. Raises StoreError."""
        self._path = path
        self.events: list[Event] = []
        with storing(path.parent):
            lines = read_whole_lines(path, repair=repair)
        self.events = [parse_line(line) for line in lines]
        check_chain(self.events)

    @property
    def last(self) -> Event | None:
        """The newest event."""
        return self.events[-1] if self.events else None

    def append(self, event: Event) -> None:
        """Write `event` to disk. Raises StoreError when it does not follow, or the disk is full:
        then the log is as it was."""
        n, before = (1, START) if self.last is None else (self.last.n + 1, self.last.hash)
        if (event.n, event.before) != (n, before):
            raise StoreError(f"{self._path}: event {event.n} does not follow event {n - 1}")
        with storing(self._path.parent):
            append_whole(self._path, event.line(), sync=True)
        self.events.append(event)
