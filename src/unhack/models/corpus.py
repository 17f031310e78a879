"""Text that every machine has: the Python standard library's sources, split once and for all.

A file's part follows from its path below the library, so that it is the same in every Python
version. Tables (`encodings`, `pydoc_data`), generated files and tests are left out.
"""

from __future__ import annotations

import hashlib
import sysconfig
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

_SKIPPED = frozenset(
    {"test", "tests", "idle_test", "site-packages", "dist-packages", "encodings", "pydoc_data",
     "__pycache__", "lib-dynload", "_pyrepl"}
)  # fmt: skip
_LARGEST = 400_000


class CorpusPart(StrEnum):
    """Use of a file of the library."""

    TRAIN = "train"
    """The model learns it."""
    DEV = "dev"
    """Its shapes fill the text that agents are given."""
    SEALED = "sealed"
    """Its shapes fill the text that models are judged on."""


_BORDERS = ((0.72, CorpusPart.TRAIN), (0.80, CorpusPart.DEV))


def library() -> Path:
    """Folder of the standard library of this interpreter."""
    return Path(sysconfig.get_paths()["stdlib"])


@lru_cache(maxsize=1)
def files() -> tuple[tuple[str, CorpusPart], ...]:
    """(path below the library, part) of every file that is used, in order."""
    top = library()
    found: list[tuple[str, CorpusPart]] = []
    for path in sorted(top.rglob("*.py")):
        name = path.relative_to(top)
        generated = any(part.startswith(("_sysconfigdata", "config-")) for part in name.parts)
        if _SKIPPED.isdisjoint(name.parts) and not generated:
            found.append((name.as_posix(), part_of(name.as_posix())))
    return tuple(found)


def part_of(name: str) -> CorpusPart:
    """The part of the file with this path."""
    digest = hashlib.sha256(f"unhack corpus {name}".encode()).digest()
    place = int.from_bytes(digest[:6], "big") / 2**48
    return next((part for border, part in _BORDERS if place < border), CorpusPart.SEALED)


def names(part: CorpusPart) -> tuple[str, ...]:
    """Paths of one part's files."""
    return tuple(name for name, mine in files() if mine is part)


def text(name: str) -> str:
    """A file's content, without carriage returns; cut where it is very long."""
    data = (library() / name).read_bytes()[:_LARGEST]
    return data.decode("utf-8", "replace").replace("\r\n", "\n")
