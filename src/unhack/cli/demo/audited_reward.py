"""The demo's audit: one short reward function is broken, the exploit proven, the reward fixed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from rich.syntax import Syntax
from rich.text import Text

from unhack.core.finding import FindingKind

if TYPE_CHECKING:
    from rich.console import RenderableType

    from unhack.audit.hardening.rounds import HardeningResult
    from unhack.audit.report.report import AuditReport
    from unhack.audit.subject import Subject
    from unhack.sandbox.job import Backend

REWARD, ROWS = "reward.py", "rows.jsonl"
FIXED, PAGE = "reward_fixed.py", "audit.html"
_SHOWN = 120
"""Most characters of a witness on the screen."""


@dataclass(frozen=True, slots=True)
class AuditedReward:
    """The audit of the reward as it was written, and its fixed copy."""

    report: AuditReport
    hardened: HardeningResult

    @property
    def as_claimed(self) -> bool:
        """True when the reward is proven exploitable and its fixed copy is not."""
        again = self.hardened.report
        return _has_hack(self.report) and again is not None and not _has_hack(again)


def _has_hack(report: AuditReport) -> bool:
    return any(one.kind is FindingKind.HACK for one in report.findings)


def write_reward(folder: Path) -> None:
    """Write the reward and its rows into `folder`."""
    here = files("unhack.cli.demo")
    for name, source in {REWARD: "reward.txt", ROWS: "reward_rows.jsonl"}.items():
        (folder / name).write_text(here.joinpath(source).read_text("utf-8"), encoding="utf-8")


def audit_and_fix(folder: Path, backend: Backend) -> AuditedReward:
    """Audit the reward in `folder` with tiers 1 and 2, fix a copy, audit that; write the page."""
    from unhack.audit.hardening.rounds import CopyAudits
    from unhack.audit.options import AuditOptions
    from unhack.audit.report.page import page
    from unhack.audit.runner import audit
    from unhack.audit.subjects.loading import load_subject
    from unhack.cli.audit.fix import write_fix

    options = AuditOptions(tiers=(1, 2))

    def run(subject: Subject) -> AuditReport:
        return audit(subject, options=options, backend=backend)

    target = f"{folder / REWARD}:compute_score"
    subject = load_subject(target, problems=folder / ROWS, backend=backend)
    report = run(subject)
    hardened = write_fix(
        target,
        subject,
        place=folder / FIXED,
        report=report,
        audits=CopyAudits(run),
        backend=backend,
    )
    command = shlex.join(["unhack", "demo", "--out", str(folder)])
    text = page(report, source=subject.source, made=datetime.now(UTC), command=command)
    (folder / PAGE).write_text(text, encoding="utf-8")
    return AuditedReward(report, hardened)


def lines(found: AuditedReward, folder: Path) -> Iterator[RenderableType]:
    """The reward, its first proven exploit, and the fixed copy."""
    from unhack.audit.report.wording import ranked
    from unhack.reporting.text import visible

    source = (folder / REWARD).read_text(encoding="utf-8")
    yield Syntax(source.rstrip(), "python", theme="ansi_dark", background_color="default")
    report, again = found.report, found.hardened.report
    if not report.findings:
        yield Text(f"No hack was found in {report.calls} runs.", style="bold red")
        return
    finding = ranked(report.findings)[0]
    proof = finding.evidence
    yield Text(f"\nExploit proven, after {report.calls} runs of the reward:", style="bold")
    yield Text(
        f"  a completion that says only {_short(visible(finding.witness))!r} earns full reward,"
    )
    yield Text(f"  and it is wrong: {visible(proof.text)}.")
    if again is None:
        yield Text("No fix was found that keeps the reward of every correct completion.")
        return
    yield Text("\nFixed, with every correct completion still rewarded:", style="bold")
    for change in found.hardened.kept:
        yield Text(f"  {visible(change)}")
    if _has_hack(again):
        yield Text("  a hack is left", style="bold red")
    else:
        yield Text(f"  audited again, {again.calls} runs: no hack found", style="green")


def _short(witness: str) -> str:
    """The witness, its middle left out where it is long; the page has all of it."""
    if len(witness) <= _SHOWN:
        return witness
    half = _SHOWN // 2
    return f"{witness[:half]} … {witness[-half:]}"
