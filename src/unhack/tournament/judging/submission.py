"""Takes what was handed in out of a workspace that an agent may have prepared against its reader.

    frozen = freeze(workspace, contest, into=store)

Only declared files are taken, each opened below the workspace one path component at a time
without following a link, and copied into `store/DIGEST/`, which is complete or absent. Those that
are declared by name are the submission; of those that a pattern admits the ones belong to it that
it names: an import, a file's name, a listing of the folder. Copies, logs, tries and notes beside it
are left out and named (`Frozen.left_out`), not judged.

Covered: links, hard links, devices, pipes, sockets, odd names, too many or too large files, files
that change while they are read; a missing file is a loud `problem`, never an empty submission.
Not covered: what the files mean (`scan`); undeclared files, which nobody reads; names that a
program puts together, which `unhack-check` shows, since it judges what would be handed in.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from unhack.core.hashing import content_hash
from unhack.sandbox.workspace.safe_files import (
    MAX_ENTRIES,
    SafeWalk,
    admits,
    open_folder,
    open_regular,
    open_top,
)
from unhack.store.files import sync_folder
from unhack.tournament.contest import DECLINED, Contest, Declared, Flag
from unhack.tournament.judging.handed_in import is_plain_name, select

REFUSED = "REFUSED.json"
"""The only file of a frozen folder whose submission has a problem; says which."""
_SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/", "/run/", "/boot/")
_PASSED_BY = ("__pycache__", "node_modules")
_MOST_TOLD = 50


@dataclass(frozen=True, slots=True)
class Frozen:
    """A submission as it was handed in.

    Example:

        frozen = freeze(Path("workspace"), contest, into=Path("store"))
        frozen.digest, frozen.problem, frozen.flags
    """

    digest: str
    """SHA-256 of the paths and contents, or of the problem."""
    files: Mapping[str, str]
    """Relative path -> SHA-256."""
    bytes: int
    problem: str
    """Why it cannot be judged; empty when it can."""
    folder: Path
    """Folder of the files: `into/digest` after `freeze`, the folder itself after `inspect`."""
    declined: bool = False
    """True when it says that there is no honest improvement; nothing else of it is kept then."""
    flags: tuple[Flag, ...] = ()
    """Flags for content of the workspace that has no honest reading."""
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path -> why a file that a pattern admits does not belong to it: the first fifty."""


@dataclass(slots=True)
class _Taken:
    """The findings of a walk over a workspace."""

    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    problem: str = ""
    flags: list[Flag] = field(default_factory=list[Flag])

    def refuse(self, reason: str, *, flagged: bool = False) -> None:
        self.problem = self.problem or reason
        if flagged:
            self.flags.append(Flag("reaches_out", reason, "freeze"))


def freeze(workspace: Path, contest: Contest, *, into: Path) -> Frozen:
    """Copy the declared files to `into/DIGEST/`. Raises OSError when `into` cannot be written."""
    taken = _take(workspace, contest.declared)
    frozen = _frozen(taken, into)
    into.mkdir(parents=True, exist_ok=True)
    if not frozen.folder.exists():
        _store(taken.files if not taken.problem else {REFUSED: _refusal(taken)}, frozen.folder)
    return frozen


def inspect(folder: Path, contest: Contest) -> Frozen:
    """The same checks on a folder that stays where it is; a refused one says again why."""
    taken = _take(folder, contest.declared)
    refusal = folder / REFUSED
    if refusal.is_file() and not refusal.is_symlink():
        taken = _read_refusal(refusal.read_bytes()[: 1 << 20])
    return _frozen(taken, folder, stays=True)


def read(frozen: Frozen) -> dict[str, bytes]:
    """The contents of a frozen submission. Raises OSError when they are gone."""
    return {path: (frozen.folder / path).read_bytes() for path in frozen.files}


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path there; links are passed by."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files below a folder, which is made where it is missing. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _frozen(taken: _Taken, place: Path, *, stays: bool = False) -> Frozen:
    if taken.problem:
        digest = content_hash("refused", _refusal(taken))
        folder = place if stays else place / digest
        return Frozen(digest, {}, 0, taken.problem, folder, flags=tuple(taken.flags))
    hashes = {path: hashlib.sha256(data).hexdigest() for path, data in sorted(taken.files.items())}
    digest = content_hash(*(part for item in hashes.items() for part in item))
    folder = place if stays else place / digest
    size = sum(map(len, taken.files.values()))
    declined = DECLINED in hashes
    told = dict(sorted(taken.left_out.items())[:_MOST_TOLD])
    if more := len(taken.left_out) - len(told):
        told["..."] = f"and {more} more"
    return Frozen(digest, hashes, size, "", folder, declined, left_out=told)


def _refusal(taken: _Taken) -> bytes:
    flags = [[flag.kind, flag.evidence, flag.source] for flag in taken.flags]
    return json.dumps({"problem": taken.problem, "flags": flags}, sort_keys=True).encode()


