"""`unhack audit --fix`: makes the fixed copy, or its diff, and shows what became of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from unhack.audit.report.wording import CONCLUSIONS, amount_tried
from unhack.core.errors import UsageError
from unhack.reporting.text import visible

if TYPE_CHECKING:
    from unhack.audit.hardening.rounds import CopyAudits, HardeningResult
    from unhack.audit.report.report import AuditReport
    from unhack.audit.subject import Subject
    from unhack.sandbox.job import Backend


def check_at_top(subject: Subject) -> None:
    """Raise UsageError for a function within another one: the source that runs is not its file."""
    if getattr(subject, "text", ""):
        raise UsageError(
            f"--fix: {subject.name} is defined within another function; move it to the top of its "
            "module, so that a copy can be made"
        )


def write_fix(
    target: str,
    subject: Subject,
    *,
    place: Path | None,
    report: AuditReport,
    audits: CopyAudits,
    backend: Backend,
) -> HardeningResult:
    """The fixed copy at `place`; without a place only its diff. When this is interrupted, nothing
    stays there."""
    from unhack.audit.hardening.copy import HardenedCopy, copy_siblings
    from unhack.audit.hardening.rounds import harden

    with tempfile.TemporaryDirectory(prefix="unhack-fix-") as folder:
        only_diff = place is None
        if place is None:
            place = Path(folder) / ("fixed" if Path(target).is_dir() else "fixed.py")
            copy_siblings(subject, Path(folder))
        copy = HardenedCopy(subject, target, place, backend)
        try:
            hardened = harden(
                copy,
                report,
                audit_again=audits.again,
                power_of=audits.power,
                allowance=audits.allowance,
            )
        except BaseException:
            copy.discard()
            raise
        # The folder goes; the diff is against the verifier that was named.
        return replace(hardened, target=target) if only_diff and hardened.target else hardened


def outcome_lines(hardened: HardeningResult, place: Path | None) -> Iterator[RenderableType]:
    """The changes, the refused ones with their reasons, and the last audit's conclusion.

    Without a place the changes are printed as a diff.
    """
    yield Text("\nFixed copy", style="bold")
    if not hardened.target:
        nothing = f"{place} was not written" if place is not None else "there is no diff"
        yield Text(f"None: {_why_none(hardened)}; {nothing}.")
    else:
        yield Text(f"{place}, changed:" if place else "Changed in the diff:")
        for change in hardened.kept:
            yield _indent(Text(visible(change)))
        yield Text("It enforces:")
        for rule in hardened.rules:
            yield _indent(Text(f"line {rule.line}: {visible(rule.text)}"))
    if hardened.refused:
        yield Text("Tried and reverted:")
        for one in hardened.refused:
            yield _indent(Text(visible(one.what)))
            yield _indent(Text(visible(one.why), style="dim"), 4)
    for remark in hardened.remarks:
        yield Text(f"Note: {visible(remark)}")
    again = hardened.report
    if not hardened.target or again is None:
        return
    yield Text("Every right answer keeps its score, in the given form and in others.")
    if hardened.power_note:
        yield Text(f"Power: {visible(hardened.power_note)}")
    if hardened.closed:
        yield Text(f"Closed: {', '.join(hardened.closed)}", style="green")
    yield Text(f"Audited again: {CONCLUSIONS[again.conclusion]}: {visible(again.why)}")
    for finding in again.findings:
        yield Text(f"  still open: {finding.severity.value} {finding.flaw}", style="red")
    yield Text(amount_tried(again))


def _indent(text: Text, by: int = 2) -> Padding:
    return Padding(text, (0, 0, 0, by), expand=False)


def _why_none(hardened: HardeningResult) -> str:
    if not hardened.left:
        return "no finding calls for a fix"
    if hardened.refused:
        return "no fix both closes every hack and keeps every right answer"
    return "no fix of a single line closes the hole"
