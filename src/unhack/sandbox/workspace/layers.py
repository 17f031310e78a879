"""Layers of a workspace on the host: directories that are written once and then only read.

The writable layer of a command lies in memory of bounded size; the host holds it by a descriptor
and copies what changed into a layer of its own, once the command's processes are dead.

Covered: the form that overlayfs wants (a deletion is a character device 0, 0); permission bits that
shut the host itself out; a layer goes when nobody refers to it; directories of hosts that were
killed are removed by the next. Of a command's layer: files, links, folders, deletions, folders that
were deleted and made again; sockets, devices and pipes, names too long and folders too deep, which
are left out and told.
Not covered: sharing of layers between hosts; a layer whose processes still run. Hard links become
separate files.
Source: the kernel's overlayfs document (whiteouts, opaque directories, `user.overlay.*`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unhack.core.errors import SandboxError
from unhack.sandbox.guest.server.reaper import remove_folder
from unhack.sandbox.linux import cgroups
from unhack.sandbox.workspace.tree import (
    PERMISSIONS,
    Changes,
    Folder,
    NewFolder,
    Removed,
    StoredFile,
    StoredLink,
)

_PREFIX = "unhack-workspaces-"
_MEMORY = Path("/dev/shm")
_MEMORY_FREE = 1 << 30
"""Bytes that must be free in memory for the store to stand there."""
WRITTEN_NS = 1_700_000_000 * 10**9
"""Modification time of files that the host writes, so that equal states look equal."""
_CHUNK = 1 << 20
MAX_DEPTH = 64
MAX_PATH = 1024
"""Levels of folders and bytes of a relative path that a state holds."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OPAQUE = "user.overlay.opaque"
_MOST_TOLD = 20


class WrittenLayer:
    """A directory of the store; removed when nobody refers to it any more."""

    def __init__(self, top: str, name: str) -> None:
        self.name = name
        """Relative to the store."""
        self.folder = f"{top}/{name}"
        """Absolute path on the host."""
        self._remove = weakref.finalize(self, remove_folder, self.folder)

    def discard(self) -> None:
        """Remove it now."""
        self._remove()


class LayerStore:
    """The directory that holds the layers of one host process."""

    def __init__(
        self, place: Path | None = None, *, uid: int = -1, gid: int = -1, keep_owners: bool = False
    ) -> None:
        """Make it in `place`, by default in memory where there is room. `uid` and `gid` own what
        stands there; -1 leaves that to the caller's; what a command has made keeps its owner with
        `keep_owners`. Raises SandboxError where nothing can be written."""
        self.uid, self.gid, self.keep_owners = uid, gid, keep_owners
        parent = place or _default_place()
        reap_stale(parent)
        try:
            self.top = tempfile.mkdtemp(prefix=_prefix(os.getpid()), dir=parent)
        except OSError as error:
            raise SandboxError(f"no workspace can be kept in {parent}: {error}") from None
        self.own(self.top)
        self._count = 0
        self._remove = weakref.finalize(self, remove_folder, self.top)

    def own(self, path: str, found: os.stat_result | None = None) -> None:
        """Give a path of the store to its owner: that of `found`, where owners are kept."""
        if self.uid < 0:
            return
        if found is not None and self.keep_owners:
            os.lchown(path, found.st_uid, found.st_gid)
        else:
            os.lchown(path, self.uid, self.gid)

    def writer(self, *, below: Sequence[str] = ()) -> LayerWriter:
        """A new, empty layer in the making. `below` are the directories of the layers below it, the
        lowest first, where owners are kept."""
        self._count += 1
        layer = WrittenLayer(self.top, f"{self._count:x}")
        os.mkdir(layer.folder, 0o755)
        self.own(layer.folder)
        return LayerWriter(self, layer, below)

    def close(self) -> None:
        """Remove every layer."""
        self._remove()


