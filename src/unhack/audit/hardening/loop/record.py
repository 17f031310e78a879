"""The record of hacker, fixer and solver in turn: rounds, patches, and the end of each task.

    task.end is LoopEnd.CLOSED, task.diff

Covered: each hole with who found it, each patch with the solver's word on it, siblings that took a
patch or did not, and why the loop ended. A diff stands only where the end is `closed`.
Not covered: patches that were taken back in the end; their rounds show them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from unhack.core.finding import Finding, FindingKind

_NO_RULE = "no rule fits"
ASK_AGENT = f"{_NO_RULE}; give --agent COMMAND"


class LoopEnd(StrEnum):
    """The end of the loop on one task.

    Example:

        task.end is LoopEnd.SOLVER_REFUSED
    """

    CLOSED = "closed"
    """A hole was found, and after the patch a whole round finds none."""
    NO_HOLE = "no hole found"
    NOT_CLOSED = "not closed"
    SOLVER_REFUSED = "solver refused"
    """Every fix that closed the hole cost right work, and was dropped."""
    BUDGET = "budget ended"
    AGENT_FAILED = "agent could not start"
    UNDECIDED = "undecided"
    """Nothing can tell right work from wrong."""


@dataclass(frozen=True, slots=True)
class FoundHole:
    """A proven way to be rewarded for nothing."""

    flaw: str
    by: str
    """The attack."""
    problem: str
    witness: str
    why_wrong: str
    also: tuple[str, ...] = ()
    """Further attacks that win for the same cause."""
    kind: FindingKind = FindingKind.HACK

    @property
    def named(self) -> str:
        """Its attack, and how many more there are."""
        return f"{self.by} and {len(self.also)} more" if self.also else self.by

    @staticmethod
    def of(finding: Finding) -> FoundHole:
        """The hole that a finding proves."""
        return FoundHole(
            finding.flaw, finding.attack, finding.problem, finding.witness, finding.evidence.text,
            finding.also, finding.kind,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class TriedPatch:
    """A patch, and what became of it."""

    what: str
    kept: bool
    solver: str
    """The solver's word, or the reason why it was not kept."""
    diff: str = ""


@dataclass(frozen=True, slots=True)
class LoopRound:
    """The turns of hacker, fixer and solver."""

    hackers: str
    """Those who played."""
    found: tuple[FoundHole, ...]
    patches: tuple[TriedPatch, ...] = ()
    said: str = ""
    """The conclusion of the hacker's audit."""


@dataclass(frozen=True, slots=True)
class SiblingTask:
    """A sibling to which the patch was carried."""

    name: str
    kept: bool
    why: str
    diff: str = ""


@dataclass(frozen=True, slots=True)
class HardenedTask:
    """The loop on one task.

    Example:

        if task.end is LoopEnd.CLOSED:
            Path("fix.diff").write_text(task.diff)
    """

    name: str
    end: LoopEnd
    why: str
    rounds: tuple[LoopRound, ...]
    diff: str = ""
    siblings: tuple[SiblingTask, ...] = ()
    calls: int = 0
    seconds: float = 0.0
    cost_usd: float = 0.0

    @property
    def has_hole(self) -> bool:
        """True where a hole of the task as it is was proven."""
        found = [hole.kind for one in self.rounds for hole in one.found]
        return FindingKind.HACK in found

    def to_json(self) -> dict[str, Any]:
        """The task as plain JSON values."""
        return {**asdict(self), "end": self.end.value}


def exit_code(tasks: Iterable[HardenedTask]) -> int:
    """1 where a hole of a task was proven, closed or not; else 4 where one could not be decided;
    else 0."""
    ends = [(one.has_hole, one.end) for one in tasks]
    if any(has_hole for has_hole, _ in ends):
        return 1
    return 0 if all(end is LoopEnd.NO_HOLE for _, end in ends) else 4
