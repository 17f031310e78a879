"""Files of a directory that untrusted processes write to, or prepared against its reader.

Every step names a file relative to an open directory and follows no link, so that nothing outside
is ever read, written or removed, whatever is renamed in between.

Covered: links in any component, also ones that take a directory's place between listing and
opening; sockets, devices and pipes (never read, never waited for); files that grow while they are
read, sparse giants, more files, bytes, entries or levels than wanted; names that are no UTF-8
(surrogates stand for the bytes); directories that vanish or may not be entered.
Not covered: a consistent picture of files that change meanwhile; freeze the processes first. A
hard link is a regular file: where one may lead out, look at its `st_nlink`. The path of the top
directory itself: it must be the caller's.
Sources: openat(2), symlink(7), inode(7).
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

Files = Mapping[str, bytes]
"""Relative path -> content."""
MAX_ENTRIES = 200_000
"""Names that a walk looks at."""
MAX_DEPTH = 16
"""Levels of directories that a walk enters, below the top."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One entry of a walk that is no directory."""

    path: str
    """Relative to the top."""
    folder: int
    """Descriptor of the directory that holds it; open until the walk goes on."""
    name: str
    mode: int
    """As lstat(2) gave it; it may be another file by now."""


class SafeWalk:
    """A walk over everything below a directory that is no directory, in a fixed order.

    `changed` and `truncated` are up to date while it goes on. What cannot be entered is passed by.
    """

    def __init__(
        self,
        top: int,
        *,
        passed_by: Callable[[str], bool] = lambda name: False,
        max_entries: int = MAX_ENTRIES,
        max_depth: int = MAX_DEPTH,
    ) -> None:
        """`top` is an open directory; names that are `passed_by` are neither told nor entered."""
        self.changed = False
        """True once something vanished between listing and looking."""
        self.truncated = False
        """True once there are more than `max_entries` names."""
        self._top = top
        self._passed_by = passed_by
        self._left = max_entries
        self._max_depth = max_depth

    def __iter__(self) -> Iterator[FoundFile]:
        waiting = [""]
        while waiting and not self.truncated:
            prefix = waiting.pop()
            folder = open_folder(self._top, prefix)
            if folder is None:
                continue
            try:
                deeper = prefix.count("/") < self._max_depth
                for name in filter(lambda name: not self._passed_by(name), self._names(folder)):
                    mode = self._mode(folder, name)
                    if stat.S_ISDIR(mode) and deeper:
                        waiting.append(f"{prefix}{name}/")
                    elif mode and not stat.S_ISDIR(mode):
                        yield FoundFile(f"{prefix}{name}", folder, name, mode)
            finally:
                os.close(folder)

    def _names(self, folder: int) -> list[str]:
        """The names in a directory, never more than may still be looked at."""
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in islice(entries, self._left + 1))
        self.truncated = len(names) > self._left
        names = names[: self._left]
        self._left -= len(names)
        return names

    def _mode(self, folder: int, name: str) -> int:
        """The type and mode of an entry; 0 where it is gone or hidden."""
        try:
            return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        except FileNotFoundError:
            self.changed = True
        except PermissionError:  # the directory may be listed and not entered
            pass
        return 0


@contextlib.contextmanager
def open_top(path: Path) -> Generator[int]:
    """A descriptor of a directory that is no link. Raises OSError."""
    top = os.open(path, _DIRECTORY)
    try:
        yield top
    finally:
        os.close(top)


def open_folder(top: int, path: str) -> int | None:
    """A descriptor of a directory below, reached without a link; None where there is none."""
    parts = [".", *filter(None, path.split("/"))]
    if ".." in parts:
        return None
    at = os.dup(top)
    for part in parts:
        try:
            deeper = os.open(part, _DIRECTORY, dir_fd=at)
        except OSError:
            return None
        finally:
            os.close(at)
        at = deeper
    return at


def open_regular(folder: int, name: str) -> BinaryIO | None:
    """A regular file of an open directory, opened for reading; None for anything else.

    Raises OSError where it is not there or may not be read.
    """
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        return None
    file = os.fdopen(os.open(name, _READ, dir_fd=folder), "rb")
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    return None


