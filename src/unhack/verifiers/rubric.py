"""Several verifiers, weighed into one score.

The score is the weighted mean of the criteria's scores, or 0 when a gate did not pass. The verdict
passes only when every criterion passed. Criteria are judged one after the other, each in sandbox
jobs of its own; all are judged, also after a gate has failed, so that `details` is always complete:

    verdict.details["criteria"]["format"] -> {"score": 1.0, "status": "passed", "reason": "",
                                              "weight": 1.0, "gate": True}

A criterion that cannot judge (`VerifierFault`) makes the whole rubric unable to judge.

Covered: the seal and the isolation of the verdict are the weakest among the criteria's.
Not covered: a small weight does not make a loophole in a criterion harmless. A partial score can
reward a wrong completion; where only right ones may score, make the criteria gates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unhack.core.errors import UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Seal, Status, Usage, Verdict
from unhack.verifiers.base import (
    DoubtsControls,
    Steps,
    Verifier,
    VerifierFault,
    canaries_of,
)

_SEALS = (Seal.HOST, Seal.AS_WRITTEN, Seal.SEALED, Seal.TEXT)
"""From the weakest to the strongest."""
_ISOLATIONS = ("none", "landlock", "namespaces")


@dataclass(frozen=True, slots=True)
class Criterion:
    """One named part of a rubric. Raises UsageError for a blank name or a weight not above 0.

    Example:

        Criterion("tests", FunctionVerifier("f", cases), weight=3.0, gate=True)
    """

    name: str
    verifier: Verifier
    weight: float = 1.0
    """Its share of the score, relative to the sum of all weights; gates count too."""
    gate: bool = False
    """True makes the whole score 0 unless this criterion passes."""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise UsageError("a criterion needs a name")
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise UsageError(
                f"the weight of criterion {self.name!r} must be a positive number, "
                f"not {self.weight!r}"
            )


@dataclass(frozen=True)
class RubricVerifier:
    """Verifier of kind `rubric`. Raises UsageError without criteria, or for a name that repeats.

    Example:

        tests = Criterion("tests", FunctionVerifier("f", cases), weight=3.0, gate=True)
        RubricVerifier((tests, Criterion("short", PythonVerifier(is_short))))
    """

    kind = "rubric"
    criteria: Sequence[Criterion]

    def __post_init__(self) -> None:
        object.__setattr__(self, "criteria", tuple(self.criteria))
        if not self.criteria:
            raise UsageError("a rubric without criteria would pass everything; give at least one")
        names = [criterion.name for criterion in self.criteria]
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise UsageError(f"two criteria are named {repeated!r}; rename one")

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge one completion by every criterion."""
        verdicts: list[Verdict] = []
        for criterion in self.criteria:
            verdict = yield from criterion.verifier.verify(problem, completion)
            if not verdict.scored:
                raise VerifierFault(f"criterion {criterion.name}: {verdict.reason}")
            verdicts.append(verdict)
        return self._combine(verdicts)

    def canary(self) -> str:
        """The canary of the first criterion."""
        return self.criteria[0].verifier.canary()

    def canaries(self, problem: Problem) -> tuple[str, ...]:
        """Those of every criterion; one that all criteria judge shows that the rubric works."""
        found = (canaries_of(criterion.verifier, problem) for criterion in self.criteria)
        return tuple(dict.fromkeys(text for texts in found for text in texts))

    def control_doubt(self) -> str:
        """That of the first criterion which has one."""
        doubtful = (part.verifier for part in self.criteria)
        doubts = (one.control_doubt() for one in doubtful if isinstance(one, DoubtsControls))
        return next(filter(None, doubts), "")

    def _combine(self, verdicts: list[Verdict]) -> Verdict:
        parts = list(zip(self.criteria, verdicts, strict=True))
        first_bad = next((pair for pair in parts if not pair[1].passed), None)
        gate = next((part for part, verdict in parts if part.gate and not verdict.passed), None)
        status, reason = Status.PASSED, ""
        if first_bad is not None:
            status = Status.FAILED
            shown = next(pair for pair in parts if pair[0] is gate) if gate else first_bad
            kind = "gate" if shown[0].gate else "criterion"
            reason = f"{kind} {shown[0].name}: {shown[1].reason or shown[1].status.value}"
        return Verdict(
            status,
            0.0 if gate is not None else _weighted_mean(parts),
            reason,
            tuple(
                CaseResult(verdict.passed, f"{part.name}: {verdict.reason}", score=verdict.score)
                for part, verdict in parts
            ),
            _total(verdicts),
            min((verdict.seal for verdict in verdicts), key=_SEALS.index),
            _weakest_isolation(verdicts),
            {"criteria": {part.name: _details(part, verdict) for part, verdict in parts}},
        )


def _weighted_mean(parts: Sequence[tuple[Criterion, Verdict]]) -> float:
    """The mean in [0, 1], and 1 only when every score is 1."""
    scores = [verdict.score or 0.0 for _, verdict in parts]
    if all(score == 1.0 for score in scores):
        return 1.0
    weights = [part.weight for part, _ in parts]
    largest = max(weights)
    shares = [weight / largest for weight in weights]
    credits = [share * score for share, score in zip(shares, scores, strict=True)]
    mean = math.fsum(credits) / math.fsum(shares)
    return min(mean, math.nextafter(1.0, 0.0))


def _details(part: Criterion, verdict: Verdict) -> dict[str, Any]:
    details: dict[str, Any] = {
        "score": verdict.score,
        "status": verdict.status.value,
        "reason": verdict.reason,
        "weight": part.weight,
        "gate": part.gate,
    }
    return details | ({"details": verdict.details} if verdict.details else {})


def _total(verdicts: Sequence[Verdict]) -> Usage:
    return Usage(
        wall_s=sum(verdict.usage.wall_s for verdict in verdicts),
        cpu_s=sum(verdict.usage.cpu_s for verdict in verdicts),
        max_rss_bytes=max(verdict.usage.max_rss_bytes for verdict in verdicts),
    )


def _weakest_isolation(verdicts: Sequence[Verdict]) -> str:
    """The weakest isolation among criteria that ran anything; `none` when none did."""
    levels = [
        verdict.isolation
        for verdict in verdicts
        if verdict.isolation != "none" or verdict.usage.wall_s > 0
    ]
    return min(levels, key=_ISOLATIONS.index, default="none")
