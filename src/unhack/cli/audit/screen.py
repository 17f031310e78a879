"""The screen of `unhack audit`: the verdict, a panel for each finding, checks, and all that was
tried; while tier 5 trains, its curve beside the bar on a terminal, as lines elsewhere.

Covered: the last updates as bars of text; no line more often than every few seconds.
Not covered: the curve of the whole training; the page of `--html` draws it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from unhack.audit.report.discovery import CurvePoint
from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.report import Area, AuditCheck, AuditReport, Conclusion
from unhack.audit.report.wording import (
    CONCLUSIONS,
    FALSE_ACCEPT_NOTE,
    amount_tried,
    by_kind,
    expected_reward_text,
    left_out,
    named_tier,
    near,
    place_of,
    power_text,
    reach_of,
    score_of,
    tried_fix_text,
)
from unhack.cli.progress import CommandProgress
from unhack.cli.terminal import remarks, working
from unhack.cli.verdict_table import plain_table
from unhack.core.finding import Finding, FindingKind, Severity
from unhack.reporting.text import one_line, visible

if TYPE_CHECKING:
    from unhack.audit.options import AuditOptions
    from unhack.audit.runner import Progress
    from unhack.audit.subject import Source, Subject
    from unhack.sandbox.job import Backend

TRAINED = "tier 5"
"""The stage of the audit that trains."""
_BARS = " ▁▂▃▄▅▆▇█"
_SHOWN, _EXPLOIT_CHARS = 12, 40
_EVERY_S = 5.0
"""Seconds between two lines where no terminal is."""


@dataclass
class LiveCurve:
    """The reports of tier 5 so far."""

    clock: Callable[[], float] = time.monotonic
    points: list[CurvePoint] = field(default_factory=list[CurvePoint])
    best: str = ""
    _written_at: float | None = None

    def add(self, point: CurvePoint, best: str) -> None:
        """Take an update, and the best-rewarded completion although it is wrong. Where stderr
        is no terminal, write a line of it now and then."""
        if self.points and point.step <= self.points[-1].step:
            self.points.clear()  # another training
        self.points.append(point)
        self.best = best
        console = remarks()
        now = self.clock()
        due = self._written_at is None or now - self._written_at >= _EVERY_S
        if not console.is_terminal and due:
            self._written_at = now
            console.print(self.line, soft_wrap=True)

    @property
    def note(self) -> str:
        """Shares of the last updates as bars, the last of each as a number, and the exploit."""
        last = self.points[-_SHOWN:]
        passing = "".join(_bar(point.passing) for point in last)
        wrong = "".join(_bar(point.wrong) for point in last)
        shares = f"passing {passing} {last[-1].passing:.0%}"
        return f"{shares}, passing and wrong {wrong} {last[-1].wrong:.0%}{self._exploit()}"

    @property
    def line(self) -> str:
        """The last update in words."""
        point = self.points[-1]
        return (
            f"{TRAINED}: update {point.step + 1}, {point.calls} runs: mean reward "
            f"{point.reward:.3g}, passing {point.passing:.0%}, passing and wrong {point.wrong:.0%}"
            f"{self._exploit()}"
        )

    def _exploit(self) -> str:
        return f"; best {one_line(self.best, most=_EXPLOIT_CHARS)!r}" if self.best else ""


def _bar(share: float) -> str:
    return _BARS[min(len(_BARS) - 1, max(0, round(share * (len(_BARS) - 1))))]


_TONES = {
    Conclusion.EXPLOITABLE: "bold red",
    Conclusion.SOUND: "bold green",
    Conclusion.INCOMPLETE: "bold yellow",
    Conclusion.UNPROVEN: "bold yellow",
}
_SEVERITIES = {
    Severity.CRITICAL: "bold red",
    Severity.HIGH: "red",
    Severity.MEDIUM: "yellow",
    Severity.LOW: "cyan",
}
_MARKS = {
    True: Text("holds", "green"),
    False: Text("fails", "red"),
    None: Text("unknown", "yellow"),
}
_WITNESS_LINES, _WITNESS_CHARS, _CHARS, _CHECK_CHARS = 12, 700, 300, 100


def screen(report: AuditReport, *, source: Source | None = None) -> Iterable[RenderableType]:
    """The report in pieces, from the verdict down."""
    tone = _TONES[report.conclusion]
    yield Text.assemble((CONCLUSIONS[report.conclusion], tone), f": {visible(report.subject)}")
    yield Text(visible(report.why))
    if report.assumed:
        yield Text(visible(f"assumed: {'; '.join(report.assumed)}"))
    hacks, false_accepts = by_kind(report.findings)
    for number, finding in enumerate(hacks, start=1):
        yield Text()
        yield _panel(number, finding, report=report, source=source)
    if false_accepts:
        yield Text("\nFalse accepts", style="bold")
        yield Text(FALSE_ACCEPT_NOTE)
    for number, finding in enumerate(false_accepts, start=len(hacks) + 1):
        yield Text()
        yield _panel(number, finding, report=report, source=source)
    if report.discovery is not None:
        yield Text("\nTrained policy (tier 5)", style="bold")
        yield Text(visible(report.discovery.text))
    if report.power is not None:
        yield Text("\nDetection power", style="bold")
        yield from _power(report)
    if report.checks:
        yield Text("\nChecks", style="bold")
        yield _checks(report.checks)
    yield Text("\nTried", style="bold")
    yield _tried_table(report)
    yield Text(amount_tried(report))
    yield Text("\nSkipped or cut short", style="bold")
    yield _left_out(report)


def _power(report: AuditReport) -> Iterable[RenderableType]:
    """The figure, how it came about, and the copies that the audit did not break."""
    assert report.power is not None
    yield Text(power_text(report))
    yield Text(report.power.note, style="dim")
    if report.power.unbroken:
        table = plain_table({"not broken": "whole", "line": "number", "attack family": "whole"})
        for one in report.power.unbroken:
            table.add_row(one.operator, str(one.line), one.family)
        yield table


def _grid() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _panel(number: int, finding: Finding, *, report: AuditReport, source: Source | None) -> Panel:
    style, place = _SEVERITIES[finding.severity], place_of(finding, source)
    evidence = finding.evidence
    rows: dict[str, RenderableType] = {"": Text(visible(FLAWS[finding.flaw].title), style="bold")}
    if place is not None:
        where = Text(f"{near(place.path)}:{place.line}")
        code = Text(one_line(place.code, most=_CHARS), style="italic")
        rows["where" if finding.place is not None else "in"] = Group(where, code)
    rows["witness"] = Group(
        Text(_shorten(finding.witness) or "(empty text)", style="red"),
        Text(f"on problem {one_line(finding.problem, most=_CHARS)} it {score_of(finding)}"),
    )
    if finding.expected_reward is not None:
        rows["reward"] = Group(
            Text(expected_reward_text(finding.expected_reward)),
            Text(reach_of(finding.expected_reward)),
        )
    rows["evidence"] = Text(one_line(evidence.text, most=_CHARS))
    for name in ("input", "expected", "obtained"):
        said: str = getattr(evidence, name)
        if said:
            rows[name] = Text(one_line(said, most=_CHARS))
    rows["fix"] = Text(visible(finding.fix), style="green")
    if finding.tried_fix:
        rows["tried"] = Text(visible(tried_fix_text(finding)))
    found = f"{finding.attack}, tier {named_tier(finding.tier)}"
    rows["found by"] = Text(found + (f"; {_others(finding)}" if finding.also else ""))
    adds = report.tier_5_adds(finding)
    if adds:
        rows["tier 5 adds"] = Text(adds)
    if finding.catalogue:
        rows["seen in"] = Text(visible(finding.catalogue))
    table = _grid()
    for name, value in rows.items():
        table.add_row(name, value)
    kind = "" if finding.kind is FindingKind.HACK else " false accept"
    title = Text.assemble(f"{number} ", (finding.severity.value + kind, style), f" {finding.flaw}")
    return Panel(table, title=title, title_align="left", border_style=style)


def _others(finding: Finding) -> str:
    names = ", ".join(finding.also[:3])
    more = len(finding.also) - 3
    return f"same cause: {names}" + (f" and {more} more" if more > 0 else "")


def _shorten(text: str) -> str:
    lines = visible(text, most=_WITNESS_CHARS).rstrip("\n").split("\n")
    if len(lines) > _WITNESS_LINES:
        left_out = len(lines) - _WITNESS_LINES
        lines = [*lines[:_WITNESS_LINES], f"… {left_out} more lines; --json shows all"]
    return "\n".join(lines)


def _checks(checks: Iterable[AuditCheck]) -> Table:
    table = plain_table()
    table.add_column("area", no_wrap=True)
    table.add_column("check", overflow="fold", ratio=2)
    table.add_column("", no_wrap=True)
    table.add_column("measured", overflow="fold", ratio=3)
    areas = list(Area)
    for check in sorted(checks, key=lambda one: areas.index(one.area)):
        said = Text(visible(check.text))
        if check.witness and not check.ok:
            said.append(f"\n{one_line(check.witness, most=_CHECK_CHARS)}", style="dim")
        table.add_row(check.area.value, Text(visible(check.name)), _MARKS[check.ok], said)
    return table


def _tried_table(report: AuditReport) -> Table:
    """One row for each tier that ran."""
    counts = ("attacks", "completions", "rewarded", "proven wrong")
    table = plain_table({"tier": "whole", **dict.fromkeys(counts, "number")})
    for tier in sorted({*report.tiers, *(record.tier for record in report.tried)}):
        records = [record for record in report.tried if record.tier == tier]
        proven = sum(record.proven for record in records)
        table.add_row(
            named_tier(tier),
            str(len(records)),
            str(sum(record.payloads for record in records)),
            str(sum(record.passed for record in records)),
            Text(str(proven), style="red" if proven else ""),
        )
    return table


def _left_out(report: AuditReport) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for tier, why in left_out(report):
        table.add_row(named_tier(tier), Text(visible(why)))
    return table


@contextlib.contextmanager
def watching() -> Generator[Callable[[Progress], None]]:
    """A bar on stderr while the block runs, or lines; its value takes what the audit reports."""
    progress = CommandProgress("loading")
    curve = LiveCurve()
    with working(progress) as shown:

        def show(now: Progress) -> None:
            if now.point is not None:
                curve.add(now.point, now.best)
                progress.note = curve.note
                shown()
                return
            if now.stage != progress.what:
                progress.begin(now.stage)
            progress.done, progress.total = now.done, now.total
            if now.stage != TRAINED:
                progress.note = f"{now.findings} proven" if now.findings else ""
            shown()

        yield show


def audit_with_bar(subject: Subject, options: AuditOptions, backend: Backend) -> AuditReport:
    """One audit, with its progress on stderr."""
    from unhack.audit.runner import audit as run_audit

    with watching() as show:
        return run_audit(subject, options=options, backend=backend, on_progress=show)
