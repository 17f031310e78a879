"""Judges right programs beside hogs, on one worker, and prints the verdicts as one line of JSON.

    python crowd_run.py LEVEL LANE HOG [PROGRAMS]

LEVEL is an isolation level; LANE names the kind of worker (see `LANES`); HOG is a hog of that
lane, or `nobody`; PROGRAMS is how many of the honest programs run behind one hog, from the first
on, instead of all of them behind several.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import crowd_hogs
import crowd_honest
from ground import left_since, take_snapshot
from sealed import RAW, CommandVerifier

from unhack import Case, FunctionVerifier, Pool, Problem, ScriptVerifier, StdioVerifier, Task
from unhack import run_batch as judge_batch
from unhack.core.errors import BatchUnscoredError
from unhack.sandbox.job import Isolation
from unhack.sandbox.limits import Limits
from unhack.verifiers.base import Verifier
from unhack.verifiers.stdio import StdioCase

NOBODY = "nobody"
HOG_LIMITS = Limits(wall_s=2.0, cpu_s=2.0)
"""Long enough to be there while the honest ones behind it run."""
LIMITS = Limits(wall_s=60.0, cpu_s=20.0)
"""Roomy in time only: a busy machine fails no honest job."""
HOGS_EACH = 2
"""Hogs before each few honest programs."""
BETWEEN = 4

_SCRIPT = """
import solution
def verify(prompt, completion):
    return 1.0 if solution.solve(7) == 49 else 0.0
"""
_BUSY = "def solve(n):\n    for _ in range(6_000_000):\n        pass\n    return n * n\n"
"""Something to run while the hogs before it grow."""


def _function(limits: Limits, *, scratch: bool = False) -> Verifier:
    cases = (Case((7,), expected=49),)
    return FunctionVerifier("solve", cases, scratch=scratch, limits=limits, extraction=RAW)


def _stdio(limits: Limits) -> Verifier:
    return StdioVerifier((StdioCase("7\n", "49\n"),), limits=limits, extraction=RAW)


def _program(limits: Limits) -> Verifier:
    return CommandVerifier("49", b"7\n", limits)


def _script(limits: Limits) -> Verifier:
    return ScriptVerifier(_SCRIPT, limits=limits, extraction=RAW)


LANES: Mapping[str, Mapping[str, str]] = {
    "function": crowd_hogs.HOGS,
    "scratch": crowd_hogs.WRITING_HOGS,
    "program": crowd_hogs.PROGRAM_HOGS,
}
"""The hogs of each lane."""


def honest(lane: str, level: str) -> dict[str, tuple[Verifier, str]]:
    """Name -> verifier and right completion, of those that share a worker with the lane's hogs."""
    if lane == "scratch":
        shapes = crowd_honest.WRITING | crowd_honest.FUNCTIONS
        return {
            f"writing {name}": (_function(LIMITS, scratch=True), text)
            for name, text in shapes.items()
        }
    if lane == "program":
        return {
            f"program {name}": (_program(LIMITS), text)
            for name, text in crowd_honest.PROGRAMS.items()
        }
    found = {
        f"function {name}": (_function(LIMITS), text)
        for name, text in crowd_honest.FUNCTIONS.items()
    }
    for name, text in crowd_honest.SCRIPTS.items():
        found[f"stdio {name}"] = (_stdio(LIMITS), text)
    if level == Isolation.NAMESPACES:
        for name, text in crowd_honest.MODULES.items():
            found[f"sealed {name}"] = (_script(LIMITS), text)
    return found


def plan(
    level: str, lane: str, hog: str, programs: int | None = None
) -> list[tuple[str, Task, str]]:
    """(name, task, completion); the name of a hog, or of a job that only passes time, is empty."""
    scratch = lane == "scratch"
    verifier = _program(HOG_LIMITS) if lane == "program" else _function(HOG_LIMITS, scratch=scratch)
    busy = _function(LIMITS, scratch=scratch)
    found: list[tuple[str, Task, str]] = []
    shapes = list(honest(lane, level).items())[:programs]
    for index, (name, (judge, text)) in enumerate(shapes):
        if hog != NOBODY and index % BETWEEN == 0:
            for copy in range(1 if programs else HOGS_EACH):
                text_of_hog = f"{LANES[lane][hog]}# {index} {copy}\n"
                found.append(("", Task(Problem("hog", ""), verifier), text_of_hog))
            if lane != "program":
                found.append(("", Task(Problem("busy", ""), busy), f"{_BUSY}# {index}\n"))
        found.append((name, Task(Problem(name, ""), judge), text))
    return found


def run(level: str, lane: str, hog: str, programs: str = "") -> dict[str, object]:
    """The verdicts on the honest programs, by name."""
    before = take_snapshot()
    pool = Pool(slots=1, isolation=Isolation(level))
    jobs = plan(level, lane, hog, int(programs) if programs else None)
    try:
        batch = judge_batch([task for _, task, _ in jobs], [text for *_, text in jobs],
                            backend=pool, dedupe=False)  # fmt: skip
    except BatchUnscoredError as error:
        batch = error.batch
    pool.close()
    verdicts = {
        name: [verdict.score, f"{verdict.status.value}: {verdict.reason}"]
        for (name, _, _), verdict in zip(jobs, batch.verdicts, strict=True)
        if name
    }
    return {"uid": os.getuid(), "verdicts": verdicts, "left": left_since(before)}


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:5])))
