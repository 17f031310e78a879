"""The outcome of hardening: what was changed, the rules that hold now, what is closed and left."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unhack.audit.report.power import Power
from unhack.audit.report.report import AuditReport
from unhack.audit.subject import Source
from unhack.core.finding import Finding, Place

GOLD_TEXT = "it names a text of the rows"
"""Begins the reason why a fix that compares with a right completion is refused."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A fix that was tried and taken back."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A change that was kept, as the rule that the verifier enforces with it."""

    line: int
    """Of the original file."""
    text: str
    """One sentence."""


@dataclass(frozen=True, slots=True)
class HardeningRound:
    """One turn of finding and fixing."""

    found: tuple[Finding, ...]
    """The findings that it worked on."""
    kept: tuple[str, ...]
    refused: tuple[Refused, ...]
    patch: str
    """All changes up to here as a diff, whether they stay or not."""
    report: AuditReport | None
    """The audit of the copy; None where nothing was changed."""


@dataclass(frozen=True, slots=True)
class HardeningResult:
    """The outcome of hardening a verifier."""

    target: str
    """The copy's name for an audit; empty where there is none."""
    kept: tuple[str, ...]
    """The changes, in words."""
    refused: tuple[Refused, ...]
    report: AuditReport | None
    """The last audit of the copy."""
    closed: tuple[str, ...]
    """Flaws of the original whose witness and strategy earn nothing any more."""
    left: tuple[str, ...]
    """Flaws that are still proven, of the copy or of the original where there is no copy."""
    remarks: tuple[str, ...] = ()
    """Changes that are left to the author."""
    patch: str = ""
    """The changes as a unified diff; empty where there are none."""
    power: Power | None = None
    """The audit's power on the copy, where it was measured."""
    power_note: str = ""
    """Its comparison with that on the original, or the reason why there is none."""
    rules: tuple[Rule, ...] = ()
    path: str = ""
    """The original's file."""
    rounds: tuple[HardeningRound, ...] = ()
    text: str = ""
    """The verifier's text with the changes; empty where there are none."""
    right: int = 0
    """Right completions, their other forms included, that each fix was held to."""

    def to_json(self) -> dict[str, Any]:
        """The outcome as plain JSON values."""
        return {
            "target": self.target,
            "changes": list(self.kept),
            "refused": [{"change": one.what, "why": one.why} for one in self.refused],
            "rules": [{"line": one.line, "text": one.text} for one in self.rules],
            "closed": list(self.closed),
            "left": list(self.left),
            "remarks": list(self.remarks),
            "diff": self.patch,
            "power": self.power and self.power.to_json(),
            "power_note": self.power_note,
            "report": self.report and self.report.to_json(),
        }


def told_by_fix(report: AuditReport, result: HardeningResult) -> AuditReport:
    """The report with the line and the advice of the fix that closed a finding."""
    if not result.rules:
        return report

    def told(one: Finding) -> Finding:
        if one.flaw not in result.closed:
            return one
        line = one.place.line if one.place is not None else 0
        [rule, *_] = sorted(result.rules, key=lambda rule: abs(rule.line - line))
        path = one.place.path if one.place is not None else result.path
        return replace(one, fix=rule.text, place=Place(path, rule.line), tried_fix="")

    return replace(report, findings=tuple(map(told, report.findings)))


_SENTENCES = {
    "equality instead of containment": "The text has to be equal to the answer",
    "equality of the whole text": "The whole text has to be equal to the answer",
    "it alone, and nothing beside it": "The answer must be the only thing found",
    "equality instead of a part": "The two have to be equal",
    "no credit here": "This branch earns nothing",
}
"""Rules of changes that are described by what is done."""


def rules_of(source: Source, text: str, kept: Sequence[str]) -> Iterator[Rule]:
    """The rule of the changed lines, in words; `kept` describes the changes as `code: rule`."""
    before, after = source.text.split("\n"), text.split("\n")
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    changed = [
        at
        for tag, start, end, _, _ in matcher.get_opcodes()
        if tag != "equal"
        for at in range(start, max(end, start + 1))
    ]
    for one in kept:
        code, _, what = one.rpartition("`: ")
        named = [at for at in changed if at < len(before) and code[1:] in before[at].strip()]
        at = named[0] if code and named else changed[-1] if changed else 0
        sentence = _SENTENCES.get(what, what[:1].upper() + what[1:])
        yield Rule(source.first_line + at, f"{sentence}.")
