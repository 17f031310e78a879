"""A contest to start from: small, real, and sound as it is written.

    new_contest(Path("packing"))

Covered: every part of a contest's folder, with comments that say what it is for.
Not covered: a contest of another shape; change this one into it, part by part.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from unhack.core.errors import UsageError
from unhack.tournament.contests.own.folder import SETTINGS

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_STARTER = "unhack.tournament.contests.own"
_ENDING = ".txt"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")


def new_contest(path: Path, *, taken: tuple[str, ...]) -> list[str]:
    """Write a contest to a new folder; the names of its files.

    `taken` are names that it may not have. Raises UsageError for a folder in use, or a name that
    no contest can have.
    """
    name = path.resolve().name
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a contest: small letters, digits, '-' and '_', a "
            "letter first"
        )
    if name in taken:
        raise UsageError(f"{name!r} is a contest of unhack; choose another name")
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise UsageError(f"{path} exists and is not an empty directory; choose another name")
    files = starter(name)
    for file, content in files.items():
        place = path / file
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{place}: {error.strerror}; choose another folder") from None
    return sorted(files)


def starter(name: str) -> dict[str, str]:
    """The files of the starter, under a name."""
    found: dict[str, str] = {}
    _gather(resources.files(_STARTER) / "starter", "", found)
    found[SETTINGS] = Template(found[SETTINGS]).substitute(name=name)
    return found


def _gather(folder: Traversable, head: str, found: dict[str, str]) -> None:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            _gather(item, f"{head}{item.name}/", found)
        elif item.name.endswith(_ENDING):
            found[f"{head}{item.name.removesuffix(_ENDING)}"] = item.read_text(encoding="utf-8")
