"""A report as one HTML page that needs nothing else: no script, no font, no picture.

Covered: every text of a completion or a verifier is escaped, its control and bidirectional
characters are shown as escapes, and the page forbids itself to load anything. Light and dark. The
chart of tier 5 draws shares of rollouts over updates, with the figures as text beside it.
Not covered: completions beyond 20 000 characters, whose middle is left out; zooming of the chart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from unhack.audit.report.discovery import CurvePoint
from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.report import Area, AuditCheck, AuditReport, Conclusion, Tried
from unhack.audit.report.wording import (
    CONCLUSIONS,
    FALSE_ACCEPT_NOTE,
    TIERS,
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
from unhack.core.finding import Finding, Place, Severity
from unhack.reporting.chart import Axis, Chart
from unhack.reporting.page import card, document, legend, scrolling, section, table, top
from unhack.reporting.text import safe

_CURVE_TONES = {"pass": "tone-cool", "pass and are wrong": "tone-bad"}


def discovery_chart(curve: Sequence[CurvePoint]) -> str:
    """The chart with its legend, as HTML; empty for an empty curve."""
    if not curve:
        return ""
    chart = Chart(
        Axis(0, max(1, curve[-1].step), "update"),
        Axis(0, 1, "share of rollouts", ticks=(0, 0.5, 1), percent=True),
        "shares of rollouts over updates",
        size=(860.0, 280.0),
    )
    passing, wrong = _CURVE_TONES.values()
    chart.line([(point.step, point.passing) for point in curve], kind=passing)
    chart.line([(point.step, point.wrong) for point in curve], kind=wrong)
    return legend(_CURVE_TONES, lines=True) + scrolling(chart.svg())


_AROUND = 4
"""Lines of the verifier shown on each side of the marked one."""
_SHOWN, _LINES = 240, 8
"""Characters and lines of a completion that are not folded."""
_HEAD = 15
"""Lines shown after the verifier's first one, where no line is marked."""
_VERDICT_TONES = {
    Conclusion.EXPLOITABLE: "bad",
    Conclusion.SOUND: "good",
    Conclusion.INCOMPLETE: "unsure",
    Conclusion.UNPROVEN: "unsure",
}
_TONES = {
    Severity.CRITICAL: "bad",
    Severity.HIGH: "warm",
    Severity.MEDIUM: "unsure",
    Severity.LOW: "cool",
}


def page(
    report: AuditReport,
    *,
    source: Source | None = None,
    made: datetime | None = None,
    command: str = "",
) -> str:
    """The whole page. `source` adds the verifier's lines around each finding's place and the hash
    of its text; `made` and `command` say when and how the report was made."""
    parts = (*contents(report, source=source), _footer(source, made=made, command=command))
    return document(title_of(report), parts)


def title_of(report: AuditReport) -> str:
    """The conclusion and the subject."""
    return f"{report.conclusion}: audit of {report.subject}"


def contents(report: AuditReport, *, source: Source | None = None) -> tuple[str, ...]:
    """The parts of the page, without its footer."""
    return (
        _verdict(report),
        _findings(report, source),
        _discovery(report),
        _power(report),
        _checks(report.checks),
        _tried(report),
    )


def _pre(text: str) -> str:
    """A text, of which what no reader needs at once is folded."""
    if len(text) <= _SHOWN and text.count("\n") <= _LINES:
        return f"<pre>{safe(text)}</pre>"
    short = "\n".join(text[:_SHOWN].split("\n")[:_LINES])
    return (
        f"<pre>{safe(short)} …</pre><details><summary>{len(text) - len(short):,} more characters"
        f"</summary><pre>{safe(text)}</pre></details>"
    )


def _verdict(report: AuditReport) -> str:
    tried = sum(record.completions for record in report.tried)
    hacks, false_accepts = by_kind(report.findings)
    counts = (
        (len(hacks), "hack", "hacks"),
        (len(false_accepts), "false accept", "false accepts"),
        (len(report.tried), "attack", "attacks"),
        (report.problems, "problem", "problems"),
        (tried, "completion tried", "completions tried"),
        (report.calls, "call of the verifier", "calls of the verifier"),
    )
    told = [(noun if number == 1 else several, str(number)) for number, noun, several in counts]
    right, refused = report.right_answers(), refused_text(report)
    if right is not None and refused:
        told.insert(2, ("right answers refused", f"{right.refused} of {right.tried}"))
    figures = dict(told)
    figures["seconds"] = f"{report.seconds:.1f}"
    if report.mutation_score is not None:
        figures["wrong mutants rejected"] = f"{report.mutation_score:.0%}"
    return top(
        f"Audit of <code>{safe(report.subject)}</code>",
        why=" ".join(_sentence(one) for one in (report.why, *_told(report, refused))),
        figures=figures,
        word=CONCLUSIONS[report.conclusion].capitalize(),
        tone=_VERDICT_TONES[report.conclusion],
    )


