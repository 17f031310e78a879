"""The progress of `unhack audit`: a bar; while tier 5 trains, its curve beside the bar on a
terminal, as lines elsewhere.

Covered: the last updates as bars of text; no line more often than every few seconds.
Not covered: the curve of the whole training; the page of `--html` draws it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from unhack.audit.report.discovery import CurvePoint
from unhack.cli.progress import CommandProgress
from unhack.cli.terminal import remarks, working
from unhack.reporting.text import one_line

if TYPE_CHECKING:
    from unhack.audit.options import AuditOptions
    from unhack.audit.report.report import AuditReport
    from unhack.audit.runner import Progress
    from unhack.audit.subject import Subject
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
            f"{TRAINED}: update {point.step + 1}, {point.calls} calls: mean reward "
            f"{point.reward:.3g}, passing {point.passing:.0%}, passing and wrong {point.wrong:.0%}"
            f"{self._exploit()}"
        )

    def _exploit(self) -> str:
        return f"; best {one_line(self.best, most=_EXPLOIT_CHARS)!r}" if self.best else ""


def _bar(share: float) -> str:
    return _BARS[min(len(_BARS) - 1, max(0, round(share * (len(_BARS) - 1))))]


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
