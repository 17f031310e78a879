"""The writable layer of a command, read once its processes are dead.

The writable layer of an overlay lies in memory of bounded size; the host holds it by a descriptor
and copies what changed into a layer of its own.

Covered: files, links, folders, deletions, folders that were deleted and made again; permission bits
that shut the reader out; sockets, devices and pipes, names too long and folders too deep, which are
left out and told.
Not covered: a layer whose processes still run. Hard links become separate files.
Source: the kernel's overlayfs document (whiteouts, opaque directories, `user.overlay.*`).
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from unhack.sandbox.workspace.layers import LayerWriter
from unhack.sandbox.workspace.tree import (
    PERMISSIONS,
    Changes,
    Folder,
    NewFolder,
    Removed,
    StoredFile,
    StoredLink,
)

MAX_DEPTH = 64
MAX_PATH = 1024
"""Levels of folders and bytes of a relative path that a state holds."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OPAQUE = "user.overlay.opaque"
_MOST_TOLD = 20


@dataclass(slots=True)
class Left:
    """Changes that were found, and the paths that no state can hold."""

    changes: Changes = field(default_factory=Changes)
    left_out: list[str] = field(default_factory=list[str])

    def leave_out(self, path: str) -> None:
        """Take note of a path; only the first ones are told."""
        if len(self.left_out) < _MOST_TOLD:
            self.left_out.append(path)


def read_upper(upper: int, writer: LayerWriter) -> Left:
    """The changes in the writable layer of an overlay, its files copied into `writer`."""
    left = Left()
    mode = os.fstat(upper).st_mode & PERMISSIONS
    with contextlib.suppress(PermissionError):
        os.fchmod(upper, mode | 0o700)
    left.changes[""] = NewFolder(mode)
    _read(upper, "", 0, (writer, left))
    return left


def _read(folder: int, prefix: str, depth: int, sink: tuple[LayerWriter, Left]) -> None:
    writer, left = sink
    for name, found in _entries(folder):
        path = prefix + name
        kind = stat.S_IFMT(found.st_mode)
        if len(os.fsencode(path)) > MAX_PATH or depth >= MAX_DEPTH:
            left.leave_out(path)
        elif kind == stat.S_IFCHR and found.st_rdev == 0:
            left.changes[path] = Removed()
        elif kind == stat.S_IFREG:
            left.changes[path] = _copy(folder, name, found, (writer, path))
        elif kind == stat.S_IFLNK:
            target = os.readlink(name, dir_fd=folder)
            writer.link(path, target)
            left.changes[path] = StoredLink(target)
        elif kind == stat.S_IFDIR:
            inner = _open(folder, name, _DIRECTORY, found.st_mode)
            try:
                left.changes[path] = NewFolder(found.st_mode & PERMISSIONS, _is_opaque(inner))
                writer.folder(path, found.st_mode)
                _read(inner, f"{path}/", depth + 1, sink)
            finally:
                os.close(inner)
        else:
            left.leave_out(path)


def _entries(folder: int) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries)
    for name in names:
        yield name, os.stat(name, dir_fd=folder, follow_symlinks=False)


def _copy(
    folder: int, name: str, found: os.stat_result, into: tuple[LayerWriter, str]
) -> StoredFile:
    source = _open(folder, name, _FILE, found.st_mode)
    try:
        return into[0].copied(into[1], source, found)
    finally:
        os.close(source)


def _open(folder: int, name: str, flags: int, mode: int) -> int:
    """Open an entry whose permission bits may shut its owner out; nobody else is there to see."""
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        os.chmod(name, stat.S_IMODE(mode) | 0o700, dir_fd=folder)
        return os.open(name, flags, dir_fd=folder)


def _is_opaque(folder: int) -> bool:
    with contextlib.suppress(OSError):
        return os.getxattr(folder, _OPAQUE) == b"y"
    return False


def compare_copy(upper: int, before: Folder, writer: LayerWriter) -> Left:
    """The same for a workspace that is a plain copy, where overlays are refused."""
    left = read_upper(upper, writer)
    found = {path for path in left.changes if path}
    gone: Changes = {}
    for path, _ in before.walk():
        above = path.rpartition("/")[0]
        if path not in found and (not above or above in found):
            gone[path] = Removed()
    left.changes = {**gone, **left.changes}
    return left
