"""Images on this host: their layers, unpacked, and the root directory that they make.

    store = ImageStore()                          # ~/.cache/unhack/images
    image = store.take(Path("layout"), key="…")   # unpack what is not there
    root = store.load("…")                        # an ImageRoot, or None

Covered: layers are shared among images and processes; an image is there whole or not at all; places
that a container's engine brings (/proc, /dev, /etc/hosts, /tmp) stand in a layer of their own.
Not covered: removing what is no longer needed: the folder may be removed; images of other machines.
Source: the OCI image configuration.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import UsageError
from unhack.sandbox.images.layout import INDEX, ODD, ImageError, layer_name, read_layout, unpack
from unhack.sandbox.pool.worker_start import image_ids
from unhack.sandbox.workspace.image_root import ImageRoot
from unhack.sandbox.workspace.tree import (
    EMPTY,
    Change,
    Changes,
    Folder,
    NewFolder,
    Removed,
    StoredFile,
    StoredLink,
)

_PLACE = "UNHACK_IMAGES"
_MOST_NAME = 256
"""Bytes of the name of a layer, which stands in place of its file."""
_FOLDERS = {"proc": 0o555, "sys": 0o555, "dev": 0o755, "tmp": 0o1777, "etc": 0o755,
            "logs": 0o755, "logs/verifier": 0o777, "logs/artifacts": 0o777}  # fmt: skip
_FILES = {
    "etc/hosts": b"127.0.0.1 localhost\n::1 localhost\n",
    "etc/hostname": b"sandbox\n",
    "etc/resolv.conf": b"",
}
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class ImageStore:
    """The images of one user on this host.

    Example:

        store = ImageStore()
        root = store.load("my-task")
    """

    def __init__(self, place: Path | None = None) -> None:
        """In `place`; by default in the folder of the environment variable UNHACK_IMAGES, or else
        among the user's caches."""
        caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        self.place = place or Path(os.environ.get(_PLACE) or Path(caches, "unhack", "images"))
        self._layers, self._images = self.place / "layers", self.place / "roots"
        self.first_id, self.ids = image_ids()
        self._loaded: dict[str, ImageRoot] = {}

    def load(self, key: str) -> ImageRoot | None:
        """The image that was taken under a key; None for none."""
        if key not in self._loaded:
            try:
                record = json.loads(self._record(key).read_bytes())
            except FileNotFoundError:
                return None
            folders = [self._layers / name for name in record["layers"]]
            if record["ids"] != [self.first_id, self.ids] or not all(map(Path.is_dir, folders)):
                return None
            self._loaded[key] = self._root(record, folders)
        return self._loaded[key]

    @contextlib.contextmanager
    def incoming(self) -> Generator[Path]:
        """An OCI layout for `take` that a program copies into by itself: it passes over layers that
        are unpacked here, in whose place short files stand. One caller at a time."""
        layout = self.place / f"layout-{self.first_id}-{self.ids}"
        blobs = layout / "blobs" / "sha256"
        blobs.mkdir(parents=True, exist_ok=True)

        def tidy() -> None:
            (layout / "index.json").unlink(missing_ok=True)
            for blob in blobs.iterdir():
                known = blob.read_text(errors="replace") if blob.stat().st_size < _MOST_NAME else ""
                if not known.startswith("sha256-") or not (self._layers / known).is_dir():
                    blob.unlink()

        tidy()
        yield layout
        index = read_layout(layout)
        for layer, blob in zip(index.layers, index.blobs, strict=True):
            blob.write_text(layer_name(layer, first_id=self.first_id, ids=self.ids))
        tidy()

    def take(self, layout: Path, tag: str = "", *, key: str) -> ImageRoot:
        """Unpack the image of an OCI layout, or of what `docker save` wrote, and keep it under a
        key.

        Raises ImageError, and OSError where the disk is full."""
        found = read_layout(layout, tag)
        kept = [
            unpack(layer, blob, into=self._layers, first_id=self.first_id, ids=self.ids).name
            for layer, blob in zip(found.layers, found.blobs, strict=True)
        ]
        kept.append(self._engine_layer())
        record: dict[str, Any] = {
            "id": found.id, "layers": kept, "config": found.config.get("config") or {},
            "ids": [self.first_id, self.ids],
        }  # fmt: skip
        self._images.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self._images, delete=False) as file:
            json.dump(record, file)
        os.rename(file.name, self._record(key))
        self._loaded.pop(key, None)
        try:
            root = self.load(key)
        except ODD as error:
            raise ImageError(f"{layout}: its configuration cannot be read: {error}") from None
        assert root is not None
        return root

    def _record(self, key: str) -> Path:
        if not key or not all(letter.isalnum() or letter in "-_." for letter in key):
            raise UsageError(f"{key!r} is no key of an image")
        return self._images / f"{key}.json"

    def _engine_layer(self) -> str:
        """The layer of what a container's engine would bring; its name."""
        name = f"engine-{self.first_id}-{self.ids}"
        place = self._layers / name
        if place.is_dir():
            return name
        self._layers.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._layers) as making:
            rows: list[list[Any]] = []
            files = Path(making, "made", "files")
            files.mkdir(parents=True)
            for path, mode in _FOLDERS.items():
                (files / path).mkdir()
                (files / path).chmod(mode)
                rows.append([path, "folder", mode & 0o777, 0, ""])
            for path, data in _FILES.items():
                (files / path).write_bytes(data)
                rows.append([path, "file", 0o644, len(data), hashlib.sha256(data).hexdigest()])
            if os.geteuid() == 0:
                for one in (files, *files.rglob("*")):
                    os.lchown(one, self.first_id, self.first_id)
            (files.parent / INDEX).write_text(json.dumps(rows))
            if not place.is_dir():
                os.rename(files.parent, place)
        return name

    def _root(self, record: dict[str, Any], layers: list[Path]) -> ImageRoot:
        tree = EMPTY
        for layer in layers:
            tree = _with_layer(tree, layer)
        config = record["config"]
        given = dict(one.partition("=")[::2] for one in config.get("Env") or ())
        user, home = self._user(tree, str(config.get("User") or ""))
        return ImageRoot(
            id=record["id"],
            folders=tuple(str(layer / "files") for layer in layers),
            tree=tree,
            environ={"PATH": _PATH, **given},
            workdir=config.get("WorkingDir") or "/",
            user=user,
            home=home,
            first_id=self.first_id,
            ids=self.ids,
        )

    def _user(self, tree: Folder, said: str) -> tuple[tuple[int, int, tuple[int, ...]], str]:
        """((uid, gid, further groups), home) of `USER`. Raises ImageError for an unknown name."""
        users, groups = _table(tree, "etc/passwd", 7), _table(tree, "etc/group", 4)
        name, _, group = said.partition(":")
        name = name or "0"
        found = next((row for row in users if name in (row[0], row[2])), None)
        if found is None and not name.isdigit():
            raise ImageError(f"the image's USER {name} is not in its /etc/passwd")
        uid = int(found[2]) if found else int(name)
        gid = int(found[3]) if found else 0
        if group:
            known = next((row for row in groups if group in (row[0], row[2])), None)
            if known is None and not group.isdigit():
                raise ImageError(f"the image's group {group} is not in its /etc/group")
            gid = int(known[2]) if known else int(group)
        more = [int(row[2]) for row in groups if found and found[0] in row[3].split(",")]
        home = found[5] if found else "/"
        if max(uid, gid, *more, 0) >= self.ids:
            return (0, 0, ()), home  # without a range of ids, everything belongs to root
        return (uid, gid, tuple(more)), home


