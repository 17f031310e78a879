"""States of a workspace: immutable, cheap to fork, each with a content hash.

    store = StateStore()
    start = store.load({"pkg/core.py": b"x = 1\n"})
    other = store.edited(start, {"pkg/core.py": b"x = 2\n", "notes.txt": b""})
    start.id == store.edited(other, {"pkg/core.py": b"x = 1\n", "notes.txt": None}).id

A fork is a second reference: nothing is copied, whatever the size. A state keeps its layers alive.

Covered: any number of states with shared layers; a stack of layers that grows too deep is flattened
into one above the start; equal trees have equal ids, whatever led to them.
Not covered: what a command does (`workspace.supervisor`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from unhack.core.errors import UsageError
from unhack.sandbox.workspace.image_root import ImageRoot
from unhack.sandbox.workspace.layers import (
    LayerStore,
    LayerWriter,
    Left,
    WrittenLayer,
    compare_copy,
    read_stored,
    read_written,
)
from unhack.sandbox.workspace.tree import (
    EMPTY,
    Changes,
    Folder,
    NewFolder,
    Removed,
    StoredFile,
    StoredLink,
    changes,
    split,
)

MAX_LAYERS = 30


@dataclass(frozen=True, eq=False)
class WorkspaceState:
    r"""A tree of files, and the layers that an overlay shows it with.

    Example:

        state = store.load({"core.py": b"x = 1\n"})
        state.id, state.read("core.py")
    """

    tree: Folder = field(repr=False)
    layers: tuple[WrittenLayer, ...] = field(repr=False)
    """The lowest first."""
    origin: WorkspaceState | None = field(default=None, repr=False)
    """The state that was loaded; None for that itself."""
    start: str | None = None
    """Of the root directory of an image: the folder in which commands start, and to which relative
    paths of tools belong. None for a workspace."""

    @property
    def id(self) -> str:
        """The content hash of the tree, in hexadecimal."""
        return self.tree.digest

    def read(self, path: str, *, max_bytes: int = -1) -> bytes | None:
        """The content of a regular file, cut at `max_bytes`; None where there is none. No link is
        followed. Raises UsageError for a path that leaves the workspace."""
        node = self.tree.find(path)
        return read_stored(node, max_bytes=max_bytes) if isinstance(node, StoredFile) else None

    def changes(self) -> Changes:
        """The changes since the state that was loaded."""
        return {} if self.origin is None else changes(self.origin.tree, self.tree)


class StateStore:
    r"""Makes states; its layers stand on the host.

    Example:

        store = StateStore()
        start = store.load({"core.py": b"x = 1\n"})
        changed = store.edited(start, {"core.py": b"x = 2\n"})
    """

    def __init__(
        self,
        place: Path | None = None,
        *,
        uid: int = -1,
        gid: int = -1,
        image: ImageRoot | None = None,
    ) -> None:
        """See `LayerStore`. With an `image`, every state is one of its whole root directory."""
        self.layers = LayerStore(place, uid=uid, gid=gid, keep_owners=image is not None)
        self._image = image

    def untouched(self) -> WorkspaceState:
        """The state of the image as it is, or of an empty workspace."""
        tree = EMPTY if self._image is None else self._image.tree
        start = None if self._image is None else self._image.workdir.strip("/")
        state = WorkspaceState(tree, (), start=start)
        if start and tree.find(start) is None:  # an engine makes it when a container begins
            state = replace(self.laid(state, {start: NewFolder()}), origin=None)
        return state

    def _writer(self, state: WorkspaceState) -> LayerWriter:
        """A layer above a state's."""
        if self._image is None:
            return self.layers.writer()
        above = [layer.folder for layer in state.layers]
        return self.layers.writer(below=[*self._image.folders, *above])

    def load(
        self, files: Mapping[str, bytes], *, executable: Set[str] = frozenset()
    ) -> WorkspaceState:
        """A state with these files. Raises UsageError for a path that is no file's."""
        writer = self.layers.writer()
        found: Changes = {}
        for path in sorted(files):
            _add_parents(found, path)
            if path in found:
                raise UsageError(f"{path!r} is both a file and a folder")
            writer.parents(path, _modes(found))
            found[path] = writer.file(path, files[path], 0o755 if path in executable else 0o644)
        return WorkspaceState(EMPTY.with_changes(found), (writer.finish(),))

    def load_folder(self, folder: Path) -> WorkspaceState:
        """A state with all that stands below a directory of the host, modes and links included."""
        writer = self.layers.writer()
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            left = read_written(top, writer)
        finally:
            os.close(top)
        return WorkspaceState(EMPTY.with_changes(left.changes), (writer.finish(),))

    def edited(
        self,
        state: WorkspaceState,
        edits: Mapping[str, bytes | None],
        *,
        executable: Set[str] = frozenset(),
    ) -> WorkspaceState:
        """The state after files were written, or removed (None). A new file's folders are made; a
        file that is there keeps its mode, a folder is removed with all that it holds.

        Raises UsageError for a path that leads through something else than folders.
        """
        writer = self._writer(state)
        found: Changes = {}
        modes = {path: node.mode for path, node in _folders_above(state.tree, edits).items()}
        for path, content in edits.items():
            split(path)
            if content is None:
                if state.tree.find(path) is None:
                    raise UsageError(f"{path!r} is not there")
                found[path] = Removed()
                continue
            there = state.tree.find(path)
            if isinstance(there, Folder):
                raise UsageError(f"{path!r} is a folder")
            _add_parents(found, path, state.tree)
            writer.parents(path, {**modes, **_modes(found)})
            new = 0o755 if path in executable else 0o644
            mode = there.mode if isinstance(there, StoredFile) else new
            found[path] = writer.file(path, content, mode)
        return self._above(state, found, writer)

    def after(
        self, state: WorkspaceState, layer: int, *, overlay: bool
    ) -> tuple[WorkspaceState, list[str]]:
        """The state that a command has left in its writable layer, and paths that it cannot hold.

        `layer` is a descriptor of its directory; without `overlay` it holds the whole
        workspace.
        """
        writer = self._writer(state)
        left: Left
        left = read_written(layer, writer) if overlay else compare_copy(layer, state.tree, writer)
        return self._above(state, left.changes, writer), left.left_out

    def close(self) -> None:
        """Remove every layer; no state can be read any more."""
        self.layers.close()

    def _above(self, state: WorkspaceState, found: Changes, writer: LayerWriter) -> WorkspaceState:
        tree = state.tree.with_changes(found)
        if tree.sha256 == state.tree.sha256 and tree.mode == state.tree.mode:
            writer.finish().discard()
            return state
        for path, change in changes(state.tree, tree).items():
            if isinstance(change, Removed):
                writer.parents(path, _above_modes(tree, path))
                writer.removed(path)
        origin = state.origin or state
        made = WorkspaceState(tree, (*state.layers, writer.finish()), origin, state.start)
        return made if len(made.layers) <= MAX_LAYERS else self._flattened(made, origin)

    def laid(self, state: WorkspaceState, found: Changes) -> WorkspaceState:
        """The state after changes whose files stand in a store, which is not copied: it keeps their
        owners. Folders that are missing above them are made."""
        whole: Changes = {}
        for path, change in found.items():
            if path and not isinstance(change, Removed):
                _add_parents(whole, path, state.tree)
            whole[path] = change
        tree = state.tree.with_changes(whole)
        writer = self._writer(state)
        moved: Changes = {}
        for path, change in whole.items():
            if not isinstance(change, Removed):
                writer.parents(path, _above_modes(tree, path))
            moved[path] = change
            if isinstance(change, StoredFile):
                moved[path] = writer.linked(path, change)
            elif isinstance(change, StoredLink):
                writer.link(path, change.target)
            elif isinstance(change, NewFolder):
                writer.folder(path, change.mode)
        return self._above(state, moved, writer)

    def _flattened(self, state: WorkspaceState, origin: WorkspaceState) -> WorkspaceState:
        """The same tree with one layer above the one that was loaded."""
        return self.laid(origin, changes(origin.tree, state.tree))


def _add_parents(found: Changes, path: str, tree: Folder = EMPTY) -> None:
    """Put the folders above a path before it, those that `tree` lacks."""
    parts = split(path)
    if not parts:
        raise UsageError("a file needs a name")
    for count in range(1, len(parts)):
        above = "/".join(parts[:count])
        there = found.get(above) or tree.find(above)
        if there is None:
            found[above] = NewFolder()
        elif not isinstance(there, NewFolder | Folder):
            raise UsageError(f"{above!r} is no folder")


def _modes(found: Changes) -> dict[str, int]:
    return {path: one.mode for path, one in found.items() if isinstance(one, NewFolder)}


def _folders_above(tree: Folder, paths: Iterable[str]) -> dict[str, Folder]:
    """The folders of a tree that stand above some of the paths."""
    found: dict[str, Folder] = {}
    for path in paths:
        parts = path.split("/")
        for count in range(1, len(parts)):
            above = "/".join(parts[:count])
            if above not in found:
                node = tree.find(above)
                if not isinstance(node, Folder):
                    break
                found[above] = node
    return found


def _above_modes(tree: Folder, path: str) -> dict[str, int]:
    return {above: node.mode for above, node in _folders_above(tree, [path]).items()}
