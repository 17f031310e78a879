"""Scripted hackers and fixers, and reports with the findings that a test names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from unhack.agents.play import WorkFiles
from unhack.audit.report.plan import PartEnd, PlanPart
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.core.finding import Evidence, Finding, FindingKind, Severity


@dataclass
class ScriptedWorker:
    """Answers each order by a function of its files."""

    answer: Callable[[WorkFiles], Mapping[str, str]]
    failure: str = ""
    orders: list[tuple[str, WorkFiles]] = field(default_factory=list[tuple[str, WorkFiles]])
    name: str = "scripted"

    def work(
        self, order: str, files: WorkFiles, *, wanted: tuple[str, ...], within_s: float = math.inf
    ) -> Mapping[str, bytes]:
        self.orders.append((order, files))
        return {path: text.encode() for path, text in self.answer(files).items()}


def hack(flaw: str, witness: str, *, attack: str = "test/one", problem: str = "") -> Finding:
    """A proven hack."""
    return Finding(
        flaw=flaw, severity=Severity.HIGH, attack=attack, tier=1, problem=problem,
        witness=witness, score=1.0, threshold=1.0,
        evidence=Evidence("other_answer", "it is wrong"), fix="", kind=FindingKind.HACK,
    )  # fmt: skip


def report_of(name: str, *findings: Finding, cut: bool = False, calls: int = 1) -> AuditReport:
    """A report with these findings; with `cut` its budget ended."""
    conclusion = Conclusion.INCOMPLETE if cut else Conclusion.SOUND
    conclusion = Conclusion.EXPLOITABLE if findings else conclusion
    end = PartEnd.STOPPED if cut else PartEnd.DONE
    return AuditReport(
        subject=name, conclusion=conclusion, why="as the test says", findings=findings, checks=(),
        tried=(), pairs=(), tiers=(1,), plan=(PlanPart(1, "attacks", end),), problems=1,
        calls=calls, seconds=1.0,
    )  # fmt: skip
