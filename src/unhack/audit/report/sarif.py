"""A report as SARIF 2.1.0, for code scanning: one rule for each flaw class, one result for each
finding.

Covered: lines in the verifier's own file, fix and example as the rule's help, fingerprints that
stay the same while flaw and line do, the witness as a property.
Not covered: checks other than soundness; they accuse no line.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.report import AuditReport
from unhack.audit.report.wording import (
    TIERS,
    expected_reward_text,
    place_of,
    ranked,
    score_of,
    strict,
)
from unhack.audit.subject import Source
from unhack.core.finding import Finding, FindingKind, Place, Severity
from unhack.reporting.text import one_line, visible

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "unhackFlawAndLine/v1"

_LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
}
_SECURITY = {
    Severity.CRITICAL: "9.5",
    Severity.HIGH: "8.0",
    Severity.MEDIUM: "5.5",
    Severity.LOW: "3.0",
}
"""The severity by which code scanning sorts, from 0 to 10."""
_SHOWN = 300


def sarif(
    report: AuditReport, *, source: Source | None = None, root: Path | None = None
) -> dict[str, Any]:
    """The report as a SARIF log.

    `source` gives a line to findings that have none. Paths below `root` (the current directory if
    None) are written relative to it, as code scanning wants them.
    """
    findings = ranked(report.findings)
    flaws = sorted({finding.flaw for finding in findings})
    base = (root or Path.cwd()).resolve()
    seen: Counter[str] = Counter()
    results: list[dict[str, Any]] = []
    for finding in findings:
        place = place_of(finding, source)
        key = _fingerprint(finding, place)
        result = _result(finding, place, base)
        result["ruleIndex"] = flaws.index(finding.flaw)
        result["partialFingerprints"] = {FINGERPRINT: f"{key}:{seen[key]}"}
        seen[key] += 1
        results.append(result)
    driver = {
        "name": "unhack",
        "semanticVersion": version("unhack"),
        "rules": [_rule(flaw, findings) for flaw in flaws],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"unhack-audit/{visible(report.subject)}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True}],
        "results": results,
        "properties": _properties(report),
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _properties(report: AuditReport) -> dict[str, Any]:
    """The report's fields that do not stand in the results."""
    return {key: strict(value) for key, value in report.to_json().items() if key != "findings"}


def _rule(name: str, findings: Sequence[Finding]) -> dict[str, Any]:
    flaw = FLAWS[name]
    worst = next(finding.severity for finding in findings if finding.flaw == name)
    whole = _sentences(flaw.title, flaw.wrong)
    text = f"{whole}\n\nExample:\n{flaw.example}\n\nFix: {flaw.fix}"
    marked = f"{flaw.wrong}\n\n```python\n{flaw.example}\n```\n\n**Fix.** {flaw.fix}"
    if flaw.case:
        text += f"\n\nSeen in: {flaw.case}"
        marked += f"\n\n**Seen in.** {flaw.case}"
    return {
        "id": name,
        "name": "".join(word.capitalize() for word in name.split("_")),
        "shortDescription": {"text": flaw.title},
        "fullDescription": {"text": _sentences(flaw.title, flaw.wrong, flaw.fix)},
        "help": {"text": text, "markdown": marked},
        "defaultConfiguration": {"level": _LEVELS[worst]},
        "properties": {
            "precision": "very-high",
            "security-severity": _SECURITY[worst],
            "tags": ["reward-hacking", "security"],
        },
    }


def _sentences(*parts: str) -> str:
    """Texts one behind the other, each with a full stop."""
    return " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in parts)


def _result(finding: Finding, place: Place | None, base: Path) -> dict[str, Any]:
    what = "hack" if finding.kind is FindingKind.HACK else "false accept"
    text = (
        f"A wrong completion is rewarded ({what}): “{_quote(finding.witness)}” "
        f"{score_of(finding)}, but {_sentences(_quote(finding.evidence.text), finding.fix)}"
    )
    if finding.expected_reward is not None:
        text += f" {_sentences(expected_reward_text(finding.expected_reward))}"
    properties = strict(finding.to_json())
    properties["tier"] = f"{finding.tier} {TIERS[finding.tier]}"
    return {
        "ruleId": finding.flaw,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [_location(finding, place, base)],
        "properties": {key: value for key, value in properties.items() if key != "place"},
    }


def _quote(text: str) -> str:
    """Untrusted text in a message, in which `[text](target)` would become a link."""
    return one_line(text, most=_SHOWN).replace("](", "] (")


def _location(finding: Finding, place: Place | None, base: Path) -> dict[str, Any]:
    """The location of the verifier; one without a file has its name only."""
    if place is None:
        return {"logicalLocations": [{"name": visible(finding.problem), "kind": "module"}]}
    region: dict[str, Any] = {"startLine": max(place.line, 1)}
    if place.code:
        region["snippet"] = {"text": place.code}
    artifact = {"uri": _uri(place.path, base)}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _uri(path: str, base: Path) -> str:
    from urllib.parse import quote

    full = (base / path).resolve()
    if full.is_relative_to(base):
        return quote(full.relative_to(base).as_posix())
    return full.as_uri()


def _fingerprint(finding: Finding, place: Place | None) -> str:
    """The same while the flaw and the text of its line are; line numbers do not matter."""
    code = " ".join(place.code.split()) if place else ""
    return hashlib.sha256(f"{finding.flaw}\0{code}".encode(errors="replace")).hexdigest()[:32]
