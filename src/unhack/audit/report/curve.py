"""The chart of tier 5: shares of rollouts over updates.

Covered: any number of updates; the figures stand beside it as text, so the picture is decoration
for those who cannot see it. Not covered: zooming.
"""

from __future__ import annotations

from collections.abc import Sequence

from unhack.audit.report.discovery import CurvePoint
from unhack.reporting.chart import Axis, Chart
from unhack.reporting.page import legend, scrolling

_TONES = {"pass": "tone-cool", "pass and are wrong": "tone-bad"}


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
    passing, wrong = _TONES.values()
    chart.line([(point.step, point.passing) for point in curve], kind=passing)
    chart.line([(point.step, point.wrong) for point in curve], kind=wrong)
    return legend(_TONES, lines=True) + scrolling(chart.svg())
