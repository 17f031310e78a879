"""The curve of tier 5 while it trains."""

from __future__ import annotations

import pytest

from unhack.audit.report.discovery import CurvePoint
from unhack.cli.audit.watching import LiveCurve


def point(step: int, *, wrong: float) -> CurvePoint:
    return CurvePoint(step, reward=wrong, passing=wrong, wrong=wrong, entropy=1.0, calls=64 * step)


def test_lines_off_a_terminal_come_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 1.0, 2.0, 6.0])
    curve = LiveCurve(clock=lambda: next(times))
    for step in range(4):
        curve.add(point(step, wrong=step / 4), "a\nb" if step else "")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "tier 5: update 1, 0 calls: mean reward 0, passing 0%, passing and wrong 0%",
        "tier 5: update 4, 192 calls: mean reward 0.75, passing 75%, passing and wrong 75%; "
        "best 'a⏎b'",
    ]


def test_the_note_of_the_bar_draws_the_last_updates() -> None:
    curve = LiveCurve()
    for step in range(20):
        curve.add(point(step, wrong=step / 19), "x")
    assert curve.note.startswith("passing ▃")
    assert "█ 100%, passing and wrong" in curve.note
    assert curve.note.endswith("100%; best 'x'")


def test_another_training_begins_a_curve_of_its_own() -> None:
    curve = LiveCurve()
    curve.add(point(3, wrong=1.0), "")
    curve.add(point(0, wrong=0.0), "")
    assert len(curve.points) == 1