def _told(report: AuditReport, refused: str) -> Iterable[str]:
    """The facts beside the verdict: right answers that are refused, and what was assumed."""
    if refused and " such as " in refused:
        yield f"Refused: {refused}"
    if report.assumed:
        yield f"Assumed: {'; '.join(report.assumed)}"


def _sentence(text: str) -> str:
    """With a capital, and a full stop where the text has no end of its own."""
    text = text.strip()
    return safe(text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else "."))


def _prose(text: str) -> str:
    """A sentence of the audit's own, in which backticks mark code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _sentence(text))


def _findings(report: AuditReport, source: Source | None) -> str:
    hacks, false_accepts = by_kind(report.findings)
    cards = [_finding(number, one, report, source) for number, one in enumerate(hacks, start=1)]
    text = section("Hacks", "\n".join(cards)) if cards else ""
    if false_accepts:
        first = len(hacks) + 1
        rest = enumerate(false_accepts, first)
        cards = [_finding(number, one, report, source) for number, one in rest]
        told = _sentence(FALSE_ACCEPT_NOTE).replace("--strict", "<code>--strict</code>")
        said = f'<p class="soft told">{told}</p>'
        text += section("False accepts", said + "\n".join(cards))
    return text


def _finding(number: int, finding: Finding, report: AuditReport, source: Source | None) -> str:
    flaw, place = FLAWS[finding.flaw], place_of(finding, source)
    tier = f"tier {finding.tier} {TIERS[finding.tier]}"
    parts = [
        f'<article class="card finding tone-{_TONES[finding.severity]}" id="finding-{number}">',
        f"<header><h3>{number}. {safe(flaw.title)}</h3>"
        f'<span class="badge">{finding.severity.value}</span></header>',
        f'<p class="soft small"><code>{safe(finding.flaw)}</code> · problem '
        f"<code>{safe(finding.problem)}</code> · found by <code>{safe(finding.attack)}</code>, "
        f"{tier}</p>",
        _expected_reward(finding),
        _adds(report.tier_5_adds(finding)),
        f'<p class="block">{_prose(flaw.wrong)}</p>'
        f'<div class="sides">{_witness(finding)}{_evidence(finding)}</div>',
        _excerpt(place, source, known=finding.place is not None) if place else "",
        f'<div class="block"><p class="label">Fix</p><p class="fix">{_prose(finding.fix)}</p>'
        f"{_tried_fix(finding)}</div>",
        _more(finding),
        "</article>",
    ]
    return "".join(parts)


def _tried_fix(finding: Finding) -> str:
    return f'<p class="soft small">{safe(tried_fix_text(finding))}</p>' if finding.tried_fix else ""


def _adds(said: str) -> str:
    label = '<span class="label">Tier 5 adds</span>'
    return f'<p class="block">{label} {_sentence(said)}</p>' if said else ""


def _expected_reward(finding: Finding) -> str:
    if finding.expected_reward is None:
        return ""
    texts = (expected_reward_text(finding.expected_reward), reach_of(finding.expected_reward))
    said = " ".join(map(_sentence, texts))
    return f'<p class="block"><span class="label">Expected reward</span> {said}</p>'


def _discovery(report: AuditReport) -> str:
    found = report.discovery
    if found is None:
        return ""
    parts = [f"<p>{_sentence(found.text)}</p>", discovery_chart(found.curve)]
    if found.witness:
        label = f"The most common wrong completion that passed, on problem {safe(found.problem)}"
        parts.append(f'<p class="label">{label}</p>{_pre(found.witness)}')
    return section("Trained policy (tier 5)", card("".join(parts)))


def _power(report: AuditReport) -> str:
    found = report.power
    if found is None:
        return ""
    rows = [(one.operator, str(one.line), one.family) for one in found.unbroken]
    text = f"<p>{_sentence(power_text(report))}</p>"
    if rows:
        text += table(("not broken", "line", "attack family"), rows, words=(0, 2))
    return section("Detection power", card(text, note=_sentence(found.note)))


def _witness(finding: Finding) -> str:
    shown = _pre(finding.witness) if finding.witness else '<p class="soft">(empty text)</p>'
    return (
        f'<div><p class="label">The wrong completion</p>{shown}'
        f'<p class="soft small">It {safe(score_of(finding))}.</p></div>'
    )


def _evidence(finding: Finding) -> str:
    evidence = finding.evidence
    facts = {"input": evidence.input, "expected": evidence.expected, "obtained": evidence.obtained}
    rows = "".join(
        f"<dt>{name}</dt><dd><code>{safe(value)}</code></dd>"
        for name, value in facts.items()
        if value
    )
    return (
        f'<div><p class="label">Why it is wrong</p><p>{_sentence(evidence.text)}</p>'
        f'<dl class="facts">{rows}</dl></div>'
    )


def _excerpt(place: Place, source: Source | None, *, known: bool) -> str:
    where = f"{near(place.path)}:{place.line}"
    label = "The line that lets it through" if known else "The verifier"
    head = f'<div class="block"><p class="label">{label}</p>'
    foot = f'<p class="soft small"><code>{safe(where)}</code></p></div>'
    if source is None or source.path != place.path:
        return head + (_pre(place.code) if place.code else "") + foot
    lines = source.text.rstrip("\n").split("\n")
    at = place.line - source.first_line
    first, last = (max(at - _AROUND, 0), at + _AROUND) if known else (at, at + _HEAD)
    rows = "".join(
        f"<span{' class=marked' if index == at and known else ''}>"
        f"<i>{source.first_line + index}</i>{safe(lines[index].expandtabs(4)) or ' '}</span>"
        for index in range(first, min(last + 1, len(lines)))
    )
    return f'{head}<pre class="source">{rows}</pre>{foot}'


def _more(finding: Finding) -> str:
    lines: list[str] = []
    if finding.catalogue:
        lines.append(f"Seen in: {safe(finding.catalogue)}")
    if finding.also:
        names = "".join(f"<li><code>{safe(name)}</code></li>" for name in finding.also)
        count = len(finding.also)
        told = f"{count} other attack passes" if count == 1 else f"{count} other attacks pass"
        lines.append(
            f"<details><summary>{told} for the same cause</summary>"
            f'<ul class="plain">{names}</ul></details>'
        )
    return "".join(f'<div class="block soft small">{line}</div>' for line in lines)


_MARKS = {True: ("good", "✓ holds"), False: ("bad", "✗ fails"), None: ("unsure", "? unknown")}


def _checks(checks: Sequence[AuditCheck]) -> str:
    if not checks:
        return ""
    areas = list(Area)
    ordered = sorted(checks, key=lambda check: areas.index(check.area))
    rows = "".join(_check(check) for check in ordered)
    return section("Checks", card(f'<ul class="checks">{rows}</ul>'))


def _check(check: AuditCheck) -> str:
    tone, word = _MARKS[check.ok]
    witness = _pre(check.witness) if check.witness else ""
    name = f'<span class="soft small">{check.area.value}, {safe(check.name)}</span>'
    return (
        f'<li class="tone-{tone}"><span class="mark">{word}</span>'
        f"<div>{_sentence(check.text)} {name}{witness}</div></li>"
    )


def _tried(report: AuditReport) -> str:
    """A row for each tier, every attack under it on demand, and tiers that were not tried."""
    by_tier = {
        tier: [record for record in report.tried if record.tier == tier] for tier in report.tiers
    }
    tiers = [
        _row(f"{tier} {TIERS[tier]}", len(records), records) for tier, records in by_tier.items()
    ]
    attacks = [
        _row(f"<code>{safe(one.attack)}</code>", one.tier, [one], hit=one.proven > 0)
        for one in sorted(report.tried, key=lambda record: (record.tier, record.attack))
    ]
    listed = (
        f"<details><summary>Every attack</summary>{_amounts('attack', 'tier', attacks)}</details>"
        if attacks
        else ""
    )
    out = [(named_tier(tier), safe(why)) for tier, why in left_out(report)]
    return section("What was tried", card(_amounts("tier", "attacks", tiers) + listed)) + section(
        "What was not tried, or not to its end", card(table((), out, words=(0, 1)))
    )


def _row(name: str, number: int, records: Sequence[Tried], *, hit: bool = False) -> list[str]:
    counts = (
        number,
        sum(record.completions for record in records),
        sum(record.rewarded for record in records),
        sum(record.proven for record in records),
    )
    cells = [name, *map(str, counts)]
    return [f'<strong class="bad">{cell}</strong>' for cell in cells] if hit else cells


def _amounts(name: str, number: str, rows: Iterable[Sequence[str]]) -> str:
    return table((name, number, "completions", "rewarded", "proven wrong"), rows)


def _footer(source: Source | None, *, made: datetime | None, command: str) -> str:
    facts = {"unhack": safe(version("unhack"))}
    if made is not None:
        facts["date"] = f"{made.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    if command:
        facts["command"] = f"<code>{safe(command)}</code>"
    if source is not None:
        digest = hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest()
        facts["verifier"] = f"<code>{safe(near(source.path))}</code>"
        facts["its sha256"] = f"<code>{digest}</code>"
    rows = "".join(f"<dt>{name}</dt><dd>{html}</dd>" for name, html in facts.items())
    return (
        '<footer class="soft small"><p>Every finding is a completion that was run: the verifier '
        "rewards it, and something that does not share the verifier's flaw says that it is wrong."
        f'</p><dl class="facts">{rows}</dl></footer>'
    )
