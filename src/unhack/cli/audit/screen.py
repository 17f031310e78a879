"""The screen of `unhack audit`: first what one page of a terminal has room for, and no more.

    for part in screen(report, source=subject.source, following=next_steps(...)):
        console.print(part, crop=False)

Covered: the verdict, right answers that are refused, what was assumed, the worst findings
(witness, reward, line, fix), checks that do not hold, the amount that was tried, and the next
command; long texts lose their middle and say how much. `verbose`: all findings, checks, tiers.
Not covered: whole witnesses; the page of `--html` folds them, `--json` has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import shorten

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.report import AuditCheck, AuditReport, Conclusion
from unhack.audit.report.wording import (
    CONCLUSIONS,
    FALSE_ACCEPT_NOTE,
    amount_tried,
    brief_reward_text,
    by_kind,
    expected_reward_text,
    left_out,
    named_tier,
    near,
    place_of,
    power_text,
    reach_of,
    refused_text,
    score_of,
    tried_fix_text,
)
from unhack.audit.subject import Source
from unhack.core.finding import Finding, Severity
from unhack.reporting.text import one_line, visible

_SEVERITIES = {
    Severity.CRITICAL: "bold red",
    Severity.HIGH: "red",
    Severity.MEDIUM: "yellow",
    Severity.LOW: "cyan",
}
_TONES = {
    Conclusion.EXPLOITABLE: "bold red",
    Conclusion.SOUND: "bold green",
    Conclusion.INCOMPLETE: "bold yellow",
    Conclusion.UNPROVEN: "bold yellow",
}
_STYLES = {"fix": "green", "witness": "red"}
_MARKS = {True: "holds", False: "fails", None: "unknown"}
_MOST = 2
"""Hacks, false accepts and checks that the page has room for; the others are counted."""
_LONG, _SHORT, _FIX, _WHOLE = 110, 55, 190, 700
"""Characters of a witness, of a line of code, of a fix, and of any text with `verbose`."""


def screen(
    report: AuditReport,
    *,
    source: Source | None = None,
    following: Sequence[tuple[str, str]] = (),
    verbose: bool = False,
) -> Iterable[RenderableType]:
    """The page in pieces, from the verdict down. `following` are the next commands, each with its
    purpose."""
    tone = _TONES[report.conclusion]
    yield Text.assemble((CONCLUSIONS[report.conclusion], tone), f": {visible(report.subject)}")
    yield Text(visible(report.why))
    assumed = [one for one in report.assumed if one not in report.why]
    yield _facts({"refused": refused_text(report), "assumed": "; ".join(assumed)})
    hacks, false_accepts = by_kind(report.findings)
    most = len(report.findings) if verbose else _MOST
    for number, finding in enumerate(hacks[:most], start=1):
        yield from _finding(number, finding, report, source, verbose=verbose)
    yield from _more("hack", hacks[most:], source)
    if verbose and false_accepts:
        yield Text(f"\nFalse accepts: {FALSE_ACCEPT_NOTE}")
        for number, finding in enumerate(false_accepts, start=len(hacks) + 1):
            yield from _finding(number, finding, report, source, verbose=True)
    elif false_accepts:
        most = 0 if hacks else _MOST
        lines = [f"- {_in_a_line(one, source)}" for one in false_accepts[:most]]
        yield from (Text(visible(line)) for line in ([""] * bool(lines) + lines))
        yield from _more("false accept", false_accepts[most:], source)
    yield Text()
    yield _facts(_rows_of_checks(report.checks, verbose=verbose))
    yield _facts(_rows_of_tried(report, verbose=verbose))
    for command, purpose in following:
        # Not wrapped, so that it can be copied.
        said = Text.assemble(("next      ", "dim"), (visible(command), "bold"), overflow="ignore")
        said.no_wrap = True
        yield Group(said)
        yield Padding(Text(visible(purpose), style="dim"), (0, 0, 0, 10))


def _facts(rows: Mapping[str, str]) -> Table:
    """A line for each that is not empty."""
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True, min_width=9)
    table.add_column(overflow="fold")
    for name, text in rows.items():
        if text:
            table.add_row(name, Text(visible(text), style=_STYLES.get(name, "")))
    return table


def _finding(
    number: int, finding: Finding, report: AuditReport, source: Source | None, *, verbose: bool
) -> Iterable[RenderableType]:
    """The rewarded text, how much, where, and the fix; with `verbose` how it was found."""
    severity = (finding.severity.value, _SEVERITIES[finding.severity])
    title = (visible(FLAWS[finding.flaw].title), "bold")
    yield Text.assemble(f"\n{number} ", severity, f" {finding.flaw}: ", title)
    reward, most = finding.expected_reward, _WHOLE if verbose else _LONG
    rows = {
        "witness": one_line(finding.witness, most=most) or "(empty text)",
        "reward": brief_reward_text(reward) if reward is not None else f"it {score_of(finding)}",
        "where": _where(finding, source, code=True),
        "fix": finding.fix if verbose else shorten(finding.fix, _FIX, placeholder=" …"),
    }
    yield _facts(rows | (_more_of(finding, report) if verbose else {}))


def _more_of(finding: Finding, report: AuditReport) -> dict[str, str]:
    evidence, reward = finding.evidence, finding.expected_reward
    others = ", ".join(finding.also)
    rows = {
        "on": f"problem {finding.problem} it {score_of(finding)}",
        "measured": f"{expected_reward_text(reward)}; {reach_of(reward)}" if reward else "",
        "evidence": evidence.text,
        "input": evidence.input,
        "expected": evidence.expected,
        "obtained": evidence.obtained,
        "tried": tried_fix_text(finding),
        "found by": f"{finding.attack}, tier {named_tier(finding.tier)}",
        "also": f"by the same cause: {others}" if others else "",
        "tier 5": report.tier_5_adds(finding),
        "seen in": finding.catalogue,
    }
    return {name: one_line(text, most=_WHOLE) for name, text in rows.items()}


def _rows_of_checks(checks: Sequence[AuditCheck], *, verbose: bool) -> dict[str, str]:
    """The checks that do not hold with their figures; with `verbose` all."""
    if verbose:
        told = (f"{_MARKS[one.ok]}: {one.name}: {one.text}" for one in checks)
        return {f"check {number}": text for number, text in enumerate(told, start=1)}
    # That nothing passes stands in the verdict.
    failing = [one for one in checks if one.ok is False and not 0 < one.tried == one.refused]
    text = f"{len(failing)} of {len(checks)} do not hold: "
    text += "; ".join(f"{one.name} ({one.text})" for one in failing[:_MOST])
    more = f"; and {len(failing) - _MOST} more" if len(failing) > _MOST else ""
    return {"checks": shorten(text, 2 * _LONG, placeholder=" …") + more if failing else ""}


def _rows_of_tried(report: AuditReport, *, verbose: bool) -> dict[str, str]:
    rows = {"tier 5": report.discovery.text if report.discovery is not None else ""}
    if report.power is not None:
        missed = ", ".join(f"{one.operator} (line {one.line})" for one in report.power.unbroken)
        rows["power"] = power_text(report)
        if verbose:
            rows["measured"] = report.power.note
            rows["unbroken"] = missed
    rows["tried"] = amount_tried(report)
    untried = left_out(report)
    if not verbose:
        return {**rows, "not tried": ", ".join(named_tier(tier) for tier, _ in untried)}
    for tier in sorted({record.tier for record in report.tried}):
        records = [record for record in report.tried if record.tier == tier]
        counts = (sum(getattr(one, name) for one in records)
                  for name in ("completions", "rewarded", "proven"))  # fmt: skip
        words = "{} completions, {} rewarded, {} proven wrong".format(*counts)
        rows[f"tier {tier}"] = f"{named_tier(tier)[2:]}: {len(records)} attacks, {words}"
    reasons = "; ".join(f"{named_tier(tier)}: {why}" for tier, why in untried)
    return {**rows, "not tried": reasons}


def _where(finding: Finding, source: Source | None, *, code: bool) -> str:
    place = place_of(finding, source)
    if place is None:
        return ""
    text = f"{near(place.path)}:{place.line}"
    if finding.place is None:
        return f"{text} (the verifier; no single line was found)" if code else text
    return f"{text}  {one_line(place.code.strip(), most=_SHORT)}" if code else text


def _in_a_line(finding: Finding, source: Source | None) -> str:
    """A false accept in a line or two."""
    witness = one_line(finding.witness, most=_SHORT) or "(empty text)"
    where = _where(finding, source, code=False)
    at = f" at {where}" if where else ""
    return f"{finding.flaw}{at}: “{witness}”: {one_line(finding.evidence.text, most=_LONG)}"


def _more(noun: str, findings: Sequence[Finding], source: Source | None) -> Iterable[Text]:
    """The findings that have no room."""
    if findings:
        first = f"{findings[0].flaw} ({_where(findings[0], source, code=False)})"
        count = f"{len(findings)} more {noun}{'s' * (len(findings) != 1)}"
        text = f"and {count}: {first}{', …' * (len(findings) > 1)} (--verbose)"
        yield Text(visible(text), style="dim")
