"""Layers of images, each unpacked once into a directory that an overlay can show.

    found = read_layout(Path("layout"))        # OCI, or the content of what `docker save` wrote
    place = unpack(found.layers[0], found.blobs[0], into=layers, first_id=1_900_000_000, ids=65_536)

Covered: files, links, hard links, folders, owners (where root unpacks), permissions, times,
deletions and folders that were made anew (as overlayfs wants them); a path that leads out of its
layer, or through a link, is an error; a layer is complete or not there.
Not covered: devices and pipes, which are left out; set-uid bits, which no command could use; layers
that are encrypted or compressed by zstd (an error says so).
Sources: the OCI image layout and layer documents; the kernel's overlayfs document.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import tarfile
import tempfile
import zlib
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from unhack.core.errors import SandboxError
from unhack.sandbox.guest.server.reaper import remove_folder
from unhack.sandbox.linux import cgroups

_CHUNK = 1 << 20
_OPAQUE_MARK, _GONE_MARK = ".wh..wh..opq", ".wh."
_OPAQUE = "user.overlay.opaque"
_KEPT_BITS = 0o1777
_MAX_ENTRIES = 2_000_000
_MAX_BYTES = 64 << 30
_UNPACKING = ".unpacking-"
_MAX_LAYERS = 127
ODD = (ValueError, TypeError, AttributeError, OverflowError, RecursionError)
"""The errors that data of a strange shape causes in those who read it."""
INDEX = "index.json"
"""Beside a layer's files: [path, kind, mode, size, digest or target] of each entry."""


class ImageError(SandboxError):
    """An image that cannot be read, or a layer that is not what it says."""


@dataclass(frozen=True, slots=True)
class ImageLayout:
    """One image of an OCI layout."""

    id: str
    layers: tuple[str, ...]
    """Digests of the layers' contents, the lowest first."""
    blobs: tuple[Path, ...]
    config: dict[str, Any]


def read_layout(folder: Path, tag: str = "") -> ImageLayout:
    """The image of a layout, or of what `docker save` wrote, for this machine; with a tag the one
    that is called so. Raises ImageError."""
    if not any((folder / name).is_file() for name in ("index.json", "manifest.json")):
        raise ImageError(f"{folder} holds no image")
    try:
        if (folder / "index.json").is_file():
            index = json.loads((folder / "index.json").read_bytes())
            found = _manifest(folder, index, tag)
            config = json.loads(_blob(folder, found["config"]).read_bytes())
            blobs = tuple(_blob(folder, one) for one in found["layers"])
        else:
            saved = json.loads((folder / "manifest.json").read_bytes())
            found = _only(folder, [one for one in saved if not tag or tag in one["RepoTags"]])
            config = json.loads(_inside(folder, found["Config"]).read_bytes())
            blobs = tuple(_inside(folder, one) for one in found["Layers"])
        layers = tuple(config["rootfs"]["diff_ids"])
    except (OSError, KeyError, *ODD) as error:
        raise ImageError(f"{folder} holds no image: {type(error).__name__}: {error}") from None
    if len(layers) > _MAX_LAYERS or not all(isinstance(one, str) for one in layers):
        raise ImageError(f"{folder}: more than {_MAX_LAYERS} layers, or one without a digest")
    if len(layers) != len(blobs):
        raise ImageError(f"{folder}: {len(blobs)} layers, of which {len(layers)} are described")
    said = hashlib.sha256(json.dumps([layers, config.get("config")]).encode()).hexdigest()
    return ImageLayout(said, layers, blobs, config)


def _manifest(folder: Path, index: dict[str, Any], tag: str = "") -> dict[str, Any]:
    here = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    fitting = [
        one for one in index["manifests"]
        if one.get("platform", {}).get("architecture", here) == here
        and (not tag or tag in one.get("annotations", {}).values())
    ]  # fmt: skip
    found = json.loads(_blob(folder, _only(folder, fitting)).read_bytes())
    return _manifest(folder, found) if "manifests" in found else found


def _only(folder: Path, found: list[dict[str, Any]]) -> dict[str, Any]:
    if len(found) != 1:
        raise ImageError(
            f"{folder}: {len(found)} images fit this machine and the tag; name one by `:TAG`"
        )
    return found[0]


def _inside(folder: Path, name: str) -> Path:
    """A file of an archive, which may be a link within it. Raises ImageError."""
    place = (folder / name).resolve()
    if not place.is_relative_to(folder.resolve()):
        raise ImageError(f"{folder}: {name} lies outside")
    return place


def extract_archive(file: Path, into: Path) -> None:
    """Unpack the tar file of an image, of bounded size. Raises ImageError."""
    try:
        with tarfile.open(file) as archive:
            members = archive.getmembers()
            if sum(one.size for one in members) > min(
                _MAX_BYTES, shutil.disk_usage(into.parent).free
            ):
                raise ImageError(f"{file} holds more than there is room for")
            if hasattr(tarfile, "data_filter"):
                archive.extractall(into, filter="data")
            else:  # before 3.11.4: the Python of Debian 12
                archive.extractall(into, _within(file, members))
    except (tarfile.TarError, EOFError, zlib.error, *ODD) as error:
        raise ImageError(f"{file} holds no image: {type(error).__name__}: {error}") from None


