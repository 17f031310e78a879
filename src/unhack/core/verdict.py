"""The judge's decision on one completion."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """The kind of a result: passed, failed in one of several ways, or unscored.

    Example:

        slow = sum(one.status is Status.TIMEOUT for one in batch.verdicts)
    """

    PASSED = "passed"
    """Every check passed."""
    FAILED = "failed"
    """It ran, and at least one answer is wrong."""
    ERROR = "error"
    """It raised, crashed, exited or broke the channel before it had answered."""
    TIMEOUT = "timeout"
    """It used up its wall or CPU time."""
    LIMIT = "limit"
    """It hit another limit: memory, processes, files, output or disk."""
    INVALID = "invalid"
    """There is nothing to run: no code, a syntax error, no entry point."""
    UNSCORED = "unscored"
    """The verifier or the sandbox broke, on the control too: no reward may be derived."""


class Seal(StrEnum):
    """The separation of candidate and judge.

    Example:

        sealed = [one for one in batch.verdicts if one.seal is Seal.SEALED]
    """

    SEALED = "sealed"
    """The candidate ran in a process of its own that never held the answer."""
    AS_WRITTEN = "as_written"
    """The verifier ran the candidate in its own process, inside the sandbox, as its author does."""
    TEXT = "text"
    """Nothing was executed: the completion was compared as text."""
    HOST = "host"
    """A callable of the user judged the text in the caller's process."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case of one completion.

    Example:

        for case in verdict.cases:
            if not case.passed:
                print(case.reason, case.output)
    """

    passed: bool
    """True when the judge accepted the answer."""
    reason: str = ""
    """Empty when passed, otherwise what differed; never longer than a few hundred characters."""
    score: float | None = None
    """Partial credit in [0, 1] where a checker gives it; None stands for 0 or 1 by `passed`."""
    output: str = ""
    """The claimed output, shortened, control characters escaped but for line ends and tabs; for
    people, never for scoring."""
    skipped: int = 0
    """Characters of a text, or items of a list, left out before `output`; they are as expected."""

    @property
    def credit(self) -> float:
        """The case's share in [0, 1]."""
        return self.score if self.score is not None else float(self.passed)


@dataclass(frozen=True, slots=True)
class Usage:
    """Time and memory of the completion's processes, as the kernel counted them.

    Example:

        verdict.usage.cpu_s, verdict.usage.max_rss_bytes
    """

    wall_s: float = 0.0
    """Seconds from the start of the job to its end, queueing excluded."""
    cpu_s: float = 0.0
    """User plus system seconds."""
    max_rss_bytes: int = 0
    """Largest resident set, shared interpreter pages included."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judge's word on one completion.

    `score` lies in [0, 1], or is None exactly when `status` is `unscored_verdict`.

    Example:

        [verdict] = run_batch(task, [completion]).verdicts
        verdict.status, verdict.score, verdict.reason
    """

    status: Status
    score: float | None
    reason: str = ""
    cases: tuple[CaseResult, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seal: Seal = Seal.SEALED
    """The separation of candidate and judge."""
    isolation: str = "none"
    """The sandbox level that ran it: `namespaces`, `landlock`, or `none`."""
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    """Named extra figures (a rubric's criteria); plain data."""

    def __post_init__(self) -> None:
        if (self.score is None) is not (self.status is Status.UNSCORED):
            raise ValueError("score is None exactly when the status is unscored")
        if self.score is not None and not 0.0 <= self.score <= 1.0:
            raise ValueError(f"score must lie in [0, 1], not {self.score!r}")

    @property
    def passed(self) -> bool:
        """True when every check passed."""
        return self.status is Status.PASSED

    @property
    def scored(self) -> bool:
        """True when a reward may be derived."""
        return self.score is not None

    @property
    def was_judged(self) -> bool:
        """True when a verifier came as far as to judge what it was given, right or wrong."""
        judged = self.status in {Status.PASSED, Status.FAILED} or self.seal is Seal.HOST
        return self.score is not None and judged

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain JSON values."""
        return {
            "status": self.status.value,
            "score": self.score,
            "reason": self.reason,
            "cases": [
                {"passed": case.passed, "score": case.credit, "reason": case.reason}
                for case in self.cases
            ],
            "usage": {
                "wall_s": round(self.usage.wall_s, 6),
                "cpu_s": round(self.usage.cpu_s, 6),
                "max_rss_bytes": self.usage.max_rss_bytes,
            },
            "seal": self.seal.value,
            "isolation": self.isolation,
            "details": self.details,
        }


def unscored_verdict(reason: str, *, isolation: str = "none") -> Verdict:
    """A verdict that carries no reward: our own machinery broke, on the control too."""
    return Verdict(Status.UNSCORED, None, reason, isolation=isolation)
