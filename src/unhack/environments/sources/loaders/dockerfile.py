"""The start state out of a Dockerfile that only copies files.

Covered: FROM, WORKDIR, COPY and ADD of local files, comments, continued lines, and instructions
that change no file (ENV, LABEL, CMD and the like).
Not covered: RUN, copies between stages, downloads: `NeedsImageError` names the line.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from unhack.core.errors import TaskError

_NO_FILES = frozenset({
    "FROM", "ENV", "LABEL", "CMD", "ENTRYPOINT", "EXPOSE", "ARG", "MAINTAINER", "SHELL",
    "STOPSIGNAL", "HEALTHCHECK", "USER",
})  # fmt: skip
_DEFAULT = "/app"
_TAKEN = frozenset({
    "bin", "boot", "dev", "etc", "home", "lib", "lib64", "logs", "opt", "proc", "root", "run",
    "sbin", "solution", "srv", "sys", "tests", "tmp", "usr", "var",
})  # fmt: skip


class NeedsImageError(TaskError):
    """A Dockerfile that does more than copy files to a place of its own at the top."""


def read_dockerfile(folder: Path) -> tuple[str, dict[str, bytes]]:
    """The last working directory and the files below it, relative to it. Raises TaskError."""
    path = folder / "Dockerfile"
    try:
        lines = instructions(path.read_text())
    except FileNotFoundError:
        raise TaskError(f"{path} is not there: an image alone is not supported") from None
    except UnicodeDecodeError:
        raise TaskError(f"{path} is no text") from None
    workdir = PurePosixPath("/")
    laid: dict[PurePosixPath, bytes] = {}
    for number, line in lines:
        word, _, rest = line.partition(" ")
        kind = word.upper()
        if kind == "WORKDIR":
            workdir = _joined(workdir, rest.strip(), f"{path}, line {number}")
        elif kind in ("COPY", "ADD"):
            laid |= _copied(folder, rest, workdir, where=f"{path}, line {number}")
        elif kind not in _NO_FILES:
            raise NeedsImageError(f"{path}, line {number}: {kind} needs an image to be built")
    top = workdir if str(workdir) != "/" else PurePosixPath(_DEFAULT)
    if len(top.parts) != 2 or top.name in _TAKEN:
        raise NeedsImageError(f"{path}: the working directory {top} is none of its own at the top")
    return str(top), {
        place.relative_to(top).as_posix(): data
        for place, data in laid.items()
        if place.is_relative_to(top)
    }


def instructions(text: str) -> list[tuple[int, str]]:
    """(number of the first line, instruction), continued lines joined."""
    found: list[tuple[int, str]] = []
    open_line: tuple[int, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        first, before = open_line or (number, "")
        joined = f"{before} {line.strip()}".strip()
        if joined.endswith("\\"):
            open_line = (first, joined[:-1].rstrip())
        else:
            found.append((first, joined))
            open_line = None
    return [*found, open_line] if open_line else found


def _joined(workdir: PurePosixPath, path: str, where: str) -> PurePosixPath:
    found = workdir / path.strip("\"'")
    if "$" in path or ".." in found.parts:
        raise NeedsImageError(f"{where}: the path {path}")
    return found


def _copied(
    folder: Path, words: str, workdir: PurePosixPath, *, where: str
) -> Mapping[PurePosixPath, bytes]:
    """The files of one COPY by absolute path."""
    parts = json.loads(words) if words.strip().startswith("[") else shlex.split(words)
    flags = [part for part in parts if part.startswith("--")]
    if any(flag.startswith("--from") for flag in flags):
        raise NeedsImageError(f"{where}: a copy from another stage or image")
    *sources, target = [part for part in parts if not part.startswith("--")]
    into = _joined(workdir, target, where)
    is_folder = target.endswith(("/", ".")) or len(sources) > 1
    found: dict[PurePosixPath, bytes] = {}
    for source in sources:
        plain = source.strip("/")
        here = [folder] if plain in ("", ".") else sorted(folder.glob(plain))
        if not here or ".." in source.split("/") or "://" in source:
            raise TaskError(f"{where}: {source} is not in {folder}")
        for one in here:
            if one.is_dir():
                found |= {
                    into / file.relative_to(one).as_posix(): file.read_bytes()
                    for file in sorted(one.rglob("*"))
                    if file.is_file() and not file.is_symlink() and file != folder / "Dockerfile"
                }
            elif one.is_file() and not one.is_symlink():
                found[into / one.name if is_folder else into] = one.read_bytes()
    return found
