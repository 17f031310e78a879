"""An audit in GitHub Actions: annotations at the lines at fault, and the job's summary.

    tell_actions(report, source, following=next_steps(...))

Covered: workflow commands with their own escapes, on stderr, so that `--json` stays whole;
Markdown in `$GITHUB_STEP_SUMMARY`, in which text of a completion is escaped.
Not covered: code scanning; `--sarif` is for that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.report.wording import (
    CONCLUSIONS,
    amount_tried,
    brief_reward_text,
    near,
    place_of,
    ranked,
    refused_text,
    score_of,
)
from unhack.audit.subject import Source
from unhack.core.finding import Finding, FindingKind
from unhack.reporting.text import one_line

_WITNESS = 130
_HARMLESS = " .,:;/-='\""
_LEVELS = {FindingKind.HACK: "error", FindingKind.FALSE_ACCEPT: "warning"}


def tell_actions(
    report: AuditReport, source: Source | None, *, following: Sequence[tuple[str, str]]
) -> None:
    """Write the annotations, and the summary where the environment names its file."""
    for line in notes_at_lines(report, source):
        print(line, file=sys.stderr)
    if os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as file:
            file.write("\n".join(summary(report, source, following=following)) + "\n")


def notes_at_lines(report: AuditReport, source: Source | None) -> Iterator[str]:
    """A workflow command for each finding, else one for an audit that decided nothing."""
    for finding in ranked(report.findings):
        place = place_of(finding, source)
        at = f"file={_property(near(place.path))},line={place.line}," if place is not None else ""
        text = f"“{one_line(finding.witness, most=_WITNESS)}” {_worth(finding)}. {finding.fix}"
        title = f"title={_property(f'{finding.flaw}: {FLAWS[finding.flaw].title}')}"
        yield f"::{_LEVELS[finding.kind]} {at}{title}::{_data(text)}"
    if report.is_undecided:
        title = _property(f"{CONCLUSIONS[report.conclusion]}: {report.subject}")
        yield f"::error title={title}::{_data(report.why)}"


def summary(
    report: AuditReport, source: Source | None, *, following: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """The first screen as Markdown."""
    sign = {Conclusion.SOUND: "✅", Conclusion.EXPLOITABLE: "❌"}.get(report.conclusion, "❔")
    yield f"### {sign} {CONCLUSIONS[report.conclusion]}: {_code(report.subject)}\n"
    yield f"{_plain(report.why)}\n"
    facts = {"Refused": refused_text(report), "Assumed": "; ".join(report.assumed)}
    for name, text in {**facts, "Tried": amount_tried(report)}.items():
        if text:
            yield f"- {name}: {_plain(text)}"
    if report.findings:
        yield "\n| | witness | reward | where | fix |\n|---|---|---|---|---|"
    for finding in ranked(report.findings):
        place = place_of(finding, source)
        where = _code(f"{near(place.path)}:{place.line}") if place is not None else ""
        cells = (f"{finding.severity.value} {finding.flaw}",
                 _code(one_line(finding.witness, most=_WITNESS)), _worth(finding), where,
                 _plain(finding.fix))  # fmt: skip
        yield f"| {' | '.join(cells)} |"
    for command, purpose in following:
        yield f"\nNext: {_code(command)} {_plain(purpose)}"


def _worth(finding: Finding) -> str:
    reward = finding.expected_reward
    return brief_reward_text(reward) if reward is not None else score_of(finding)


def _code(text: str) -> str:
    return f"<code>{_plain(text)}</code>"


def _plain(text: str) -> str:
    """Text on one line without Markdown or HTML, both of which are read in `<code>` too."""
    shown = one_line(text, most=1000)
    return "".join(one if one.isalnum() or one in _HARMLESS else f"&#{ord(one)};" for one in shown)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
