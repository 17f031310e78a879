"""The texts of a Harbor folder, and the paths of its image, as far as they can be read.

    text = TaskText(Path("task"))
    text.in_image("/app/data.csv")       # a Dockerfile's COPY lays it there

Covered: instruction.md, tests of any depth, COPY and ADD of a Dockerfile, file names in its RUN
lines, task.toml.
Not covered: images by name and base images, whose files are not known; compose files.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

from unhack.core.errors import TaskError
from unhack.environments.sources.loaders.dockerfile import instructions

_MOST_BYTES = 1 << 20
_MOST_TEXT = 64 * 1024


class TaskText:
    """A folder's texts. Raises TaskError where it has no statement or no tests.

    Example:

        TaskText(Path("task")).statement.splitlines()[0]
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.statement = _text(folder / "instruction.md") or ""
        if not self.statement.strip():
            raise TaskError("there is no instruction.md that can be read")
        self.tests: dict[str, str] = {}
        """Path below the folder -> text."""
        self.unread: list[str] = []
        for file in _files(folder / "tests"):
            text = _text(file)
            name = file.relative_to(folder).as_posix()
            if text is None:
                self.unread.append(f"{name} is no text of up to 1 MiB")
            else:
                self.tests[name] = text
        if not self.tests:
            raise TaskError("there is nothing in tests/ that can be read")
        self.settings = _settings(folder / "task.toml")
        self.dockerfile = _text(folder / "environment" / "Dockerfile") or ""
        if not self.dockerfile:
            self.unread.append("environment/Dockerfile is missing: its files are not known")
        self.image: dict[str, str] = {}
        """Path in the image -> file below `environment`."""
        self.copies: list[tuple[int, str]] = []
        """Line of the Dockerfile and source, for each COPY and ADD."""
        self._lay()
        files = _files(folder / "environment")
        self.files = tuple(one.relative_to(folder / "environment").as_posix() for one in files)
        seen = [text[:_MOST_TEXT] for one in files if (text := _text(one)) is not None]
        self.given = "\n".join([self.statement, self.dockerfile, *self.files, *seen])
        """All that a solver may see."""

    def in_image(self, path: str) -> bool:
        """True for a file or folder that COPY lays, or that a RUN line of the Dockerfile names."""
        below = path.rstrip("/") + "/"
        if path in self.image or any(one.startswith(below) for one in self.image):
            return True
        name = path.rsplit("/", 1)[-1]
        return "." in name and path in self.dockerfile

    def _lay(self) -> None:
        workdir = PurePosixPath("/")
        for number, line in instructions(self.dockerfile):
            word, _, rest = line.partition(" ")
            if word.upper() == "WORKDIR":
                workdir = workdir / rest.strip().strip("\"'")
            if word.upper() not in ("COPY", "ADD"):
                continue
            try:
                parts = json.loads(rest) if rest.strip().startswith("[") else shlex.split(rest)
            except ValueError:
                self.unread.append(f"environment/Dockerfile, line {number}")
                continue
            if any(part.startswith("--from") for part in parts):
                continue
            *sources, target = [part for part in parts if not part.startswith("--")] or [""]
            self.copies += [(number, one) for one in sources]
            for source in sources:
                self._copy(
                    source.strip("/"),
                    workdir / target,
                    many=len(sources) > 1 or target[-1:] in "/.",
                )

    def _copy(self, source: str, target: PurePosixPath, *, many: bool) -> None:
        place = self.folder / "environment"
        try:
            found = [place] if source in ("", ".") else sorted(place.glob(source))
        except (ValueError, NotImplementedError):
            found = []
        for one in found:
            if one.is_file():
                path = target / one.name if many else target
                self.image[str(path)] = one.relative_to(place).as_posix()
            for file in _files(one):
                path = target / file.relative_to(one)
                self.image[str(path)] = file.relative_to(place).as_posix()


def _files(folder: Path) -> list[Path]:
    """The regular files below a folder."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    return [one for one in sorted(folder.rglob("*")) if one.is_file() and not one.is_symlink()]


def _text(path: Path) -> str | None:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _settings(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise TaskError(f"task.toml: {error}") from None
