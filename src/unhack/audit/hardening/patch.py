"""Unified diffs that `git apply` takes.

Covered: paths below the current directory, relative to it; new files; files without a line end at
their end; line ends of any kind, each kept.
Not covered: files outside the current directory keep their absolute path; `patch -p0` takes those.
"""

from __future__ import annotations

import difflib
from pathlib import Path

_NO_END = "\\ No newline at end of file\n"


def unified(path: Path, before: str | None, after: str) -> str:
    """The diff of one file; empty where nothing changes. `before` is None for a new file."""
    old, new = _lines(before or ""), _lines(after)
    if before is not None and old == new:
        return ""
    name = _relative(path)
    source = "/dev/null" if before is None else f"a/{name}"
    found = difflib.unified_diff(old, new, source, f"b/{name}", n=3)
    return "".join(one if one.endswith("\n") else f"{one}\n{_NO_END}" for one in found)


def with_own_line_ends(before: str, after: str) -> str:
    """`after`, whose line ends are all `\\n`, with those that `before` has.

    Lines that did not change keep theirs; new ones get the first that `before` has.
    """
    old = _lines(before)
    plain = [_bare(line) for line in old]
    new = [line.removesuffix("\n") for line in _lines(after)]
    usual = "\r\n" if old and old[0].endswith("\r\n") else "\n"
    made = [f"{line}{usual}" for line in new]
    for at, to, size in difflib.SequenceMatcher(None, plain, new, False).get_matching_blocks():
        made[to : to + size] = old[at : at + size]
    if made and not after.endswith("\n"):
        made[-1] = _bare(made[-1])
    return "".join(made)


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _lines(text: str) -> list[str]:
    """Lines with their ends; only `\\n` ends one, as it does for git."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _relative(path: Path) -> str:
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.resolve().as_posix().lstrip("/")