def read_file(top: int, path: str, *, max_bytes: int) -> bytes | None:
    """Up to `max_bytes` of a regular file below; None for anything else."""
    folder_path, _, name = path.rpartition("/")
    folder = open_folder(top, folder_path)
    if folder is None:
        return None
    try:
        return _content(folder, name, max_bytes)
    finally:
        os.close(folder)


def admits(patterns: Iterable[str], path: str) -> bool:
    """True where a pattern of `fnmatch` for each level admits a relative path; `**` stands for any
    number of levels."""
    return any(_admits(pattern.split("/"), path.split("/")) for pattern in patterns)


def _admits(pattern: list[str], path: list[str]) -> bool:
    if not pattern or not path:
        return not pattern and not path
    if pattern[0] == "**":
        return any(_admits(pattern[1:], path[at:]) for at in range(len(path))) or not pattern[1:]
    return fnmatch.fnmatchcase(path[0], pattern[0]) and _admits(pattern[1:], path[1:])


def take_files(
    top: int, patterns: tuple[str, ...], *, max_files: int, max_bytes: int
) -> dict[str, bytes]:
    """The regular files below that `patterns` admit, those that one names whole first: at most
    `max_files` + 1 of them, cut after `max_bytes` + 1 bytes in all. One that a pattern admits and
    that is larger by itself is passed by."""
    taken: dict[str, bytes] = {}
    left = max_bytes + 1
    for path in patterns:
        content = read_file(top, path, max_bytes=left)
        if content is not None:
            taken[path] = content
            left -= len(content)
    for found in SafeWalk(top):
        if len(taken) > max_files or left <= 0:
            break
        if found.path in taken or not stat.S_ISREG(found.mode):
            continue
        content = _content(found.folder, found.name, left) if admits(patterns, found.path) else None
        if content is not None and len(content) <= max_bytes:
            taken[found.path] = content
            left -= len(content)
    return taken


def put_files(top: int, files: Files, *, uid: int, gid: int) -> None:
    """Write files below the open directory `top` and give them to `uid`, `gid`.

    Those below `bin/` become executable; what stood in the place of a file is unlinked, not
    written to. Raises ValueError for a path that leaves the directory, OSError for one that leads
    through something else than directories.
    """
    for path, content in files.items():
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"{path!r} is no relative path of a file")
        at = os.open(".", _DIRECTORY, dir_fd=top)
        try:
            for part in parts[:-1]:
                at = _enter_folder(at, part, uid=uid, gid=gid)
            mode = 0o755 if parts[0] == "bin" else 0o644
            with contextlib.suppress(FileNotFoundError):
                os.unlink(parts[-1], dir_fd=at)
            with open(os.open(parts[-1], _CREATE, mode, dir_fd=at), "wb") as file:
                file.write(content)
                os.fchmod(file.fileno(), mode)
                os.fchown(file.fileno(), uid, gid)
        finally:
            os.close(at)


def remove_file(top: int, path: str) -> None:
    """Remove a file below; harmless where there is none, or a directory stands there."""
    folder_path, _, name = path.rpartition("/")
    folder = open_folder(top, folder_path)
    if folder is None:
        return
    try:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)
    finally:
        os.close(folder)


def remove_files_below(top: int, path: str) -> None:
    """Remove every file of a directory below, as far as a walk goes; its directories stay."""
    folder = open_folder(top, path)
    if folder is None:
        return
    try:
        for found in SafeWalk(folder):
            with contextlib.suppress(OSError):
                os.unlink(found.name, dir_fd=found.folder)
    finally:
        os.close(folder)


def _enter_folder(at: int, part: str, *, uid: int, gid: int) -> int:
    """Open a directory of `at`, made where it is missing; closes `at`."""
    try:
        try:
            os.mkdir(part, 0o755, dir_fd=at)
            os.chown(part, uid, gid, dir_fd=at, follow_symlinks=False)
        except FileExistsError:
            pass
        return os.open(part, _DIRECTORY, dir_fd=at)
    finally:
        os.close(at)


def _content(folder: int, name: str, most: int) -> bytes | None:
    """Up to `most` bytes of a regular file; None for anything else."""
    try:
        file = open_regular(folder, name)
        if file is None:
            return None
        with file:
            return file.read(most)
    except OSError:
        return None
