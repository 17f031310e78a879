"""Run folders: those of training, audits and tournaments that lie in the server's data folder, and
in folders that the operator names by `--runs`.

They belong to the operator, who is the tenant `default`: nobody else sees one. A job's own folder
is its tenant's and is shown on the job's page alone.

Covered: names in addresses never lead out of the folders; links on the disk are not followed; a
tree of thousands of folders is looked through to a depth and a number.
Not covered: folders below the run folder of another run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from unhack.server.pages.view import View, not_there
from unhack.store.run_folder import FORMAT
from unhack.training.run.folder import CONFIG, METRICS

OPERATOR = "default"
"""The tenant that sees run folders."""
JOBS = "jobs"
"""The folder of the jobs' run folders, below the server's data."""
_DEPTH, _MOST = 5, 2000


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run folder."""

    path: Path
    name: str
    """Its address: the number of the folder in which it was found, then the path below that."""
    kind: str
    """`training`, `audit`, `tournament`."""
    changed_at: float
    """Seconds since 1970."""


def may_see(view: View) -> bool:
    """True for the operator."""
    return view.caller.tenant == OPERATOR


def found_runs(view: View, kind: str) -> list[FoundRun]:
    """The run folders of a kind, the last changed first; none for who is not the operator."""
    if not may_see(view):
        return []
    found = [
        run
        for number, top in enumerate(_tops(view))
        for run in _below(view, top, number)
        if run.kind == kind
    ]
    return sorted(found, key=lambda run: (-run.changed_at, run.name))


def found_run(view: View, kind: str) -> FoundRun:
    """The run folder that the address names. Raises RequestRefused (404)."""
    name = view.given["run"]
    number, _, below = name.partition("/")
    tops = _tops(view)
    known = may_see(view) and number.isascii() and number.isdecimal() and int(number) < len(tops)
    if known:
        top = tops[int(number)].resolve()
        path = (top / below).resolve() if "\0" not in below else top
        inside = path == top or top in path.parents
        hidden = any(part.startswith(".") for part in below.split("/") if part)
        if inside and not hidden and not _is_jobs(path, view) and _kind(path) == kind:
            return FoundRun(path, name, kind, changed_at(path))
    raise not_there("run", name)


def _tops(view: View) -> list[Path]:
    return [view.service.settings.data, *view.service.settings.runs]


def _is_jobs(path: Path, view: View) -> bool:
    jobs = (view.service.settings.data / JOBS).resolve()
    return path == jobs or jobs in path.parents


def _below(view: View, top: Path, number: int) -> Iterator[FoundRun]:
    looked, waiting = 0, [(top, 0)]
    while waiting and looked < _MOST:
        folder, depth = waiting.pop()
        looked += 1
        kind = _kind(folder)
        if kind:
            place = folder.relative_to(top).as_posix()
            name = str(number) if place == "." else f"{number}/{place}"
            yield FoundRun(folder, name, kind, changed_at(folder))
        elif depth < _DEPTH:
            below = [each for each in _folders(folder) if not _is_jobs(each.resolve(), view)]
            waiting += [(each, depth + 1) for each in below]


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                Path(entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            )
    except OSError:
        return []


def _kind(folder: Path) -> str:
    """The kind of a run folder; empty for another folder."""
    try:
        if (folder / FORMAT).is_file():
            return str(json.loads((folder / FORMAT).read_bytes()).get("kind", ""))
        return "training" if all((folder / each).is_file() for each in (CONFIG, METRICS)) else ""
    except (OSError, ValueError, AttributeError):
        return ""


def changed_at(folder: Path) -> float:
    """The last time that something in a folder was written, in seconds since 1970."""
    try:
        with os.scandir(folder) as entries:
            return max((entry.stat().st_mtime for entry in entries), default=0.0)
    except OSError:
        return 0.0
