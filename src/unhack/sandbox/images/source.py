"""`ImageSource`: how an image is to be had, by a Dockerfile in a folder or by its name.

ImageSource(Path("task/environment")).key         # equal for equal files
ImageSource(name="python:3.12-slim").key
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ImageSource:
    """An image that is built or taken as it is.

    Example:

        ImageSource(Path("task"), dockerfile="docker/Dockerfile", target="test")
    """

    folder: Path | None = None
    """The folder that is built, with all its files; None where only the name is known."""
    name: str = ""
    """The name of an image that somebody built."""
    dockerfile: str = "Dockerfile"
    """Relative to the folder."""
    target: str = ""
    """The stage to build; empty for the last one."""
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of ARG."""

    @property
    def key(self) -> str:
        """The key of the image in a store: equal for equal files and words."""
        digest = hashlib.sha256(b"".join(_parts(self.folder)) if self.folder else b"")
        words = [self.name, self.dockerfile, self.target, sorted(self.arguments.items())]
        if words != ["", "Dockerfile", "", []]:
            digest.update(json.dumps(words).encode())
        return digest.hexdigest()[:32]


def _parts(folder: Path) -> Iterator[bytes]:
    """A line for each file, link and folder."""
    for path in sorted(folder.rglob("*")):
        found = path.lstat()
        name = os.fsencode(path.relative_to(folder).as_posix())
        if stat.S_ISREG(found.st_mode):
            data = hashlib.sha256(path.read_bytes()).digest()
            yield b"f%d\0" % bool(found.st_mode & 0o100) + name + b"\0" + data
        elif stat.S_ISLNK(found.st_mode):
            yield b"l\0" + name + b"\0" + os.fsencode(os.readlink(path)) + b"\0"
        elif stat.S_ISDIR(found.st_mode):
            yield b"d\0" + name + b"\0"
