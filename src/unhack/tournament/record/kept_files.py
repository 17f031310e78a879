"""The files beside the ledger that the record vouches for: submissions and transcripts.

An entry holds the hash of each frozen file, and the value `transcript/ROUND/SEAT` that of each file
of its transcript, as they were when the agent had ended. The ledger's chain covers both.

Covered: a byte that was changed, a file that is missing, a file that was added.
Not covered: transcripts of agents that are still at work, and those from before their hashes were
stored; the folders `memory`, `meters` and `work`, which no result rests on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from unhack.core.hashing import content_hash
from unhack.store.errors import StoreError, storing
from unhack.tournament.judging.submission import REFUSED
from unhack.tournament.record.records import Entry


def file_hashes(folder: Path) -> dict[str, str]:
    """Relative path -> SHA-256 of each file below a folder; a link counts as what it says.

    Raises OSError.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"link to {path.readlink()}"
        elif path.is_file():
            found[name] = _hash(path)
    return found


def check_submissions(path: Path, entries: Iterable[Entry]) -> None:
    """Hold the frozen files of a run folder against its entries. Raises StoreError."""
    seen: set[str] = set()
    for entry in entries:
        if not entry.digest or entry.digest in seen:
            continue
        seen.add(entry.digest)
        folder = path / "submissions" / entry.digest
        told = f"submission {entry.digest[:12]} (round {entry.round}, {entry.agent})"
        with storing(path):
            found = file_hashes(folder) if folder.is_dir() else {}
            refusal = folder / REFUSED
            if entry.problem and list(found) == [REFUSED] and not refusal.is_symlink():
                digest = content_hash("refused", refusal.read_bytes())
                found = {} if digest == entry.digest else found
        _compare(folder, told, found, {} if entry.problem else entry.files)


def check_transcripts(path: Path, kept: Mapping[str, Mapping[str, str]]) -> None:
    """Hold transcripts, by folder below `path`, against what was stored. Raises StoreError."""
    for name, files in kept.items():
        with storing(path):
            found = file_hashes(path / name)
        _compare(path / name, f"transcript {name}", found, files)


def _compare(folder: Path, told: str, found: Mapping[str, str], stored: Mapping[str, str]) -> None:
    wrong = [name for name in (*stored, *found) if found.get(name) != stored.get(name)]
    if not wrong:
        return
    name = wrong[0]
    way = (
        "is missing" if name not in found else "was added" if name not in stored else "was changed"
    )
    raise StoreError(f"{folder}: {told}: {name} {way}; restore the folder from a copy")


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
