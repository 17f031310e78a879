"""Temporary files that a script and a solution have in common, each in a folder of its own.

Both sides have the folder `PLACE`. Before a message each looks what changed there since the last
one, and the other writes the same. `tmp_path` and `tempfile` of a suite lie there.

The solution gets the files that a message names, what lies below a folder that it names, and those
of the working directory: what a test keeps beside them, to compare with, stays with the judge.

Covered: regular files, folders, links that stay inside, permission bits; the working directory.
Not covered, and refused: what could be imported (`.py`, `.so`, ...), links that lead outside, more
than `MAX_BYTES` a message. Pipes and sockets do not cross.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterator
from importlib.machinery import all_suffixes
from typing import Any

from unhack.sandbox.guest.candidate.standard import UnsharableError

PLACE = "/scratch/work/shared-files"
MAX_BYTES = 2 << 20
_MAX_FILES = 4000
_PATH_END = re.compile(r"[\"\\:;,\s]")
_LOOKS = 64
"""Messages for which files are looked at after one was opened: it may be written to later."""
_EVENTS = frozenset(
    (  # noqa: SIM905
        "open os.mkdir os.rename os.remove os.rmdir os.symlink os.link os.chmod os.truncate "
        "os.utime shutil.rmtree tempfile.mkstemp tempfile.mkdtemp"
    ).split()
)
_REFUSED_ENDS = (*all_suffixes(), ".pth", ".pyz", ".zip", ".egg", ".whl")
Entry = list[Any]
"""[path, "file", mode, base64], [path, "folder", mode], [path, "link", target] or [path, None]."""


class SharedFiles:
    """One side's folder, and what the other side knows of it."""

    def __init__(self, *, is_judge: bool) -> None:
        self._is_judge = is_judge
        self._known: dict[str, tuple[Any, ...]] = {}
        self._granted: set[str] = set()
        """Of the judge: paths that the solution was told of; what lies below them is shared."""
        self._made: set[str] = set()
        """Of the judge: paths that the solution made."""
        self._looks = 0
        self.is_used = False

    def install(self) -> None:
        """Make the folder, and take note of files that are opened from now on."""
        os.makedirs(PLACE, exist_ok=True)
        self.is_used = True
        sys.addaudithook(self._audit)

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event in _EVENTS and not (
            event == "open" and len(args) > 2 and args[2] & os.O_ACCMODE == os.O_RDONLY
        ):
            self._looks = _LOOKS

    def grant(self, text: str) -> None:
        """Share the files that a message names, and those of the working directory."""
        if PLACE in text:
            for found in text.split(PLACE)[1:]:
                self._grant(_PATH_END.split(found, maxsplit=1)[0].strip("/"))
        place = os.getcwd()
        if place.startswith(PLACE):
            self._grant(place[len(PLACE) + 1 :])

    def _grant(self, path: str) -> None:
        path = os.path.normpath(path) if path else ""
        if path not in self._granted and path[:2] != "..":
            self._granted.add(path)
            self._looks = _LOOKS

    def _is_granted(self, path: str) -> bool:
        """True for a path that was named, one below it, and the folders above it."""
        parts = path.split("/")
        below = any("/".join(parts[:count]) in self._granted for count in range(len(parts) + 1))
        return below or path in self._made

    def _is_above(self, path: str) -> bool:
        return any(one.startswith(f"{path}/") for one in self._granted)

    def _may_write(self, path: str) -> bool:
        """True for what was named, and for something new beside it."""
        if self._is_granted(path):
            return True
        folder = path.rpartition("/")[0]
        beside = any(one.rpartition("/")[0] == folder for one in self._granted if one)
        if beside and not os.path.lexists(os.path.join(PLACE, path)):
            self._made.add(path)
            return True
        return False

    def changes(self) -> list[Entry]:
        """The changes since the last message. Raises UnsharableError."""
        if not self._looks:
            return []
        self._looks -= 1
        found = dict(_walk("", 0))
        if self._is_judge:
            found = {
                path: state
                for path, state in found.items()
                if self._is_granted(path) or (state[0] == "folder" and self._is_above(path))
            }
        if len(found) > _MAX_FILES:
            raise UnsharableError(f"more than {_MAX_FILES} temporary files")
        gone = sorted(self._known.keys() - found.keys(), reverse=True)  # what lies below goes first
        entries: list[Entry] = [[path, None] for path in gone]
        size = 0
        for path, state in found.items():
            if self._known.get(path) == state:
                continue
            kind, mode, *more = state
            if kind == "link":
                entries.append([path, "link", more[0]])
            elif kind == "folder":
                entries.append([path, "folder", mode])
            else:
                data = _read(path)
                size += len(data)
                entries.append([path, "file", mode, base64.b64encode(data).decode("ascii")])
        if size > MAX_BYTES:
            raise UnsharableError(f"temporary files of more than {MAX_BYTES} bytes")
        self._known = found
        return entries

    def apply(self, entries: list[Entry]) -> None:
        """Write what the other side did. Raises ValueError and OSError."""
        if len(entries) > _MAX_FILES:
            raise ValueError("too many files")
        looks = self._looks
        for path, *what in entries:
            _check(path, what, is_strict=self._is_judge)
            if self._is_judge and not self._may_write(path):
                raise ValueError(f"{path!r:.80}, a file that it was not told of")
            _write(path, what)
        self._looks = looks
        for path, *_ in sorted(entries):
            self._known.pop(path, None)
            with contextlib.suppress(OSError):
                self._known[path] = _state(os.lstat(os.path.join(PLACE, path)), path)


