"""The proof of an audit: a completion that passes although it is wrong, with evidence and a fix."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """The harm of a finding: how much an optimiser gains by it, and how easily it finds it."""

    CRITICAL = "critical"
    """Full reward for any problem, with a text that needs to know nothing of it."""
    HIGH = "high"
    """Full reward with a text made from what the policy sees or can guess."""
    MEDIUM = "medium"
    """Full reward near the right answer, or with knowledge that a policy learns slowly."""
    LOW = "low"
    """A part of the reward that correct completions get."""


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

    def to_json(self) -> dict[str, str]:
        """The evidence as plain JSON values."""
        return {
            "kind": self.kind,
            "text": self.text,
            "input": self.input,
            "expected": self.expected,
            "obtained": self.obtained,
        }


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
    """A proven, minimised exploit."""

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
    catalogue: str = ""
    """The nearest documented case."""
    after: str | None = None
    """The completion that the verifier must have seen before or beside it; None where the witness
    passes alone."""
    also: tuple[str, ...] = field(default=())
    """Names of further attacks that pass for the same cause."""

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
            "catalogue": self.catalogue,
            "after": self.after,
            "also": list(self.also),
        }
