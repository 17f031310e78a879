"""A hardened copy of a verifier: where it goes, and what a second audit says of it.

Covered: one file, or a whole directory whose verifier is hardened. The original is never written.
Not covered: siblings that a single file imports; put the copy beside them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from unhack.audit.report import AuditReport
from unhack.audit.wording import CONCLUSIONS, amount_tried, visible
from unhack.core.errors import UsageError

if TYPE_CHECKING:
    from unhack.audit.subject import Source, Subject


@dataclass(frozen=True, slots=True)
class Copy:
    """A hardened copy."""

    path: Path
    target: str
    """How an audit names it."""
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mended:
    """A hardened copy and the audit of it."""

    copy: Copy
    report: AuditReport | None
    """None where the copy could not be audited."""
    trouble: str = ""

    def to_json(self) -> dict[str, Any]:
        """The copy and its audit as plain JSON values."""
        return {
            "path": str(self.copy.path),
            "changes": list(self.copy.changes),
            "report": self.report and self.report.to_json(),
            "trouble": self.trouble,
        }


def check_place(target: str, subject: Subject, *, place: Path) -> None:
    """Raises UsageError where no copy can be written: before the audit, not after it."""
    source = subject.source
    if source is None:
        raise UsageError(f"--fix: {subject.name} has no source of its own to harden")
    if not Path(source.path).is_file():
        raise UsageError(f"--fix: {source.path} cannot be read")
    if place.resolve() == Path(source.path).resolve():
        raise UsageError(f"--fix: {place} is the verifier itself; the original stays as it is")
    if place.exists() and Path(target).is_dir():
        raise UsageError(f"--fix: {place} is there already; name a directory to be made")


def write_copy(target: str, subject: Subject, *, place: Path) -> Copy | None:
    """Write the hardened copy; None, and no file, where no fix is mechanical."""
    from unhack.audit.harden import harden

    source = subject.source
    hardened = None if source is None else harden(source)
    if source is None or hardened is None:
        return None
    text = _whole_file(source, hardened.text)
    origin = Path(target)
    if origin.is_dir():
        shutil.copytree(origin, place)
        inside = Path(source.path).resolve().relative_to(origin.resolve())
        (place / inside).write_text(text, encoding="utf-8")
        return Copy(place, _as_path(place), tuple(hardened.changes))
    place.write_text(text, encoding="utf-8")
    name = target.rpartition(":")[2] if ":" in target else source.entry
    return Copy(place, f"{_as_path(place)}:{name}", tuple(hardened.changes))


def _whole_file(source: Source, hardened: str) -> str:
    """The file with the hardened text where the verifier's own stood."""
    whole = Path(source.path).read_text(encoding="utf-8")
    return hardened if source.text not in whole else whole.replace(source.text, hardened, 1)


def _as_path(path: Path) -> str:
    """The path so that no built-in name is meant."""
    return str(path) if path.is_absolute() else f"./{path}"


def mended_lines(mended: Mended | None, place: Path) -> Iterator[Text]:
    """What was changed, and what the second audit says."""
    yield Text("\nHardened copy", style="bold")
    if mended is None:
        yield Text(f"None: no fix for this verifier is mechanical; {place} was not written.")
        return
    yield Text(f"{mended.copy.path}, changed:")
    for change in mended.copy.changes:
        yield Text(f"  {visible(change)}")
    again = mended.report
    if again is None:
        yield Text(visible(mended.trouble))
        return
    yield Text(f"Audited again: {CONCLUSIONS[again.conclusion]}: {visible(again.why)}")
    for finding in again.findings:
        yield Text(f"  {finding.severity.value} {finding.flaw}", style="red")
    yield Text(amount_tried(again))
