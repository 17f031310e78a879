"""The proof of an audit: a completion that passes although it is wrong, with evidence and a fix."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """The harm of a finding: how much an optimiser gains by it, and how easily it finds it.

    Example:

        grave = (Severity.CRITICAL, Severity.HIGH)
        urgent = [one for one in report.findings if one.severity in grave]
    """

    CRITICAL = "critical"
    """A hack that is rewarded like a right answer: nine tenths of the way from an honest guess."""
    HIGH = "high"
    """A hack that is rewarded at least half of the way."""
    MEDIUM = "medium"
    """A hack that is rewarded less, and more than an honest guess."""
    LOW = "low"
    """A false accept: who can write the witness knows the right answer."""


class FindingKind(StrEnum):
    """The harm that a finding proves.

    Example:

        hacks = [one for one in report.findings if one.kind is FindingKind.HACK]
    """

    HACK = "hack"
    """A strategy that never reads the right answer is rewarded more than honest guessing."""
    FALSE_ACCEPT = "false_accept"
    """A completion that was made from the right answer is wrong and passes all the same."""


FEW_PROBLEMS = 7
"""A strategy that was measured on fewer has weaker evidence."""


@dataclass(frozen=True, slots=True)
class ExpectedReward:
    """The rewards of a strategy on problems that it was not made on, raw.

    Example:

        reward = finding.expected_reward
        if reward is not None:  # of a hack
            reward.mean, reward.honest, reward.p_value
    """

    mean: float
    honest: float
    """The mean that guessing gets on the same problems."""
    right: float
    """The mean of right answers."""
    rewarded: int
    """Problems on which it gets more than a guess."""
    problems: int
    """Problems on which its completion is proven wrong; the others are left out."""
    left_out: int
    p_value: float
    """The probability that an honest guesser is rewarded on as many problems."""
    held: int = 0
    """Problems on which it is rewarded and the right answer stands in its completion, among
    others."""

    @property
    def share(self) -> float:
        """The part of the way from a guess's reward to a right answer's; over 1 above it."""
        if self.right <= self.honest:
            return 0.0
        return (self.mean - self.honest) / (self.right - self.honest)

    def closed_below(self, score: float) -> float:
        """The score below which a completion that got `score` is not rewarded any more: halfway
        down to a guess. A fix may leave it what any wrong answer gets."""
        return (score + self.honest) / 2 if score > self.honest else score

    @property
    def by_attempts(self) -> bool:
        """True where it is rewarded only for giving many answers at once: the right one is among
        them wherever it is rewarded, and committing to any one of them is rewarded less."""
        return 0 < self.rewarded == self.held

    @property
    def is_weak(self) -> bool:
        """True where it was measured on few problems."""
        return self.problems < FEW_PROBLEMS

    def to_json(self) -> dict[str, Any]:
        """The expected reward as plain JSON values."""
        return {
            "mean": self.mean,
            "honest": self.honest,
            "right": self.right,
            "share": self.share,
            "rewarded": self.rewarded,
            "problems": self.problems,
            "left_out": self.left_out,
            "p_value": self.p_value,
            "weak": self.is_weak,
            "held": self.held,
            "by_attempts": self.by_attempts,
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """The word of an oracle that does not share the verifier's flaw: the witness is wrong."""

    kind: str
    """`differs`, `other_answer`, `no_answer`, `every_answer`, `breaks_rule`, `oracle`."""
    text: str
    """One sentence for people."""
    input: str = ""
    """The input on which it is wrong, printed; empty for text answers."""
    expected: str = ""
    obtained: str = ""
    slight: bool = False
    """True for a program that is wrong on few inputs, none of which the verifier uses."""

    def to_json(self) -> dict[str, str]:
        """The evidence as plain JSON values."""
        names = ("kind", "text", "input", "expected", "obtained")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the verifier's own source."""

    path: str
    line: int
    """Counted from 1."""
    code: str = ""

    def to_json(self) -> dict[str, Any]:
        """The place as plain JSON values."""
        return {"path": self.path, "line": self.line, "code": self.code}


@dataclass(frozen=True, slots=True)
class Finding:
    """A proven, minimised exploit.

    Example:

        for finding in audit(subject).findings:
            print(finding.severity, finding.flaw, finding.witness, finding.fix)
    """

    flaw: str
    """Id of the flaw's class in `unhack.audit.report.flaws`."""
    severity: Severity
    attack: str
    """Name of the attack that found it."""
    tier: int
    problem: str
    """Id of the problem that the witness answers."""
    witness: str
    """The completion, as short as it passes and is wrong."""
    score: float
    """The verifier's raw score for it."""
    threshold: float
    """The score from which a completion counts as passing here."""
    evidence: Evidence
    fix: str
    place: Place | None = None
    """The line that lets it through, where known."""
    tried_fix: str = ""
    """The change of that line with which the witness is not rewarded and right answers keep their
    scores, as it was tried; empty where none is known."""
    catalogue: str = ""
    """The nearest documented case."""
    after: str | None = None
    """The completion that the verifier must have seen before or beside it; None where the witness
    passes alone."""
    also: tuple[str, ...] = field(default=())
    """Names of further attacks that pass for the same cause."""
    kind: FindingKind = FindingKind.FALSE_ACCEPT
    expected_reward: ExpectedReward | None = None
    """Of the strategy behind the witness; None for a false accept."""

    def to_json(self) -> dict[str, Any]:
        """The finding as plain JSON values."""
        return {
            "flaw": self.flaw,
            "severity": self.severity.value,
            "attack": self.attack,
            "tier": self.tier,
            "problem": self.problem,
            "witness": self.witness,
            "score": self.score,
            "threshold": self.threshold,
            "evidence": self.evidence.to_json(),
            "place": self.place.to_json() if self.place else None,
            "fix": self.fix,
            "tried_fix": self.tried_fix,
            "catalogue": self.catalogue,
            "after": self.after,
            "also": list(self.also),
            "kind": self.kind.value,
            "expected_reward": self.expected_reward.to_json()
            if self.expected_reward is not None
            else None,
        }
