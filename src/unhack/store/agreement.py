"""The places of a ledger held against each other: database, log and head tell one story, or none.

Each event carries the SHA-256 of every value that it stored (`stored`), and the chain of events
covers that. The head file names the newest event; it is written last. An event goes into the
database, then into the log, then into the head, each on the disk before the next: after a kill at
any moment log and head lack at most the newest event, which is caught up.

Covered: a value, an event, a line of the log or the head that was edited, added or removed, in one
place or in several that do not fit each other; lines cut off the end of the log.
Not covered: somebody who writes database, log and head anew so that they fit, or takes the newest
event out of all three: the head's hash, kept elsewhere, shows that. Values of ledgers from before
events carried hashes; they are named.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from unhack.store.errors import StoreError
from unhack.store.events import Event

STORED = "stored"
"""Name in the data of an event: key of each value that it stored -> SHA-256 of its JSON."""


def value_hash(text: str) -> str:
    """The SHA-256 of a value's JSON."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def head_text(event: Event) -> bytes:
    """The head file after an event."""
    return (json.dumps({"n": event.n, "hash": event.hash}) + "\n").encode()


def check_values(path: Path, events: Sequence[Event], values: Mapping[str, str]) -> tuple[str, ...]:
    """Keys whose values no event vouches for, of a ledger from before events did.

    Raises StoreError where a value is not the one that the newest event about it stored.
    """
    told: dict[str, str] = {}
    for event in events:
        stored = event.data.get(STORED, {})
        if isinstance(stored, dict):
            told.update(cast("dict[str, str]", stored))
    for key, text in values.items():
        if key in told and value_hash(text) != told[key]:
            raise _changed(
                path, f"the value {key!r} in the database is not the one that was stored"
            )
    missing = [key for key in told if key not in values]
    if missing:
        raise _changed(path, f"the value {missing[0]!r} is gone from the database")
    unknown = tuple(key for key in values if key not in told)
    if unknown and events and STORED in events[0].data:
        raise _changed(path, f"no event stored the value {unknown[0]!r} of the database")
    return unknown


def check_log(path: Path, stored: Sequence[bytes], logged: Sequence[bytes], *, least: int) -> None:
    """Raises StoreError unless the log's lines are the database's, at least the first `least`."""
    for number, (one, other) in enumerate(zip(stored, logged, strict=False), start=1):
        if one.removesuffix(b"\n") != other.removesuffix(b"\n"):
            raise _changed(
                path, f"the log and the database tell different stories at event {number}"
            )
    if len(logged) > len(stored):
        raise _changed(path, "the log and the database tell different stories: one is older")
    if len(logged) < least:
        cut = f"the log was cut: it ends with event {len(logged)}, and event {least} was written"
        raise _changed(path, cut)


def head_number(path: Path, head: bytes | None, events: Sequence[Event], *, least: int) -> int:
    """The number of the event that the head file names; 0 where there is none.

    Raises StoreError where it names none of `events`, or one before `least`.
    """
    if head is None:
        if least and STORED in events[least - 1].data:
            raise _changed(path, "the file with the head of the log is gone")
        return 0
    try:
        found: Any = json.loads(head)
        number, digest = found["n"], found["hash"]
    except (ValueError, TypeError, KeyError):
        raise _changed(path, "the file with the head of the log is damaged") from None
    known = type(number) is int and 1 <= number <= len(events)
    if not known or events[number - 1].hash != digest or head != head_text(events[number - 1]):
        raise _changed(path, "the head of the log names an event that is not there")
    if number < least and STORED in events[least - 1].data:
        raise _changed(path, f"the head of the log is older than event {least}")
    return number


def _changed(path: Path, what: str) -> StoreError:
    return StoreError(
        f"{path}: {what}: the record was changed; restore the folder from a copy (the files "
        "together), or judge what was handed in anew"
    )
