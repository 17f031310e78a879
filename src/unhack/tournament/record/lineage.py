"""The descent of submissions: a flag on one marks everything that was seeded with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from unhack.tournament.record.records import Entry


def mark_tainted(entries: Iterable[Entry], *, gamed: frozenset[str] = frozenset()) -> list[Entry]:
    """The entries, in order, with `tainted` set anew.

    Tainted are the submissions that were flagged, those with the same content in any round, those
    in `gamed` (digests), and, over any number of generations, those that were seeded with one.
    """
    known = list(entries)
    bad = set(gamed) | {entry.digest for entry in known if entry.flags and entry.digest}
    grown = True
    while grown:
        fresh = {entry.digest for entry in known if entry.digest and entry.parent in bad} - bad
        bad |= fresh
        grown = bool(fresh)
    return [
        replace(entry, tainted=bool(entry.flags) or entry.digest in bad or entry.parent in bad)
        for entry in known
    ]
