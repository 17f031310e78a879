"""How an embedded agent leaves its submission and its notes on disk.

Covered: what lies in the workspace afterwards is exactly the submission, as far as declared files
go; a file of the memory is whole or absent, also when the machine stops in the middle.
Not covered: two agents in one workspace.
"""

from __future__ import annotations

import os
from fnmatch import fnmatch
from pathlib import Path

from unhack.tournament.contest import DECLINED, Declared, Files


def hand_in(files: Files, *, workspace: Path, declared: Declared) -> None:
    """Make `files` the submission of `workspace`.

    Every other file that would be collected with them is removed: the starting solution, planted
    files of a declared name. Links are removed too, never followed.
    """
    patterns = (*declared.required, *declared.optional, DECLINED)
    for path in sorted(workspace.rglob("*")):
        name = path.relative_to(workspace).as_posix()
        collected = name in files or any(fnmatch(name, pattern) for pattern in patterns)
        if path.is_symlink() or (collected and path.is_file()):
            path.unlink()
    for name, content in sorted(files.items()):
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file in one step, on disk before this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