def _within(file: Path, members: list[tarfile.TarInfo]) -> list[tarfile.TarInfo]:
    """The members as this user's, when each is a file, a folder or a link that leads nowhere else,
    none is written through a link. `_inside` looks again where links lead. Raises ImageError."""
    links = {PurePosixPath(one.name) for one in members if one.issym()}
    for one in members:
        place = PurePosixPath(one.name)
        leads = os.path.normpath(place.parent / one.linkname) if one.issym() else ""
        outside = {"..", "/"} & {*place.parts, leads[:1], leads[:2]} or links & {*place.parents}
        if outside or not (one.isreg() or one.isdir() or one.issym()):
            raise ImageError(f"{file}: {one.name} lies outside, or is no file, folder or link")
        one.uid, one.gid, one.uname, one.gname = os.getuid(), os.getgid(), "", ""
        one.mode &= 0o755
    return members


def _blob(folder: Path, described: dict[str, Any]) -> Path:
    kind, _, digest = str(described["digest"]).partition(":")
    if not kind.isalnum() or not digest.isalnum():
        raise ImageError(f"{folder}: {described['digest']} is no digest")
    return folder / "blobs" / kind / digest


def layer_name(layer: str, *, first_id: int, ids: int) -> str:
    """The name of the directory of a layer."""
    return f"{layer.replace(':', '-')}-{first_id}-{ids}"


def unpack(layer: str, blob: Path, *, into: Path, first_id: int, ids: int) -> Path:
    """The directory of a layer: `files` and the index. Unpacked now, unless that was done before.

    Raises ImageError; nothing is left behind then.
    """
    place = into / layer_name(layer, first_id=first_id, ids=ids)
    if place.is_dir():
        return place
    into.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(into)
    pid = os.getpid()
    making = tempfile.mkdtemp(prefix=f"{_UNPACKING}{pid}-{cgroups.start_time(pid)}-", dir=into)
    try:
        os.chmod(making, 0o755)
        unpacking = _Unpacking(f"{making}/files", first_id, ids)
        digest = unpacking.read(blob)
        if digest != layer.partition(":")[2]:
            raise ImageError(f"the layer {blob.name[:16]} does not hold what its image describes")
        Path(making, INDEX).write_text(json.dumps(unpacking.index))
        try:
            os.rename(making, place)
        except OSError:  # another process was as quick
            if not place.is_dir():
                raise
    finally:
        remove_folder(making)
    return place


def _remove_abandoned(into: Path) -> None:
    """Remove what unpacking that was killed has left."""
    for path in into.glob(f"{_UNPACKING}*"):
        pid, started, *_ = path.name.removeprefix(_UNPACKING).split("-")
        if cgroups.start_time(int(pid)) != started:
            remove_folder(str(path))


