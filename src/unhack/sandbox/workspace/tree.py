"""Immutable trees of files: the value that a workspace's state is.

    tree = EMPTY.with_changes({"src": NewFolder(), "src/core.py": StoredFile(...)})
    tree.digest                          # the same for equal trees, whatever made them
    changes(before, after)               # what leads from one to the other

Covered: regular files with their permission bits, symbolic links, folders (empty ones too) with
theirs, deletions; names that are no UTF-8 (surrogates stand for the bytes).
Not covered: owners, times and hard links, which are no part of a state; sockets, devices and pipes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from unhack.core.errors import UsageError

PERMISSIONS = 0o777


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A regular file whose content stands in a layer of the store."""

    sha256: bytes
    size: int
    """Bytes."""
    mode: int
    """Permission bits."""
    place: str = field(compare=False)
    """Absolute path of the content, which never changes."""

    def tag(self) -> bytes:
        """Its kind and content, for the digest of the folder that holds it."""
        return b"f%03o" % self.mode + self.sha256


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A symbolic link."""

    target: str

    def tag(self) -> bytes:
        """Its kind and target, for the digest of the folder that holds it."""
        return b"l" + hashlib.sha256(os.fsencode(self.target)).digest()


@dataclass(frozen=True)
class Folder:
    """A folder and everything below it."""

    mode: int = 0o755
    entries: Mapping[str, Node] = field(default_factory=dict[str, "Node"])

    @cached_property
    def sha256(self) -> bytes:
        """The digest of everything below; computed once for each folder that changed."""
        state = hashlib.sha256()
        for name in sorted(self.entries):
            state.update(self.entries[name].tag() + os.fsencode(name) + b"\0")
        return state.digest()

    @property
    def digest(self) -> str:
        """The content hash in hexadecimal: equal for equal trees."""
        return hashlib.sha256(self.tag()).hexdigest()

    def tag(self) -> bytes:
        """Its kind, mode and content, for the digest of the folder that holds it."""
        return b"d%03o" % self.mode + self.sha256

    def find(self, path: str) -> Node | None:
        """The node at a relative path; no link is followed. The empty path is this folder."""
        node: Node | None = self
        for part in split(path):
            if not isinstance(node, Folder):
                return None
            node = node.entries.get(part)
        return node

    def walk(self, prefix: str = "") -> Iterator[tuple[str, Node]]:
        """(relative path, node) of everything below, folders before what they hold."""
        for name in sorted(self.entries):
            node = self.entries[name]
            yield prefix + name, node
            if isinstance(node, Folder):
                yield from node.walk(f"{prefix}{name}/")

    def files(self) -> dict[str, StoredFile]:
        """The regular files below, by relative path."""
        return {path: node for path, node in self.walk() if isinstance(node, StoredFile)}

    def with_changes(self, changed: Mapping[str, Change]) -> Folder:
        """The tree after `changed`, in order. Raises UsageError where a parent is no folder."""
        root = _Draft(self)
        for path, change in changed.items():
            root.apply(split(path), change, path)
        return root.freeze()


Node = StoredFile | StoredLink | Folder


@dataclass(frozen=True, slots=True)
class NewFolder:
    """A folder that is there afterwards, with what it held unless it is fresh."""

    mode: int = 0o755
    fresh: bool = False
    """True where nothing shows through of a folder that stood there."""


@dataclass(frozen=True, slots=True)
class Removed:
    """Nothing is there afterwards."""


Change = StoredFile | StoredLink | NewFolder | Removed
Changes = dict[str, Change]
"""Relative path -> what is there afterwards; folders stand before what they hold."""
EMPTY = Folder()


def split(path: str) -> list[str]:
    """The parts of a relative path. Raises UsageError for one that leaves its tree."""
    if not path:
        return []
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in path:
        raise UsageError(f"{path!r} is no relative path inside the workspace")
    return parts


class _Draft:
    """A folder in the making: copied where something changes, shared elsewhere."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._mode = folder.mode
        self._entries: dict[str, Node | _Draft] = {}
        self._removed: set[str] = set()
        self._changed = False

    def apply(self, parts: list[str], change: Change, path: str) -> None:
        if not parts:
            if not isinstance(change, NewFolder):
                raise UsageError("the workspace itself is a folder and stays one")
            self._mode, self._changed = change.mode, True
            return
        name = parts[0]
        if len(parts) > 1:
            inner = self._draft(name)
            if inner is None:
                raise UsageError(f"{path!r}: {name!r} is no folder")
            inner.apply(parts[1:], change, path)
            self._changed = True
            return
        self._changed = True
        self._removed.discard(name)
        if isinstance(change, Removed):
            self._entries.pop(name, None)
            self._removed.add(name)
        elif isinstance(change, NewFolder):
            inner = None if change.fresh else self._draft(name)
            made = inner or _Draft(EMPTY)
            made.apply([], change, path)
            self._entries[name] = made
        else:
            self._entries[name] = change

    def _draft(self, name: str) -> _Draft | None:
        if name in self._removed:
            return None
        found = self._entries.get(name) or self._folder.entries.get(name)
        if isinstance(found, Folder):
            found = self._entries[name] = _Draft(found)
        return found if isinstance(found, _Draft) else None

    def freeze(self) -> Folder:
        if not self._changed:
            return self._folder
        entries: dict[str, Node] = dict(self._folder.entries)
        for name in self._removed:
            entries.pop(name, None)
        for name, one in self._entries.items():
            entries[name] = one.freeze() if isinstance(one, _Draft) else one
        return Folder(self._mode, entries)


def changes(before: Folder, after: Folder) -> Changes:
    """The changes that lead from one tree to another; empty for equal ones."""
    found: Changes = {}
    if before.mode != after.mode:
        found[""] = NewFolder(after.mode)
    _compare(before, after, "", found)
    return found


def _compare(before: Folder, after: Folder, prefix: str, found: Changes) -> None:
    if before is after:
        return
    for name in before.entries:
        if name not in after.entries:
            found[prefix + name] = Removed()
    for name, new in after.entries.items():
        old = before.entries.get(name)
        if old is new:
            continue
        path = prefix + name
        if isinstance(new, Folder):
            known = isinstance(old, Folder)
            if known and old.mode == new.mode and old.sha256 == new.sha256:
                continue
            if not known or old.mode != new.mode:
                found[path] = NewFolder(new.mode, fresh=not known)
            _compare(old if known else EMPTY, new, f"{path}/", found)
        elif old != new:
            found[path] = new
