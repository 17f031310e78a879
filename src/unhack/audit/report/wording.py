"""Words that every way of showing a report shares: the screen, the page and SARIF."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.subject import Source, Subject
from unhack.core.finding import Finding, Place, Severity

TIERS = {
    1: "heuristic",
    2: "white-box",
    3: "black-box",
    4: "mutation",
    5: "RL exploit discovery",
}
CONCLUSIONS = {
    Conclusion.EXPLOITABLE: "exploitable",
    Conclusion.SOUND: "no exploit found",
    Conclusion.UNPROVEN: "unproven",
}
_TIER_5 = "trains a policy against the verifier; needs unhack[train]"


def ranked(findings: Sequence[Finding]) -> list[Finding]:
    """The worst first; otherwise in order."""
    order = list(Severity)
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def place_of(finding: Finding, source: Source | None) -> Place | None:
    """The line that lets the witness through; failing that, where the verifier begins."""
    if finding.place is not None or source is None:
        return finding.place
    lines = source.text.split("\n")
    name = source.entry.rpartition(".")[2]
    heads = (f"def {name}(", f"async def {name}(", f"class {name}(", f"class {name}:")
    for offset, line in enumerate(lines):
        if line.lstrip().startswith(heads):
            return Place(source.path, source.first_line + offset, line.strip())
    return Place(source.path, source.first_line, lines[0].strip())


def near(path: str) -> str:
    """A path as a reader names it: relative where it lies below the current directory."""
    full, here = Path(path), Path.cwd()
    return str(full.relative_to(here)) if full.is_relative_to(here) else path


def score_of(finding: Finding) -> str:
    """The witness's score beside what passes."""
    return f"scores {finding.score:g}, and {finding.threshold:g} is enough to pass"


def strict(value: Any) -> Any:
    """The same JSON value without infinite numbers and NaN, which JSON cannot hold: they become
    text."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, dict):
        return {key: strict(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in cast("Sequence[Any]", value)]
    return value


def amount_tried(report: AuditReport) -> str:
    """Attacks × problems, completions, runs of the verifier, seconds."""
    attacks, problems = _count(len(report.tried), "attack"), _count(report.problems, "problem")
    payloads = _count(sum(record.payloads for record in report.tried), "completion")
    runs = _count(report.calls, "run")
    text = f"{attacks} × {problems}: {payloads}, {runs} of the verifier, {report.seconds:.1f} s"
    if report.mutation_score is not None:
        text += f"; {report.mutation_score:.0%} of the wrong mutants rejected"
    return text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def left_out(report: AuditReport) -> list[tuple[int, str]]:
    """(tier, why) for every tier that was not run to its end."""
    reasons = dict(report.skipped)
    for tier in TIERS:
        if tier not in report.tiers and tier not in reasons:
            reasons[tier] = _TIER_5 if tier == 5 else "was not selected"
    return sorted(reasons.items())


def lacking(subject: Subject) -> str:
    """Advice on what to give when nothing says which completions are right; else empty."""
    if any(one.answer is not None or one.correct or one.calls for one in subject.problems):
        return ""
    return (
        f"{subject.name}: nothing says which completions are right; give problems with answers "
        '(--problems FILE.jsonl, one {"prompt": "…", "answer": "…", "correct": ["…"]} a line), '
        "or an --oracle that decides"
    )