class LayerWriter:
    """A layer in the making."""

    def __init__(self, store: LayerStore, layer: WrittenLayer, below: Sequence[str] = ()) -> None:
        self._store, self.layer, self._below = store, layer, below
        self._modes: dict[str, int] = {}
        """Final modes of folders, which have to be open while they are written to."""

    def folder(self, path: str, mode: int, found: os.stat_result | None = None) -> None:
        """Make a folder, or give the one that is there another mode. `found` is the one that it
        stands for, where that is known."""
        place = self._place(path)
        with contextlib.suppress(FileExistsError):
            os.mkdir(place, 0o700)
            self._store.own(place, found or self._lower(path))
        self._modes[place] = mode & PERMISSIONS

    def _lower(self, path: str) -> os.stat_result | None:
        """The entry that the layers below have at a path."""
        for folder in reversed(self._below):
            with contextlib.suppress(OSError):
                return os.lstat(f"{folder}/{path}")
        return None

    def parents(self, path: str, modes: dict[str, int]) -> None:
        """Make the folders above a path that this layer lacks, with the modes that they have."""
        above = path.rpartition("/")[0]
        if above and not os.path.lexists(self._place(above)):
            self.parents(above, modes)
            self.folder(above, modes[above])

    def file(self, path: str, content: bytes, mode: int) -> StoredFile:
        """Write a file that the host makes; the owner is that of the one below, or the folder's."""
        place = self._place(path)
        with open(place, "xb") as file:
            file.write(content)
        stored = self._finish(place, hashlib.sha256(content).digest(), len(content), mode)
        if self._below:
            above = os.stat(os.path.dirname(place))
            self._store.own(place, self._lower(path) or above)
        return stored

    def copied(self, path: str, source: int, found: os.stat_result) -> StoredFile:
        """Copy a file from an open descriptor, with its modification time."""
        place = self._place(path)
        state = hashlib.sha256()
        size = 0
        with open(place, "xb", buffering=0) as file:
            while chunk := os.read(source, _CHUNK):
                state.update(chunk)
                file.write(chunk)
                size += len(chunk)
        return self._finish(place, state.digest(), size, found.st_mode, found)

    def linked(self, path: str, file: StoredFile) -> StoredFile:
        """Take the content of a file from another layer of the store."""
        place = self._place(path)
        try:
            os.link(file.place, place)
        except PermissionError:  # an ordinary user's own, below a folder that an agent has closed
            return self.file(path, read_stored(file), file.mode)
        except OSError:  # the file system has no more names for it
            shutil.copy2(file.place, place)
            self._store.own(place, os.stat(file.place))
        return StoredFile(file.sha256, file.size, file.mode, place)

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link."""
        os.symlink(target, self._place(path))
        self._store.own(self._place(path))

    def removed(self, path: str) -> None:
        """Hide what lower layers have at a path."""
        place = self._place(path)
        if not os.path.lexists(place):
            os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(0, 0))

    def finish(self) -> WrittenLayer:
        """Give the folders their modes; the layer is not written to any more."""
        for place, mode in reversed(self._modes.items()):
            os.chmod(place, mode)
        return self.layer

    def _finish(
        self, place: str, digest: bytes, size: int, mode: int, found: os.stat_result | None = None
    ) -> StoredFile:
        mtime_ns = found.st_mtime_ns if found else WRITTEN_NS
        self._store.own(place, found)
        os.chmod(place, mode & PERMISSIONS)
        os.utime(place, ns=(mtime_ns, mtime_ns))
        return StoredFile(digest, size, mode & PERMISSIONS, place)

    def _place(self, path: str) -> str:
        return f"{self.layer.folder}/{path}" if path else self.layer.folder


def read_stored(file: StoredFile, *, max_bytes: int = -1) -> bytes:
    """The content of a file of the store, cut at `max_bytes`; its permission bits do not matter."""
    try:
        with open(file.place, "rb") as stream:
            return stream.read(max_bytes)
    except PermissionError:
        with contextlib.ExitStack() as after:
            for folder in reversed(Path(file.place).parents):  # of an ordinary user's own store
                if not os.access(folder, os.X_OK):
                    _open_up(str(folder), folder.stat().st_mode, stat.S_IXUSR, after)
            _open_up(file.place, file.mode, stat.S_IRUSR, after)
            with open(file.place, "rb") as stream:
                return stream.read(max_bytes)


def _open_up(place: str, mode: int, bit: int, after: contextlib.ExitStack) -> None:
    os.chmod(place, stat.S_IMODE(mode) | bit)
    after.callback(os.chmod, place, stat.S_IMODE(mode))


def reap_stale(parent: Path) -> list[str]:
    """Remove the stores in `parent` whose host process is gone; their paths."""
    removed: list[str] = []
    for path in parent.glob(f"{_PREFIX}*"):
        pid, started, *_ = [*path.name.removeprefix(_PREFIX).split("-"), ""]
        if not pid.isdigit() or cgroups.start_time(int(pid)) == started:
            continue
        remove_folder(str(path))
        removed.append(str(path))
    return removed


def _prefix(pid: int) -> str:
    return f"{_PREFIX}{pid}-{cgroups.start_time(pid)}-"


def _default_place() -> Path:
    with contextlib.suppress(OSError):
        free = os.statvfs(_MEMORY)
        if free.f_bavail * free.f_frsize >= _MEMORY_FREE and os.access(_MEMORY, os.W_OK):
            return _MEMORY
    return Path(tempfile.gettempdir())


@dataclass(slots=True)
class Left:
    """Changes that were found, and the paths that no state can hold."""

    changes: Changes = field(default_factory=Changes)
    left_out: list[str] = field(default_factory=list[str])

    def leave_out(self, path: str) -> None:
        """Take note of a path; only the first ones are told."""
        if len(self.left_out) < _MOST_TOLD:
            self.left_out.append(path)


def read_written(layer: int, writer: LayerWriter) -> Left:
    """The changes in the writable layer of an overlay, its files copied into `writer`."""
    left = Left()
    mode = os.fstat(layer).st_mode & PERMISSIONS
    with contextlib.suppress(PermissionError):
        os.fchmod(layer, mode | 0o700)
    left.changes[""] = NewFolder(mode)
    _read(layer, "", 0, (writer, left))
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
                writer.folder(path, found.st_mode, found)
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
    if mode & 0o500 != 0o500 and (flags == _DIRECTORY or not mode & 0o400):
        with contextlib.suppress(PermissionError):  # a folder that opens may still show nothing
            os.chmod(name, stat.S_IMODE(mode) | 0o700, dir_fd=folder)
    return os.open(name, flags, dir_fd=folder)


def _is_opaque(folder: int) -> bool:
    with contextlib.suppress(OSError):
        return os.getxattr(folder, _OPAQUE) == b"y"
    return False


def compare_copy(layer: int, before: Folder, writer: LayerWriter) -> Left:
    """The same for a workspace that is a plain copy, where overlays are refused."""
    left = read_written(layer, writer)
    found = {path for path in left.changes if path}
    gone: Changes = {}
    for path, _ in before.walk():
        above = path.rpartition("/")[0]
        if path not in found and (not above or above in found):
            gone[path] = Removed()
    left.changes = {**gone, **left.changes}
    return left
