"""How an embedded agent leaves its submission on disk.

Covered: what lies in the workspace afterwards is exactly the submission, as far as declared files
go.
Not covered: two agents in one workspace.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

from unhack.tournament.contest import DECLINED, Declared, Files
from unhack.tournament.judging.submission import write_files


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
    write_files(files, workspace)
