"""Changed files of a repository as one text, and the rules that they have to keep.

    {"pkg/core.py": "new text", "pkg/old.py": null}       null deletes

Covered: paths that leave the tree, that are not declared, that collide with a folder; numbers and
sizes. New modules at the top that nobody declared are taken where they stand for nothing else. Left
out and named: caches, hooks, names with control characters, new top-level modules that would stand
before those of Python or of the judge. Bytes that are no UTF-8 cross as surrogates (PEP 383).
Not covered: the content of the files. Modes and links do not cross: every file is a regular one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

MAX_FILES = 1000
MAX_BYTES = 8 << 20
_MAX_PATH = 240
_LEFT_OUT_NAMES = frozenset({"conftest.py", "sitecustomize.py", "usercustomize.py"})
_LEFT_OUT_ENDS = (".pyc", ".pyo", ".pth", ".egg-link")
_LEFT_OUT_FOLDERS = frozenset({"__pycache__", ".git", ".pytest_cache", ".hypothesis"})
JUDGES = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "unhack"})
"""Packages that the judge's own process imports."""


class RefusedFilesError(ValueError):
    """Changed files that cannot be laid; the text says why. It becomes an invalid verdict."""


def pack_files(files: Mapping[str, str | None]) -> str:
    """The completion that hands in changed files: path -> new text, or None for a deleted one."""
    return json.dumps(dict(files), sort_keys=True)


def unpack_files(completion: str) -> dict[str, bytes | None]:
    """The changed files of a completion. Raises RefusedFilesError."""
    if len(completion) > 8 * MAX_BYTES:
        raise RefusedFilesError("the changed files are too large")
    try:
        data: Any = json.loads(completion, object_pairs_hook=_no_doubles)
    except (ValueError, RecursionError) as error:
        raise RefusedFilesError(f"not the JSON of changed files: {str(error)[:100]}") from None
    if not isinstance(data, dict):
        raise RefusedFilesError("the changed files are not an object of paths")
    given = cast("dict[str, Any]", data)
    if len(given) > MAX_FILES:
        raise RefusedFilesError(f"{len(given)} changed files, more than {MAX_FILES}")
    found: dict[str, bytes | None] = {}
    for path, text in given.items():
        if text is not None and not isinstance(text, str):
            raise RefusedFilesError(f"{path!r:.80} is neither text nor null")
        try:
            found[path] = None if text is None else text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise RefusedFilesError(f"{path!r:.80} holds what is no text") from None
    if sum(len(data) for data in found.values() if data is not None) > MAX_BYTES:
        raise RefusedFilesError(f"the changed files hold more than {MAX_BYTES} bytes")
    return found


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a path stands twice")
    return found


def lay(
    base: Mapping[str, bytes], changed: Mapping[str, bytes | None], *, editable: Sequence[str],
    roots: Sequence[str], reserved: Collection[str] = (),
) -> tuple[dict[str, bytes], tuple[str, ...]]:  # fmt: skip
    """The base with the changes, and the paths that were left out because no judging reads them, or
    because they would stand for something else. `reserved` are top folders in which nothing new is
    taken that is not declared. Raises RefusedFilesError."""
    tree = dict(base)
    left_out: list[str] = []
    for path, data in changed.items():
        _check_path(path)
        helper = data is not None and is_helper(path, base, reserved)
        if not may_change(path, editable) and not helper:
            raise RefusedFilesError(f"{path} is not among the files that may be changed")
        if why_left_out(path) or (data is not None and _stands_before(path, base, roots)):
            left_out.append(path)
        elif data is None:
            tree.pop(path, None)
        else:
            tree[path] = data
    _check_collisions(tree)
    return tree, tuple(left_out)


def is_helper(path: str, base: Mapping[str, object], reserved: Collection[str]) -> bool:
    """True for a new module at the top, or in a new package there, that stands for nothing else."""
    top, slash, _ = path.partition("/")
    taken = top in reserved or path in base
    return path.endswith(".py") and not taken and not (
        slash and any(name.startswith(f"{top}/") for name in base)
    )  # fmt: skip


def why_left_out(path: str) -> str:
    """Why no judging reads a file of that name; empty where one does."""
    *folders, name = path.split("/")
    if len(path) > _MAX_PATH or not all(char.isprintable() for char in path):
        return "its name has control characters, is no UTF-8 or is too long"
    if name in _LEFT_OUT_NAMES or name.endswith(_LEFT_OUT_ENDS):
        return "a hook or byte code"
    return "" if _LEFT_OUT_FOLDERS.isdisjoint(folders) else "a cache"


def may_change(path: str, editable: Sequence[str]) -> bool:
    """True for a declared path, or one below a declared folder (`pkg/`)."""
    return any(path == one or (one.endswith("/") and path.startswith(one)) for one in editable)


def _check_path(path: str) -> None:
    if "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise RefusedFilesError(f"{path!r:.80} is not a relative path below the repository")


def _stands_before(path: str, base: Mapping[str, bytes], roots: Sequence[str]) -> bool:
    """True for a new top-level module that would stand before one of Python or of the judge."""
    for root in {*roots, ""}:
        if root and not path.startswith(f"{root}/"):
            continue
        first, _, below = (path[len(root) + 1 :] if root else path).partition("/")
        top = first if below else first.partition(".")[0]
        if not below and not first.endswith((".py", ".so", ".pyd")):
            continue
        if top not in sys.stdlib_module_names and top not in JUDGES:
            continue
        start = f"{root}/{top}" if root else top
        if not any(name == f"{start}.py" or name.startswith(f"{start}/") for name in base):
            return True
    return False


def _check_collisions(tree: Mapping[str, bytes]) -> None:
    folders = {
        path.rsplit("/", depth)[0] for path in tree for depth in range(1, path.count("/") + 1)
    }
    for path in tree:
        if path in folders:
            raise RefusedFilesError(f"{path} is both a file and a folder")
