"""The audit report: findings, checks, and all that was tried, so that no finding means much."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from unhack.audit.report.discovery import Discovery
from unhack.audit.report.plan import PartEnd, PlanPart
from unhack.audit.report.power import Power
from unhack.core.finding import Finding


class Conclusion(StrEnum):
    """The audit in a word.

    Example:

        if report.conclusion is Conclusion.EXPLOITABLE:
            print(report.why)
    """

    EXPLOITABLE = "exploitable"
    """At least one finding, each proven."""
    SOUND = "sound"
    """Nothing was found, and everything that was planned ran."""
    INCOMPLETE = "incomplete"
    """Nothing was found, and not everything that was planned ran."""
    UNPROVEN = "unproven"
    """There is no oracle, or no correct completion passes: nothing could be decided."""


OTHER_NOTATIONS = "other notations of them pass"
"""The check of right answers in forms that a prompt may mean to rule out."""


class Area(StrEnum):
    """The property that a check looks at."""

    COMPLETENESS = "completeness"
    DETERMINISM = "determinism"
    ISOLATION = "isolation"
    SIGNAL = "signal"


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """One thing besides soundness."""

    area: Area
    name: str
    ok: bool | None
    """None where it could not be decided."""
    text: str
    """One sentence with its figures."""
    witness: str = ""
    tried: int = 0
    """Right answers that a check of completeness tried."""
    refused: int = 0
    """Those of them that the verifier did not let pass; the witness is one."""

    def to_json(self) -> dict[str, Any]:
        """The check as plain JSON values."""
        return {**asdict(self), "area": self.area.value}


@dataclass(frozen=True, slots=True)
class RightAnswers:
    """Right answers that were tried, and those that the verifier refused."""

    tried: int
    refused: int
    example: str = ""
    """A refused one."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The counts of one attack."""

    attack: str
    tier: int
    completions: int
    rewarded: int
    """Number that the verifier rewarded as if they were right."""
    proven: int
    """Number of those that the oracle says are wrong."""

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class HackPair:
    """A hack beside an honest completion of the same problem, for training."""

    problem: str
    prompt: str
    hack: str
    clean: str
    flaw: str

    def to_json(self) -> dict[str, str]:
        """The pair as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The outcome of an audit.

    Example:

        report = audit(load_subject("reward.py:score", problems=Path("rows.jsonl")))
        report.conclusion, [finding.fix for finding in report.findings]
    """

    subject: str
    conclusion: Conclusion
    why: str
    """One sentence."""
    findings: tuple[Finding, ...]
    checks: tuple[AuditCheck, ...]
    tried: tuple[Tried, ...]
    pairs: tuple[HackPair, ...]
    tiers: tuple[int, ...]
    """The tiers that were asked for."""
    plan: tuple[PlanPart, ...]
    """Every part that was planned, and how it ended."""
    problems: int
    calls: int
    """Calls of the verifier."""
    seconds: float
    mutation_score: float | None = None
    """Share of the proven-wrong mutants that the verifier rejects; None where none were made."""
    discovery: Discovery | None = None
    """The record of tier 5; None where it did not run."""
    of_problems: int = 0
    """The problems that there are; of very many only some are looked at."""
    assumed: tuple[str, ...] = ()
    """Things that nobody said and the audit took for granted, a sentence without an end each."""
    power: Power | None = None
    """The record of the same audit on weakened copies; None where it was not asked for."""

    @property
    def is_undecided(self) -> bool:
        """True where it says neither that there is a hack nor that what was planned found none."""
        return self.conclusion in (Conclusion.INCOMPLETE, Conclusion.UNPROVEN)

    def right_answers(self, *, otherwise: bool = False) -> RightAnswers | None:
        """The right answers that were tried, as they are or in white space and layout that means
        the same; `otherwise`, in other notations. None where none was."""
        tried = (one for one in self.checks if one.tried)
        checks = [one for one in tried if (one.name == OTHER_NOTATIONS) is otherwise]
        if not checks:
            return None
        example = next((one.witness for one in checks if one.refused), "")
        refused = sum(one.refused for one in checks)
        return RightAnswers(sum(one.tried for one in checks), refused, example)

    @property
    def skipped(self) -> tuple[tuple[int, str], ...]:
        """(tier, why) for those that were not run, or not to their end."""
        found: dict[int, str] = {}
        for part in self.plan:
            if part.end is not PartEnd.DONE:
                found.setdefault(part.tier, f"{part.name}: {part.why}")
        return tuple(found.items())

    def tier_5_adds(self, finding: Finding) -> str:
        """The gain of tier 5 over the other tiers by a finding, a sentence without an end; empty
        where it had no part in it."""
        tiers = {record.attack: record.tier for record in self.tried}
        shared = {finding.tier, *(tiers.get(name, finding.tier) for name in finding.also)}
        if 5 not in shared:
            return ""
        others = [str(tier) for tier in sorted(shared - {5})]
        if others:
            return f"nothing: tier {', '.join(others)} proved the same cause"
        ran = [str(tier) for tier in self.tiers if tier != 5]
        if not ran:
            return "not known, since no other tier ran: --tiers 1,2,3,4,5 tells"
        return f"this cause: tier {', '.join(ran)} ran and did not prove it"

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "subject": self.subject,
            "conclusion": self.conclusion.value,
            "why": self.why,
            "findings": [
                {**finding.to_json(), "tier_5_adds": self.tier_5_adds(finding)}
                for finding in self.findings
            ],
            "right_answers": _json_of(self.right_answers()),
            "right_answers_in_other_notations": _json_of(self.right_answers(otherwise=True)),
            "checks": [check.to_json() for check in self.checks],
            "tried": [record.to_json() for record in self.tried],
            "tiers": list(self.tiers),
            "plan": [part.to_json() for part in self.plan],
            "assumed": list(self.assumed),
            "problems": self.problems,
            "of_problems": self.of_problems,
            "calls": self.calls,
            "seconds": round(self.seconds, 3),
            "mutation_score": self.mutation_score,
            "discovery": self.discovery.to_json() if self.discovery is not None else None,
            "power": self.power.to_json() if self.power is not None else None,
        }


def _json_of(found: RightAnswers | None) -> dict[str, Any] | None:
    return None if found is None else asdict(found)