def _table(tree: Folder, path: str, columns: int) -> list[list[str]]:
    """The rows of a file such as /etc/passwd whose ids are numbers."""
    file = tree.find(path)
    if not isinstance(file, StoredFile):
        return []
    text = Path(file.place).read_text(errors="replace")
    rows = [line.split(":") for line in text.splitlines()]
    return [row for row in rows if len(row) == columns and row[2].isdigit()]


def _with_layer(tree: Folder, layer: Path) -> Folder:
    """The tree with a layer above it."""
    rows = cast("list[list[Any]]", json.loads((layer / INDEX).read_bytes()))
    found: Changes = {}
    opaque = {row[0] for row in rows if row[1] == "opaque"}
    for path, kind, mode, size, text in rows:
        change: Change
        if kind == "gone":
            change = Removed()
        elif kind == "folder":
            change = NewFolder(mode, fresh=path in opaque)
        elif kind == "link":
            change = StoredLink(text)
        elif kind == "file":
            change = StoredFile(bytes.fromhex(text), size, mode, f"{layer}/files/{path}")
        elif kind == "above" and not isinstance((tree.find(path)), Folder):
            change = NewFolder(mode)
        else:
            continue
        if found.get(path) is None or not isinstance(change, NewFolder):
            found[path] = change
        else:
            found[path] = NewFolder(mode, fresh=path in opaque)
    return tree.with_changes(found)