def _read_refusal(text: bytes) -> _Taken:
    try:
        found: Any = json.loads(text)
        flags = [Flag(*map(str, item)) for item in found["flags"]]
        return _Taken(problem=str(found["problem"]) or "refused", flags=flags)
    except (ValueError, TypeError, KeyError, RecursionError):
        return _Taken(problem=f"{REFUSED} is not ours")


def _store(files: Mapping[str, bytes], folder: Path) -> None:
    """Write all files beside, then move the folder into place."""
    beside = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        for path, data in files.items():
            target = beside / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            target.chmod(0o444)
        beside.chmod(0o755)
        try:
            beside.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
        sync_folder(folder.parent)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _take(workspace: Path, declared: Declared) -> _Taken:
    taken = _Taken()
    with contextlib.ExitStack() as stack:
        try:
            top = stack.enter_context(open_top(workspace))
        except OSError as error:
            taken.refuse(f"there is no workspace: {error.strerror}")
            return taken
        decline = _take_one(top, DECLINED, _Taken(), max_bytes=declared.max_bytes)
        if decline is not None:
            taken.files = {DECLINED: decline}
            return taken
        _take_declared(top, declared, taken)
    missing = [name for name in declared.required if name not in taken.files]
    if missing:
        taken.refuse(f"nothing was handed in as {', '.join(missing)}")
    return taken


def _take_declared(top: int, declared: Declared, taken: _Taken) -> None:
    def take(path: str, *, by_name: bool) -> bytes | None:
        left = declared.max_bytes - sum(map(len, taken.files.values()))
        tried = taken if by_name else _Taken()
        data = None if taken.problem else _take_one(top, path, tried, max_bytes=left)
        if tried.flags and not by_name:
            taken.refuse(tried.problem)
            taken.flags += tried.flags
        elif tried.problem and not by_name:
            taken.left_out[path] = tried.problem
        if data is None:
            return None
        taken.files[path] = data
        if len(taken.files) > declared.max_files:
            taken.refuse(f"more than {declared.max_files} files were handed in")
        if len(data) > left:
            taken.refuse(f"more than {declared.max_bytes} bytes were handed in")
        return data

    taken.left_out |= select(_matching(top, declared, taken), declared, take)


def _matching(top: int, declared: Declared, taken: _Taken) -> Iterator[str]:
    """Paths below that a pattern admits, in order."""
    if not declared.optional:
        return
    walk = SafeWalk(top, passed_by=_is_passed_by)
    for found in walk:
        if walk.changed:
            break
        if admits(declared.optional, found.path):
            yield found.path
    if walk.changed:
        taken.refuse("the workspace changes while it is read")
    elif walk.truncated:
        taken.refuse(f"the workspace holds more than {MAX_ENTRIES} entries")


def _is_passed_by(name: str) -> bool:
    """True for hidden names and caches."""
    return name.startswith(".") or name in _PASSED_BY


def _take_one(top: int, path: str, taken: _Taken, *, max_bytes: int) -> bytes | None:
    """The content of one file; None, with the reason in `taken`, where it may not be taken."""
    shown = ascii(path)
    if not is_plain_name(path):
        taken.refuse(f"{shown} is not a plain name")
        return None
    folder, _, name = path.rpartition("/")
    handle = open_folder(top, folder)
    if handle is None:
        return None
    try:
        found = os.stat(name, dir_fd=handle, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            target = os.readlink(name, dir_fd=handle)
            taken.refuse(f"{shown} is a link to {target!a}", flagged=_leads_out(path, target))
            return None
        if not stat.S_ISREG(found.st_mode):
            sort, planted = _kind_of(found.st_mode)
            taken.refuse(f"{shown} is {sort}, not a file", flagged=planted)
            return None
        return _content(open_regular(handle, name), shown, taken, max_bytes=max_bytes)
    except FileNotFoundError:
        return None
    except OSError as error:
        taken.refuse(f"{shown} cannot be read: {error.strerror}")
        return None
    finally:
        os.close(handle)


def _content(file: BinaryIO | None, shown: str, taken: _Taken, *, max_bytes: int) -> bytes | None:
    if file is None:
        taken.refuse(f"{shown} changes while it is read")
        return None
    with file:
        if os.fstat(file.fileno()).st_nlink != 1:
            taken.refuse(f"{shown} is a hard link to something else")
            return None
        return file.read(max_bytes + 1)


def _leads_out(path: str, target: str) -> bool:
    """Tell whether a link leads where no work of an agent can lie: to the machine's own files, or
    above the workspace."""
    if target.startswith("/"):
        return f"{os.path.normpath(target)}/".startswith(_SYSTEM)
    inside = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return inside == ".." or inside.startswith("../")


def _kind_of(mode: int) -> tuple[str, bool]:
    """Kind of a file, and True when nobody makes one by accident."""
    match stat.S_IFMT(mode):
        case stat.S_IFIFO:
            return "a pipe", True
        case stat.S_IFCHR | stat.S_IFBLK:
            return "a device", True
        case stat.S_IFSOCK:
            return "a socket", False
        case stat.S_IFDIR:
            return "a directory", False
        case _:
            return "something else", False
