"""Files in and out of a directory that untrusted processes write to at the same time.

Every step names a file relative to an open directory and follows no link, so that nothing outside
is ever read or written, whatever is renamed in between.

Covered: links in any component, devices and pipes (left out, and never opened for reading), files
that grow while they are read, more files or bytes than wanted.
Not covered: a consistent picture of files that change meanwhile; freeze the processes first.
Sources: openat(2), symlink(7).
"""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Generator, Mapping

Files = Mapping[str, bytes]
"""Relative path -> content."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST_DEPTH = 16
_MOST_ENTRIES = 200_000


def put_files(folder: int, files: Files, *, uid: int, gid: int) -> None:
    """Write files below the open directory `folder` and give them to `uid`, `gid`.

    Those below `bin/` become executable. Raises ValueError for a path that leaves the folder.
    """
    for path, content in files.items():
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"{path!r} is no relative path of a file")
        at = os.open(".", _DIRECTORY, dir_fd=folder)
        try:
            for part in parts[:-1]:
                at = _step(at, part, uid=uid, gid=gid)
            mode = 0o755 if parts[0] == "bin" else 0o644
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with open(os.open(parts[-1], flags, mode, dir_fd=at), "wb") as file:
                file.write(content)
                os.fchmod(file.fileno(), mode)
                os.fchown(file.fileno(), uid, gid)
        finally:
            os.close(at)


def _step(at: int, part: str, *, uid: int, gid: int) -> int:
    """Into a directory, made where it is missing; closes `at`."""
    try:
        try:
            os.mkdir(part, 0o755, dir_fd=at)
            os.chown(part, uid, gid, dir_fd=at, follow_symlinks=False)
        except FileExistsError:
            pass
        return os.open(part, _DIRECTORY, dir_fd=at)
    finally:
        os.close(at)


def take_files(
    folder: int, patterns: tuple[str, ...], *, most_files: int, most_bytes: int
) -> dict[str, bytes]:
    """The regular files below `folder` that match, at most `most_files` + 1 of them, cut after
    `most_bytes` + 1 bytes in all."""
    found: dict[str, bytes] = {}
    left = most_bytes + 1
    for path, at, name in _walk(folder):
        if not any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns):
            continue
        content = _content(at, name, left)
        if content is None:
            continue
        found[path] = content
        left -= len(content)
        if len(found) > most_files or left <= 0:
            break
    return found


def _walk(folder: int) -> Generator[tuple[str, int, str]]:
    """(relative path, directory, name) of everything that is no directory, in a fixed order."""
    waiting: list[str] = [""]
    seen = 0
    while waiting:
        prefix = waiting.pop()
        at = _descend(folder, prefix)
        if at < 0:
            continue
        try:
            for name in sorted(os.listdir(at)):
                seen += 1
                if seen > _MOST_ENTRIES:
                    return
                if stat.S_ISDIR(os.lstat(name, dir_fd=at).st_mode):
                    if prefix.count("/") < _MOST_DEPTH:
                        waiting.append(f"{prefix}{name}/")
                else:
                    yield f"{prefix}{name}", at, name
        except FileNotFoundError:
            continue
        finally:
            os.close(at)


def _descend(folder: int, prefix: str) -> int:
    """The directory of `a/b/`, without following links; -1 where it is gone."""
    at = os.open(".", _DIRECTORY, dir_fd=folder)
    for part in prefix.split("/")[:-1]:
        try:
            below = os.open(part, _DIRECTORY, dir_fd=at)
        except OSError:
            os.close(at)
            return -1
        os.close(at)
        at = below
    return at


def _content(at: int, name: str, most: int) -> bytes | None:
    """Up to `most` bytes of a regular file; None for anything else."""
    try:
        fd = os.open(name, _READ, dir_fd=at)
    except OSError:
        return None
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        return file.read(most)
