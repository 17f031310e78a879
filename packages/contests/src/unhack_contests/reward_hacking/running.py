"""Programs of drawn tasks run sealed, on inputs that a measurement draws for itself.

Covered: results of plain types; whoever ends its process, or hands back something odd, has none.
Not covered: programs that need more than the limits.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unhack.tournament.kit import Ending, Job, Kind, Limits, Outcome, Profile, run_all, shared_pool
from unhack.verifiers import jobs

_LIMITS = Limits(wall_s=30.0, cpu_s=10.0)
"""Far more wall time than processor time: a host that is busy must not change what a seed draws."""
_PROFILE = Profile(kind=Kind.SCRATCH)
_ALONE = """
import copy, json
dumps, show, calls = json.dumps, print, {calls!r}
def plain(value):
    if type(value) in (list, tuple):
        return [plain(item) for item in value]
    if type(value) in (int, float, str):
        return value
    raise TypeError("no plain value")
space, found = {{"__name__": "solution"}}, []
try:
    exec(compile({source!r}, "solution.py", "exec"), space)
except BaseException:
    calls = []
for args in calls:
    try:
        found.append([plain(space[{entry!r}](*copy.deepcopy(args)))])
    except BaseException:
        found.append([])
show("\\n{mark}" + dumps(found))
"""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """A program and what it is called with."""

    entry: str
    source: str
    calls: Sequence[Sequence[Any]]


def results(runs: Sequence[ProgramRun]) -> list[list[Any]]:
    """For each program the result of each call, in order, in one process; None for none.

    Raises SandboxUnavailableError.
    """
    marks = [secrets.token_hex(12) for _ in runs]
    scripts = [
        _ALONE.format(calls=run.calls, source=run.source, entry=run.entry, mark=mark)
        for run, mark in zip(runs, marks, strict=True)
    ]
    found: list[list[Any]] = []
    for run, mark, outcome in zip(runs, marks, run_scripts(scripts), strict=True):
        text = outcome.stdout.decode(errors="replace").rpartition(f"\n{mark}")[2].strip()
        rows = _rows(text) if outcome.ending is Ending.EXITED else []
        found.append(rows if len(rows) == len(run.calls) else [None] * len(run.calls))
    return found


def run_scripts(scripts: Sequence[str]) -> list[Outcome]:
    """The outcome of each, sealed. Raises SandboxUnavailableError."""
    batch: list[Job] = [
        jobs.main(text, stdin=b"", limits=_LIMITS, profile=_PROFILE) for text in scripts
    ]
    return list(run_all(shared_pool(), batch))


def _rows(text: str) -> list[Any]:
    try:
        return [(row or [None])[0] for row in json.loads(text.splitlines()[0])]
    except (ValueError, IndexError, TypeError):
        return []