def _state(status: os.stat_result, path: str) -> tuple[Any, ...]:
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return "link", 0, os.readlink(os.path.join(PLACE, path))
    if stat.S_ISDIR(status.st_mode):
        return "folder", mode
    return "file", mode, status.st_mtime_ns, status.st_size, status.st_ino


def _walk(folder: str, depth: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
    if depth > 24:
        raise UnsharableError("temporary folders nested too deeply")
    try:
        with os.scandir(os.path.join(PLACE, folder)) as items:
            entries = sorted(items, key=lambda item: item.name)
    except OSError:  # a folder that may not be read
        return
    for item in entries:
        path = f"{folder}/{item.name}" if folder else item.name
        status = item.stat(follow_symlinks=False)
        is_folder = stat.S_ISDIR(status.st_mode)
        if is_folder or stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
            yield path, _state(status, path)
        if is_folder:
            yield from _walk(path, depth + 1)


def _read(path: str) -> bytes:
    full = os.path.join(PLACE, path)
    try:
        with open(full, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError:
        raise UnsharableError("a temporary file that cannot be read") from None


def _check(path: Any, what: list[Any], *, is_strict: bool) -> None:
    """Refuse what leads outside, and on the judge's side what it could run."""
    if type(path) is not str or not 0 < len(path) < 1000 or "\0" in path:
        raise ValueError("a path that is none")
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError("a path that leaves its folder")
    kinds = {"file": 3, "folder": 2, "link": 2}
    if not what or (what[0] is not None and len(what) != kinds.get(what[0])):
        raise ValueError("a file of no kind")
    if not is_strict or what[0] is None:
        return
    if what[0] != "folder" and parts[-1].lower().endswith(_REFUSED_ENDS):
        raise ValueError(f"{parts[-1]!r:.60}, a file that could be imported")
    if what[0] == "link":
        target = what[1]
        inside = type(target) is str and ".." not in target.split("/") and "\0" not in target
        if not inside or (target.startswith("/") and not target.startswith(f"{PLACE}/")):
            raise ValueError("a link that leads outside")
        if target.lower().endswith(_REFUSED_ENDS):
            raise ValueError("a link to a file that could be imported")
    elif type(what[1]) is not int or not 0 <= what[1] <= 0o777:
        raise ValueError("permissions that are none")


def _write(path: str, what: list[Any]) -> None:
    """Do it below the folder, through no link."""
    *folders, name = path.split("/")
    fd = os.open(PLACE, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for part in folders:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
            os.close(fd)
            fd = inner
        if what[0] == "folder":
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=fd)
            _set_mode(name, what[1], fd)
        elif what[0] == "link":
            _remove(name, fd)
            os.symlink(what[1], name, dir_fd=fd)
        elif what[0] == "file":
            data = base64.b64decode(what[2], validate=True)
            _remove_link(name, fd)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
            with os.fdopen(os.open(name, flags, 0o600, dir_fd=fd), "wb") as file:
                file.write(data)
                os.fchmod(file.fileno(), what[1])
        else:
            _remove(name, fd)
    finally:
        os.close(fd)


def _set_mode(name: str, mode: int, fd: int) -> None:
    inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
    try:
        os.fchmod(inner, mode | 0o700)  # each side has to look into it
    finally:
        os.close(inner)


def _remove_link(name: str, fd: int) -> None:
    """Make way for a regular file; a file that is open elsewhere stays the same one."""
    with contextlib.suppress(FileNotFoundError):
        status = os.stat(name, dir_fd=fd, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            _remove(name, fd)
        else:
            os.chmod(name, 0o600, dir_fd=fd)


def _remove(name: str, fd: int) -> None:
    try:
        os.unlink(name, dir_fd=fd)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(name, dir_fd=fd)
