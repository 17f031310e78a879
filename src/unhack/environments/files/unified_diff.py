"""Unified diffs, applied to a mapping of files: no process, no path outside, all or nothing.

Covered: several files; new and deleted files; `a/` and `b/` prefixes or none; git's extra lines;
hunks whose line numbers have moved (the lines must fit at one place near it); a missing end of the
last line; CRLF files; counts of lines that are wrong, as models write them; mails as
`git format-patch` makes them, one or several; empty files that are made or deleted.
Not covered: binary patches, renames and mode changes, which are refused by name.
Source: the GNU diffutils manual on the unified format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from unhack.core.lines import BoundedPattern

_HUNK = BoundedPattern(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_SIGNATURE = "-- "
"""The line of a mail below its patch; in the midst of a block it is a deleted line."""
_UNSUPPORTED = ("GIT binary patch", "rename from", "copy from", "old mode", "Binary files")
_NO_NEWLINE = "\\ No newline"
_MAX_HUNKS = 2000
_MAX_SEARCHED = 2_000_000


class BadPatchError(Exception):
    """A patch that is no unified diff, or does not fit."""


@dataclass(slots=True)
class Hunk:
    """One block of changes: `old` lines become `new` ones."""

    start: int
    """Line of the old file, counted from 1, where it should fit."""
    old: list[str] = field(default_factory=list[str])
    new: list[str] = field(default_factory=list[str])
    no_end: bool = False
    """True where the new last line has no line end."""
    removed: bool = False
    """True where the last line that was read is an old one."""
    counts: tuple[int, int] = (-1, -1)
    """Old and new lines, as the patch says."""

    @property
    def is_whole(self) -> bool:
        """True where it has as many lines as the patch says."""
        return self.counts == (len(self.old), len(self.new))


@dataclass(slots=True)
class FilePatch:
    """The changes of one file."""

    old_path: str | None
    """None for a new file."""
    new_path: str | None
    """None for a deleted one."""
    hunks: list[Hunk] = field(default_factory=list[Hunk])
    is_empty: bool = False
    """True for an empty file, which has no block."""

    @property
    def path(self) -> str:
        """The path that is changed."""
        return self.new_path or self.old_path or ""


@dataclass(slots=True)
class SearchBudget:
    """The lines that may still be searched for blocks that stand not where their patch says."""

    lines: int = _MAX_SEARCHED

    def spend(self, lines: int) -> None:
        """Take `lines` for one search. Raises BadPatchError where they are not left."""
        self.lines -= lines
        if self.lines < 0:
            raise BadPatchError("too many blocks stand elsewhere than their line numbers say")


def parse_diff(patch: str) -> list[FilePatch]:
    """The changes of a unified diff, by file. Raises BadPatchError."""
    found: list[FilePatch] = []
    old_path: str | None = None
    hunk: Hunk | None = None
    count = 0
    lines = patch.replace("\r\n", "\n").split("\n")
    headed = ""
    for number, line in enumerate(lines, 1):
        following = lines[number] if number < len(lines) else ""
        if line.startswith("diff --git "):
            headed, hunk = _headed_path(line), None
        elif hunk is None and headed and line.startswith(_EMPTY):
            made = line.startswith(_EMPTY[0])
            found.append(FilePatch(*((None, headed) if made else (headed, None)), is_empty=True))
            headed = ""
        elif line.startswith("--- ") and following.startswith("+++ "):
            old_path, hunk = _path(line), None
            if found and found[-1].is_empty and found[-1].path == (_path(following) or old_path):
                found.pop()  # it is not empty
        elif hunk is not None and line == _SIGNATURE and hunk.is_whole:
            hunk = None
        elif line.startswith("+++ ") and hunk is None:
            found.append(FilePatch(old_path, _path(line)))
        elif match := _HUNK.match(line):
            count += 1
            if not found or count > _MAX_HUNKS:
                raise BadPatchError(f"line {number}: a block of changes that belongs to no file")
            start, old, new = match.groups()
            hunk = Hunk(int(start), counts=(int(old or 1), int(new or 1)))
            found[-1].hunks.append(hunk)
        elif hunk is not None:
            hunk = _take_line(hunk, line, last=number == len(lines))
        elif line.startswith(_UNSUPPORTED):
            raise BadPatchError(f"line {number}: {line.split()[0]} changes are not supported")
    if not found or not all(one.hunks or one.is_empty for one in found):
        raise BadPatchError("no unified diff: it needs lines '--- a/path', '+++ b/path', '@@ … @@'")
    return found


_EMPTY = ("new file mode", "deleted file mode")


def _headed_path(line: str) -> str:
    """The path that stands twice in a line `diff --git a/PATH b/PATH`; empty for two paths."""
    names = line[len("diff --git ") :]
    half = len(names) // 2
    old, new = names[:half], names[half + 1 :]
    same = (
        names[half : half + 1] == " " and old[:2] == "a/" and new[:2] == "b/" and old[2:] == new[2:]
    )
    return old[2:] if same else ""


def _path(line: str) -> str | None:
    path = line[4:].partition("\t")[0].strip()
    if path == "/dev/null":
        return None
    return path[2:] if path.startswith(("a/", "b/")) else path


def _take_line(hunk: Hunk, line: str, *, last: bool) -> Hunk | None:
    """Add a line to a hunk; None where the hunk is over."""
    kind, text = line[:1], line[1:]
    if kind == " " or (line == "" and not last):
        hunk.old.append(text)
        hunk.new.append(text)
    elif kind == "-":
        hunk.old.append(text)
    elif kind == "+":
        hunk.new.append(text)
    elif line.startswith(_NO_NEWLINE):
        hunk.no_end = hunk.no_end or not hunk.removed
    else:
        return None
    hunk.removed = kind == "-"
    return hunk


def apply_diff(patch: str, read: Callable[[str], bytes | None]) -> dict[str, bytes | None]:
    """The files after a patch: path -> content, None where it deletes one. `read` gives a file's
    present content, None where there is none. Raises BadPatchError, and then nothing is changed."""
    result: dict[str, bytes | None] = {}
    budget = SearchBudget()
    for one in parse_diff(patch):
        path = one.path
        before = result[path] if path in result else read(path)
        if one.old_path and one.new_path and one.old_path != one.new_path:
            raise BadPatchError(f"{one.old_path} becomes {one.new_path}: renames are not supported")
        if one.old_path is None and before is not None:
            raise BadPatchError(f"{path} is there already, and the patch would create it")
        if one.old_path is not None and before is None:
            raise BadPatchError(f"{path} is not there")
        after = _patched(before or b"", one, budget)
        result[path] = None if one.new_path is None else after
        if one.new_path is None and after:
            raise BadPatchError(f"{path} would be deleted, and the patch leaves some of its lines")
    return result


def _patched(content: bytes, patch: FilePatch, budget: SearchBudget) -> bytes:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise BadPatchError(f"{patch.path} is no UTF-8 text") from None
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(end)
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    moved = 0
    for number, hunk in enumerate(patch.hunks, 1):
        old, new = _trimmed(hunk, lines, budget)
        at = _place(lines, old, hunk.start - 1 + moved if old else hunk.start + moved, budget)
        if at is None:
            first = next((line for line in old if line.strip()), "")
            where = f"near line {hunk.start}, {first[:80]!r}"
            raise BadPatchError(f"{patch.path}: block {number} does not fit ({where})")
        lines[at : at + len(old)] = new
        moved += len(new) - len(old)
        if at + len(new) == len(lines):
            ended = not hunk.no_end
    if not lines:
        return b""
    return (end.join(lines) + (end if ended else "")).encode()


def _trimmed(hunk: Hunk, lines: list[str], budget: SearchBudget) -> tuple[list[str], list[str]]:
    """A hunk without the empty lines at its end that are no lines of the file: a model's patch
    often ends in some."""
    old, new = list(hunk.old), list(hunk.new)
    while (
        old
        and new
        and old[-1] == new[-1] == ""
        and _place(lines, old, hunk.start - 1, budget) is None
    ):
        old.pop()
        new.pop()
    return old, new


def _place(lines: list[str], old: list[str], wanted: int, budget: SearchBudget) -> int | None:
    """The place of `old` nearest to the one wanted; None where it is nowhere, or twice as near.

    Raises BadPatchError where the patch has had all the searches it may have.
    """
    if not old:
        return min(max(wanted, 0), len(lines))
    if wanted >= 0 and lines[wanted : wanted + len(old)] == old:
        return wanted
    budget.spend(len(lines) + len(old))
    nearest = sorted(_starts(lines, old), key=lambda at: abs(at - wanted))
    if len(nearest) > 1 and abs(nearest[0] - wanted) == abs(nearest[1] - wanted):
        return None
    return nearest[0] if nearest else None


def _starts(lines: list[str], old: list[str]) -> Iterator[int]:
    """The places of `old` in `lines`, overlapping ones too, in linear time (Knuth, Morris, Pratt):
    both come from a candidate, who may repeat one line for ever."""
    border = [0]  # border[k]: how many lines at the end of old[: k + 1] are also its beginning
    fits = 0
    for line in islice(old, 1, None):
        while fits and line != old[fits]:
            fits = border[fits - 1]
        fits += line == old[fits]
        border.append(fits)
    fits = 0
    for at, line in enumerate(lines, 1):
        while fits and (fits == len(old) or line != old[fits]):
            fits = border[fits - 1]
        fits += line == old[fits]
        if fits == len(old):
            yield at - fits