@dataclass(slots=True)
class _Unpacking:
    """One layer on its way. Only this process writes to the folder, so what is known of a path
    stays true."""

    top: str
    first_id: int
    ids: int
    index: list[list[Any]] = field(default_factory=list[list[Any]])
    _kinds: dict[str, str] = field(default_factory=dict[str, str])
    _files: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    _modes: dict[str, int] = field(default_factory=dict[str, int])
    _bytes: int = 0

    def read(self, blob: Path) -> str:
        """Unpack it all; the SHA-256 of the tar file."""
        os.mkdir(self.top, 0o755)
        self._own(self.top, 0, 0)
        try:
            with _opened(blob) as stream:
                hashed = _Hashing(stream)
                with tarfile.open(fileobj=cast("IO[bytes]", hashed), mode="r|") as archive:
                    for count, entry in enumerate(archive):
                        if count > _MAX_ENTRIES:
                            raise ImageError(f"a layer has more than {_MAX_ENTRIES:,} entries")
                        self._entry(archive, entry)
                while hashed.read(_CHUNK):
                    pass
        except (tarfile.TarError, EOFError, OSError, *ODD) as error:
            raise ImageError(f"the layer {blob.name[:16]}: {error}") from None
        for path, mode in reversed(self._modes.items()):
            os.chmod(f"{self.top}/{path}", mode)
        return hashed.digest

    def _entry(self, archive: tarfile.TarFile, entry: tarfile.TarInfo) -> None:
        path = _plain(entry.name)
        if path is None:
            return
        folder, _, name = path.rpartition("/")
        self._parents(folder)
        mode = entry.mode & _KEPT_BITS
        if name == _OPAQUE_MARK:
            self._set_opaque(folder)
        elif name.startswith(_GONE_MARK):
            gone = f"{folder}/{name.removeprefix(_GONE_MARK)}".lstrip("/")
            self._clear(gone)
            os.mknod(f"{self.top}/{gone}", stat.S_IFCHR | 0o600, os.makedev(0, 0))
            self._note(gone, "gone", 0, 0, "")
        elif entry.isdir():
            if self._kinds.get(path) != "folder":
                self._clear(path)
                self._make_folder(path)
            self._modes[path] = mode
            self._own(f"{self.top}/{path}", entry.uid, entry.gid)
            self._note(path, "folder", mode, 0, "")
        elif entry.issym():
            self._clear(path)
            os.symlink(entry.linkname, f"{self.top}/{path}")
            self._own(f"{self.top}/{path}", entry.uid, entry.gid)
            self._note(path, "link", 0o777, 0, entry.linkname)
        elif entry.islnk():
            self._hard_link(path, entry)
        elif entry.isreg():
            self._clear(path)
            self._file(path, archive, entry)

    def _file(self, path: str, archive: tarfile.TarFile, entry: tarfile.TarInfo) -> None:
        source = archive.extractfile(entry)
        assert source is not None
        self._bytes += entry.size
        if self._bytes > _MAX_BYTES:
            raise ImageError(f"a layer holds more than {_MAX_BYTES >> 30} GiB")
        place, digest = f"{self.top}/{path}", hashlib.sha256()
        with open(place, "xb") as file:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
                file.write(chunk)
        self._own(place, entry.uid, entry.gid)
        os.chmod(place, entry.mode & _KEPT_BITS)
        os.utime(place, (max(0, entry.mtime), max(0, entry.mtime)))
        self._note(path, "file", entry.mode & 0o777, entry.size, digest.hexdigest())

    def _hard_link(self, path: str, entry: tarfile.TarInfo) -> None:
        target = _plain(entry.linkname)
        known = self._files.get(target or "")
        if target is None or known is None:
            raise ImageError(f"{path} is a hard link to {entry.linkname}, which is not there")
        if path == target:
            return
        self._clear(path)
        os.link(f"{self.top}/{target}", f"{self.top}/{path}", follow_symlinks=False)
        self._note(path, *known[1:])

    def _parents(self, folder: str) -> None:
        """Make the folders above an entry that this layer does not name."""
        if not folder or self._kinds.get(folder) == "folder":
            return
        if folder in self._kinds:
            raise ImageError(f"{folder} is no folder, and something is said to stand in it")
        self._parents(folder.rpartition("/")[0])
        self._make_folder(folder)
        self._modes[folder] = 0o755
        self._own(f"{self.top}/{folder}", 0, 0)
        self._note(folder, "above", 0o755, 0, "")

    def _make_folder(self, path: str) -> None:
        os.mkdir(f"{self.top}/{path}", 0o700)
        self._kinds[path] = "folder"

    def _set_opaque(self, folder: str) -> None:
        os.setxattr(f"{self.top}/{folder}", _OPAQUE, b"y")
        self._note(folder, "opaque", 0, 0, "")
        if folder:
            self._kinds[folder] = "folder"

    def _clear(self, path: str) -> None:
        """Make room: a later entry of a layer takes an earlier one's place."""
        kind = self._kinds.pop(path, "")
        if kind == "folder":
            raise ImageError(f"{path} is a folder and then something else in one layer")
        if kind:
            os.unlink(f"{self.top}/{path}")

    def _note(self, path: str, kind: str, mode: int, size: int, text: str) -> None:
        row = [path, kind, mode, size, text]
        self.index.append(row)
        self._kinds[path] = "folder" if kind in ("folder", "above", "opaque") else kind
        if kind == "file":
            self._files[path] = row

    def _own(self, place: str, uid: int, gid: int) -> None:
        if os.geteuid() == 0:
            owners = (one if one < self.ids else 0 for one in (uid, gid))
            os.lchown(place, *(self.first_id + one for one in owners))


class _Hashing:
    """A stream that is read once, with the digest of what was read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._hash = stream, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._hash.update(data)
        return data

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()


@contextlib.contextmanager
def _opened(blob: Path) -> Generator[IO[bytes]]:
    """A layer without its compression."""
    import gzip

    if not blob.is_file():
        raise ImageError(f"the layer {blob.name[:16]} is no file")
    with blob.open("rb") as raw:
        start = raw.read(4)
        raw.seek(0)
        if start == b"\x28\xb5\x2f\xfd":
            raise ImageError("the layer is compressed by zstd: convert the image with skopeo first")
        if start[:2] == b"\x1f\x8b":
            with gzip.open(raw) as stream:
                yield cast("IO[bytes]", stream)
        else:
            yield raw


def _plain(name: str) -> str | None:
    """A path of a tar file relative to the root directory; None for that itself.

    Raises ImageError for one that leaves it."""
    parts = [part for part in PurePosixPath(name.lstrip("/")).parts if part != "."]
    if ".." in parts:
        raise ImageError(f"{name} leaves its layer")
    return "/".join(parts) or None
