"""The file tools of an agent, in the host and without a process: read, list, search, write,
edit, patch.

Covered: nothing but the state's own tree is read: no link is followed, no path leaves it; binary
files are named and not shown; every answer is bounded and says what is left out.
Not covered: regular expressions, whose time a policy could choose: they run in the sandbox
(`episode`).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace

from unhack.core.errors import UsageError
from unhack.environments.actions import (
    ApplyPatch,
    EditFile,
    ListFiles,
    ReadFile,
    SearchText,
    WriteFile,
)
from unhack.environments.files.unified_diff import BadPatchError, apply_diff
from unhack.environments.observation import Observation, Refusal, refused
from unhack.sandbox.workspace.layers import read_stored
from unhack.sandbox.workspace.states import StateStore, WorkspaceState
from unhack.sandbox.workspace.tree import Folder, Node, StoredFile, StoredLink

MAX_SHOWN = 60_000
"""Characters of one observation."""
_MAX_LINE = 2000
_MAX_ENTRIES = 400
_MAX_MATCHES = 200
_MAX_SEARCHED = 32 << 20
"""Bytes of files that one search reads."""
_LARGEST = 4 << 20
"""Bytes of the largest file that is shown, searched or patched."""

_AROUND = 4
"""Lines that are shown on either side of an edit."""
_MOST_PLACES = 5
Edited = tuple[Observation, WorkspaceState]


def read(state: WorkspaceState, action: ReadFile) -> Observation:
    """The lines of a text file, numbered as `cat -n` does."""
    found = _find(state, action.path)
    if isinstance(found, Observation):
        return found
    if not isinstance(found, StoredFile):
        return refused(Refusal.NOT_FOUND, f"{action.path} is no regular file")
    if found.size > _LARGEST:
        return refused(
            Refusal.NOT_FOUND, f"{action.path} has {found.size:,} bytes, too many to show"
        )
    content = read_stored(found)
    if b"\0" in content:
        return Observation(f"{action.path} is a binary file of {found.size:,} bytes")
    lines = content.decode(errors="replace").split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    first = max(1, action.start)
    shown = lines[first - 1 : first - 1 + max(1, action.lines)]
    text, taken = _bounded(f"{first + at:6}\t{_cut_line(line)}" for at, line in enumerate(shown))
    left = len(lines) - (first - 1) - taken
    if left > 0 or first > 1:
        text += f"\n[lines {first} to {first - 1 + taken} of {len(lines)}]"
    return Observation(text or "[empty file]", cut=max(0, left))


def list_files(state: WorkspaceState, action: ListFiles) -> Observation:
    """The entries below a folder: folders end in `/`, links show where they lead."""
    found = _find(state, action.path)
    if isinstance(found, Observation):
        return found
    if not isinstance(found, Folder):
        return refused(Refusal.NOT_FOUND, f"{action.path} is no folder")
    lines = list(_entries(found, "", max(1, action.depth)))
    text, taken = _bounded(lines[:_MAX_ENTRIES])
    left = len(lines) - taken
    if left:
        text += f"\n[{left} more]"
    return Observation(text or "[empty folder]", cut=left)


def search(state: WorkspaceState, action: SearchText) -> Observation:
    """The lines that hold a string, as `path:line: text`."""
    found = _find(state, action.path)
    if isinstance(found, Observation):
        return found
    if not action.text:
        return refused(Refusal.BAD_ACTION, "search needs a text")
    matches: list[str] = []
    left, passed_by = _MAX_SEARCHED, 0
    for path, file in _files(found, action.path):
        if file.size > _LARGEST or left < file.size:
            passed_by += 1
            continue
        left -= file.size
        content = read_stored(file)
        if b"\0" not in content:
            matches += _lines_with(action.text, path, content.decode(errors="replace"))
    text, taken = _bounded(matches[:_MAX_MATCHES])
    missing = len(matches) - taken
    if missing:
        text += f"\n[{missing} more lines]"
    if passed_by:
        text += f"\n[{passed_by} large files were not searched]"
    return Observation(text or "[no line holds it]", cut=missing)


def write(store: StateStore, state: WorkspaceState, action: WriteFile) -> Edited:
    """Create or replace a file: the observation and the state afterwards."""
    path = clean(action.path)
    edits: dict[str, bytes | None] = {_placed(state, path): action.text.encode()}
    return _edited(store, state, edits, f"wrote {path}")


def edit(store: StateStore, state: WorkspaceState, action: EditFile) -> Edited:
    """Replace the one place of a passage, or insert lines: the lines as they stand afterwards, and
    the state."""
    if (action.insert_line < 0) == (not action.old) or action.old == action.new:
        words = "edit needs either old and another text for new, or insert_line and new"
        return refused(Refusal.BAD_ACTION, words), state
    found = _find(state, action.path)
    if isinstance(found, Observation):
        return found, state
    if not isinstance(found, StoredFile) or found.size > _LARGEST:
        words = f"{action.path} is no regular file, or has more than {_LARGEST:,} bytes"
        return refused(Refusal.NOT_FOUND, words), state
    content, new = read_stored(found), action.new.encode()
    try:
        if action.old:
            changed, line = _replaced(content, action.old.encode(), new)
        else:
            changed, line = _inserted(content, action.insert_line, new)
    except BadPatchError as error:
        return refused(Refusal.BAD_PATCH, f"{action.path}: {error}"), state
    path = clean(action.path)
    answer, after = _edited(store, state, {_placed(state, path): changed}, f"edited {path}")
    if answer.ok:
        first = max(1, line - _AROUND)
        last = line + new.count(b"\n") + _AROUND
        shown = read(after, ReadFile(path, start=first, lines=last - first + 1))
        answer = replace(answer, text=f"{answer.text}\n{shown.text}")
    return answer, after


def _replaced(content: bytes, old: bytes, new: bytes) -> tuple[bytes, int]:
    """The content with the one place of `old` replaced, and the line of that place."""
    places: list[int] = []
    at = content.find(old)
    while at >= 0 and len(places) <= _MOST_PLACES:
        places.append(at)
        at = content.find(old, at + 1)
    if not places:
        raise BadPatchError(f"old does not occur in it{_near(content, old)}")
    lines = [content.count(b"\n", 0, place) + 1 for place in places]
    if len(places) > 1:
        count = max(len(places), content.count(old))
        named = ", ".join(map(str, lines[:_MOST_PLACES])) + (", …" if count > _MOST_PLACES else "")
        raise BadPatchError(f"old occurs {count} times, at lines {named}; give more around it")
    end = places[0] + len(old)
    return content[: places[0]] + new + content[end:], lines[0]


def _near(content: bytes, old: bytes) -> str:
    """The place at which a passage would stand, were it not for white space or for what follows."""
    wanted = [line.strip() for line in old.strip().split(b"\n")]
    text = b"\n".join([b"", *(line.strip() for line in content.split(b"\n")), b""])
    for count, words in (
        (len(wanted), "but for white space it stands"),
        (1, "its beginning stands"),
    ):
        at = text.find(b"\n".join([b"", *wanted[:count], b""])) if wanted[0] else -1
        if at >= 0:
            line = text.count(b"\n", 0, at) + 1
            return f"; {words} at line {line}"
    return ""


def _inserted(content: bytes, line: int, new: bytes) -> tuple[bytes, int]:
    """The content with lines behind one, and the number of the first of them."""
    lines = io.BytesIO(content).readlines()
    if line > len(lines):
        raise BadPatchError(f"it has {len(lines)} lines, and so no line {line}")
    if line and not lines[line - 1].endswith(b"\n"):
        lines[line - 1] += b"\n"
    added = new if new.endswith(b"\n") else new + b"\n"
    return b"".join([*lines[:line], added, *lines[line:]]), line + 1


def patch(store: StateStore, state: WorkspaceState, action: ApplyPatch) -> Edited:
    """Apply a unified diff, whole or not at all: the observation and the state afterwards."""

    def content(path: str) -> bytes | None:
        node = state.tree.find(_placed(state, path))
        if node is None:
            return None
        if not isinstance(node, StoredFile):
            raise BadPatchError(f"{path} is no regular file")
        if node.size > _LARGEST:
            raise BadPatchError(f"{path} is too large to be patched")
        return read_stored(node)

    try:
        edits = apply_diff(action.patch, content)
    except BadPatchError as error:
        return refused(Refusal.BAD_PATCH, str(error)), state
    except UsageError as error:
        return refused(Refusal.BAD_PATH, str(error)), state
    words = [f"deleted {path}" if one is None else f"changed {path}" for path, one in edits.items()]
    placed: dict[str, bytes | None] = {_placed(state, path): one for path, one in edits.items()}
    return _edited(store, state, placed, "\n".join(words))


def _edited(
    store: StateStore, state: WorkspaceState, edits: dict[str, bytes | None], words: str
) -> Edited:
    try:
        return Observation(words), store.edited(state, edits)
    except UsageError as error:
        return refused(Refusal.BAD_PATH, str(error)), state
    except OSError as error:
        return refused(Refusal.BAD_PATH, f"it cannot be written: {error.strerror}"), state


def clean(path: str) -> str:
    """A path as an agent writes it, without `./` and a final `/`."""
    path = path.rstrip("/") or path[:1]
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return "" if path == "." else path


def _placed(state: WorkspaceState, path: str) -> str:
    """A cleaned path in the state's tree. In an image, an absolute one begins at its root directory
    and others where commands start."""
    if state.start is None:
        return path
    return path.lstrip("/") if path.startswith("/") else f"{state.start}/{path}".strip("/")


def is_folder(state: WorkspaceState, path: str) -> bool:
    """True where a path, as an agent writes it, is that of a folder."""
    return isinstance(_find(state, path), Folder)


def _find(state: WorkspaceState, path: str) -> Node | Observation:
    try:
        node = state.tree.find(_placed(state, clean(path)))
    except UsageError as error:
        return refused(Refusal.BAD_PATH, str(error))
    if node is None:
        return refused(Refusal.NOT_FOUND, f"{path} is not there")
    return node


def _entries(folder: Folder, prefix: str, depth: int) -> Iterator[str]:
    for name in sorted(folder.entries):
        node = folder.entries[name]
        shown = f"{prefix}{name}".encode(errors="replace").decode()
        if isinstance(node, Folder):
            yield f"{shown}/" if depth > 1 or not node.entries else f"{shown}/ …"
            if depth > 1:
                yield from _entries(node, f"{prefix}{name}/", depth - 1)
        elif isinstance(node, StoredLink):
            yield f"{shown} -> {node.target.encode(errors='replace').decode()}"
        else:
            yield shown


def _files(node: Node, path: str) -> Iterator[tuple[str, StoredFile]]:
    if isinstance(node, StoredFile):
        yield clean(path), node
    elif isinstance(node, Folder):
        prefix = f"{clean(path)}/" if clean(path) else ""
        for below, one in node.walk(prefix):
            if isinstance(one, StoredFile):
                yield below, one


def _lines_with(text: str, path: str, content: str) -> list[str]:
    if text not in content:
        return []
    return [
        f"{path}:{number}: {_cut_line(line)}"
        for number, line in enumerate(content.split("\n"), 1)
        if text in line
    ]


def _cut_line(line: str) -> str:
    if len(line) <= _MAX_LINE:
        return line
    return f"{line[:_MAX_LINE]}[... {len(line) - _MAX_LINE} characters cut]"


def _bounded(lines: Iterator[str] | list[str]) -> tuple[str, int]:
    """Lines joined, as many as fit into one observation, and how many those are."""
    kept: list[str] = []
    left = MAX_SHOWN
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join(kept), len(kept)
