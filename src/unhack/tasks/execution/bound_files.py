"""Files that jobs have mounted, by their content: the same bytes must lie wherever such a job runs.

Covered: a file or folder that is missing, differs, or was changed since.
Not covered: the environment of the interpreter itself, which is looked for by its path alone; of a
folder with more than 2,000 files or 64 MB, names and sizes count alone.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

_MOST_FILES = 2000
_MOST_BYTES = 64 << 20

Fingerprints = tuple[tuple[str, str], ...]
"""(path, hash of what lies there) pairs; the hash is empty where the path alone counts."""
State = tuple[tuple[str, int, int], ...]
"""(path, size, time of the last change) of every file: another state may be another content."""


def state_of(paths: Iterable[str]) -> State:
    """The state of what lies at `paths`, cheap enough to be asked for each job."""
    found: list[tuple[str, int, int]] = []
    for path in paths:
        if not _is_environment(path):
            found += [(str(file), size, changed) for file, size, changed in _files(Path(path))]
    return tuple(found)


def fingerprints_of(paths: Iterable[str]) -> Fingerprints:
    """The fingerprints of what lies at `paths` here."""
    return tuple((path, "" if _is_environment(path) else _digest(Path(path))) for path in paths)


def first_difference(wanted: Fingerprints) -> str:
    """A sentence on the first path that is missing or differs here; empty when there is none."""
    for path, digest in wanted:
        if not os.path.exists(path):
            return f"{path} is not there; lay it at the same path, or share its folder"
        if digest and _digest(Path(path)) != digest:
            return f"{path} differs from the file that the caller has; copy it again"
    return ""


def _is_environment(path: str) -> bool:
    return Path(path).is_relative_to(sys.prefix)


def _files(top: Path) -> Iterator[tuple[Path, int, int]]:
    """Every regular file, in order, up to the bound; compiled Python is none of them."""
    entries = [top] if top.is_file() else sorted(_below(top))
    for path in entries[:_MOST_FILES]:
        try:
            found = path.stat()
        except OSError:
            continue
        yield path, found.st_size, found.st_mtime_ns


def _below(top: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (Path(folder, name) for name in names)


def _digest(top: Path) -> str:
    files = list(_files(top))
    whole = len(files) < _MOST_FILES and sum(size for _, size, _ in files) <= _MOST_BYTES
    digest = hashlib.sha256()
    for path, size, _ in files:
        digest.update(f"{path.relative_to(top)}\0{size}\0".encode("utf-8", "surrogateescape"))
        if whole:
            try:
                digest.update(path.read_bytes())
            except OSError as error:
                digest.update(type(error).__name__.encode())
    return digest.hexdigest()
