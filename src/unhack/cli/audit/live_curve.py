"""The curve of tier 5 while it trains: beside the bar on a terminal, as lines elsewhere.

Covered: the last updates as bars of text; no line more often than every few seconds.
Not covered: the curve of the whole training; the page of `--html` draws it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from unhack.audit.report.discovery import CurvePoint
from unhack.cli.terminal import remarks
from unhack.reporting.text import one_line

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
        """Take an update, and the completion that paid most although it is wrong. Where stderr is
        no terminal, write a line of it now and then."""
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
        paid = "".join(_bar(point.passing) for point in last)
        wrong = "".join(_bar(point.wrong) for point in last)
        text = f"paid {paid} {last[-1].passing:.0%}, paid and wrong {wrong} {last[-1].wrong:.0%}"
        return text + self._exploit()

    @property
    def line(self) -> str:
        """The last update in words."""
        point = self.points[-1]
        return (
            f"{TRAINED}: update {point.step + 1}, {point.calls} runs: mean reward "
            f"{point.reward:.3g}, paid {point.passing:.0%}, paid and wrong {point.wrong:.0%}"
            f"{self._exploit()}"
        )

    def _exploit(self) -> str:
        return f"; best {one_line(self.best, most=_EXPLOIT_CHARS)!r}" if self.best else ""


def _bar(share: float) -> str:
    return _BARS[min(len(_BARS) - 1, max(0, round(share * (len(_BARS) - 1))))]
