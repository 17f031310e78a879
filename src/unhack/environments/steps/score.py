"""`StepScore`: one judge's word on the state after a step, and how such judges are run.

Every score is a function of the task and of the state after the step alone, so it can serve as a
potential: differences of it telescope, and no sequence of steps earns what its end does not hold.
What the step itself changed stands in the evidence.

Process scores and the outcome stay apart; weights are given in `rewards`.

Covered: judges that need the sandbox, as generators that yield jobs (the same judge runs from
synchronous and asynchronous callers); a tool that is not installed is told, never scored; what the
judged files do to a job is a score, never unscored.
Not covered: the outcome (`verifiers.repository`), shaping (`training`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

from unhack.core.errors import UsageError
from unhack.sandbox.job import Backend, Ending, Job, Outcome, run_all

StateFiles = Mapping[str, bytes]
"""The regular files of a state: relative path -> content."""


@dataclass(frozen=True, slots=True)
class StepScore:
    """One judge's word on the state after a step."""

    kind: str
    """`tests`, `build`, `lint`, `types`, `minimality` or `tampering`."""
    score: float | None
    """In [0, 1], 1 is best; None where this host could not judge (`reason` says what is needed)."""
    reason: str
    """One sentence."""
    evidence: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The grounds of the score, as plain data."""

    def __post_init__(self) -> None:
        if self.score is not None and not 0.0 <= self.score <= 1.0:
            raise UsageError(f"{self.kind}: a score of {self.score!r} is not in [0, 1]")
        object.__setattr__(self, "evidence", MappingProxyType(dict(self.evidence)))


StepJudge = Generator[list[Job], list[Outcome], StepScore]
"""Yields jobs, receives their outcomes in the same order, and returns a score."""
Answer = TypeVar("Answer")


def run_judge(judge: Generator[list[Job], list[Outcome], Answer], backend: Backend) -> Answer:
    """Run a judge to its end. Blocks; for another thread's loop see `arun_judge`."""
    try:
        jobs = next(judge)
        while True:
            jobs = judge.send(run_all(backend, jobs))
    except StopIteration as ended:
        return ended.value


async def arun_judge(
    judge: Generator[list[Job], list[Outcome], Answer], backend: Backend
) -> Answer:
    """The same beside an event loop."""
    return await asyncio.to_thread(run_judge, judge, backend)


def sandbox_trouble(outcome: Outcome) -> str:
    """Why the sandbox itself gave no answer; empty where the job ran, whatever became of it."""
    if outcome.ending in (Ending.BROKEN, Ending.REFUSED):
        return outcome.error or outcome.ending.value
    return ""


def python_sources(files: StateFiles, *, unlike: StateFiles) -> dict[str, bytes]:
    """The Python files, stubs too, that are not the same in `unlike`."""
    return {
        path: data
        for path, data in sorted(files.items())
        if path.endswith((".py", ".pyi")) and unlike.get(path) != data
    }


def listed(names: Iterable[str], *, most: int = 5) -> str:
    """A few names in words."""
    held = sorted(names)
    more = f" and {len(held) - most} more" if len(held) > most else ""
    return ", ".join(held[:most]) + more
