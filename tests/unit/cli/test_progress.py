from __future__ import annotations

import time

import pytest

from unhack.cli import terminal
from unhack.cli.progress import EVERY_S, CommandProgress, duration, progress_lines


class Clock:
    """Seconds that pass when told to; as `wait`, a sleep that ends after so many rounds."""

    def __init__(self, rounds: int = 0) -> None:
        self.now = 100.0
        self.rounds = rounds

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        """Let time pass; True when the block has ended."""
        self.rounds -= 1
        self.now += seconds
        return self.rounds < 0


def test_a_line_says_what_is_done_and_what_is_left() -> None:
    clock = Clock()
    progress = CommandProgress("scoring", 400, clock=clock)
    clock.now += 60
    for _ in range(100):
        progress.advance()
    assert progress.line() == (
        "scoring: 100 of 400 done, 300 left; 60 s so far; about 3 min to go at this rate"
    )


@pytest.mark.parametrize(("done", "passed_s"), [(2, 600.0), (100, 5.0), (0, 600.0)])
def test_there_is_no_estimate_from_too_little(done: int, passed_s: float) -> None:
    clock = Clock()
    progress = CommandProgress("scoring", 400, clock=clock)
    clock.now += passed_s
    for _ in range(done):
        progress.advance()
    assert "rate" not in progress.line()


def test_an_estimate_counts_what_was_done_here_not_before() -> None:
    clock = Clock()
    progress = CommandProgress("training", 100, 90, clock=clock)
    clock.now += 50
    progress.done = 95
    assert "about 50 s to go" in progress.line()


def test_without_a_total_only_the_time_is_said() -> None:
    clock = Clock()
    progress = CommandProgress("making the base model", clock=clock)
    clock.now += 7200
    assert progress.line() == "making the base model: 2 h 0 min so far"


def test_another_stage_begins_anew() -> None:
    clock = Clock()
    progress = CommandProgress("loading", clock=clock)
    clock.now += 500
    progress.begin("tier 1", total=10)
    clock.now += 20
    assert progress.line() == "tier 1: 0 of 10 done, 10 left; 20 s so far"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (6_100, "1 h 42 min")]
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_block_that_hangs_still_writes_a_line_every_half_minute(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock(rounds=5)
    progress = CommandProgress("scoring", 10, clock=clock)
    with progress_lines(progress.line, wait=clock.wait):
        while clock.rounds >= 0:
            time.sleep(0.001)
    out, err = capsys.readouterr()
    assert out == ""
    assert EVERY_S <= 30
    assert err.startswith("scoring: 0 of 10 done, 10 left; 20 s so far\nscoring: 0 of 10 done")
    assert len(err.splitlines()) == 5


def test_a_short_block_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal.working(CommandProgress("scoring", 10)) as show:
        show()
    assert capsys.readouterr() == ("", "")
