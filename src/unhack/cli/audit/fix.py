"""`unhack audit --fix`: makes the hardened copy and shows what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from unhack.audit.report.wording import CONCLUSIONS, amount_tried
from unhack.reporting.text import visible

if TYPE_CHECKING:
    from unhack.audit.hardening.rounds import Mended
    from unhack.audit.report.report import AuditReport
    from unhack.audit.subject import Subject
    from unhack.sandbox.job import Backend


def mend(
    target: str,
    subject: Subject,
    *,
    place: Path,
    report: AuditReport,
    audit_again: Callable[[Subject], AuditReport],
    backend: Backend,
) -> Mended:
    """The hardened copy at `place`; when this is interrupted, nothing stays there."""
    from unhack.audit.hardening.copy import HardenedCopy
    from unhack.audit.hardening.rounds import harden

    copy = HardenedCopy(subject, target, place, backend)
    try:
        return harden(copy, report, audit_again=audit_again)
    except BaseException:
        copy.discard()
        raise


def outcome_lines(mended: Mended, place: Path) -> Iterator[RenderableType]:
    """The changes, the refused ones with their reasons, and the last audit's conclusion."""
    yield Text("\nHardened copy", style="bold")
    if not mended.target:
        yield Text(f"None: {_why_none(mended)}; {place} was not written.")
    else:
        yield Text(f"{place}, changed:")
        for change in mended.kept:
            yield _indent(Text(visible(change)))
    if mended.refused:
        yield Text("Tried and taken back:")
        for one in mended.refused:
            yield _indent(Text(visible(one.what)))
            yield _indent(Text(visible(one.why), style="dim"), 4)
    for remark in mended.remarks:
        yield Text(f"Note: {visible(remark)}")
    again = mended.report
    if not mended.target or again is None:
        return
    yield Text("Every correct completion that the original rewards, the copy rewards too.")
    if mended.closed:
        yield Text(f"Closed: {', '.join(mended.closed)}", style="green")
    yield Text(f"Audited again: {CONCLUSIONS[again.conclusion]}: {visible(again.why)}")
    for finding in again.findings:
        yield Text(f"  still open: {finding.severity.value} {finding.flaw}", style="red")
    yield Text(amount_tried(again))


def _indent(text: Text, by: int = 2) -> Padding:
    return Padding(text, (0, 0, 0, by), expand=False)


def _why_none(mended: Mended) -> str:
    if not mended.left:
        return "nothing was proven that calls for a fix"
    if mended.refused:
        return "no fix leaves every correct completion its reward"
    return "no fix for this verifier is mechanical"
