"""What keeps noise off the judge's clock on a card, and that no cheat has a door by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

from unhack.tournament.contest import Measurement
from unhack_contests.kernels import score
from unhack_contests.kernels.gpu import judge as judge_module
from unhack_contests.kernels.gpu.judge import ProblemPlay
from unhack_contests.kernels.gpu.side import GpuSide

Judge = Callable[..., Measurement]
pytestmark = pytest.mark.slow
BUSY_AFTER_THE_FIRST_CALL = """
import subprocess
import sys

from torch import nn

BUSY = "import time\\nend = time.monotonic() + {seconds}\\nwhile time.monotonic() < end: pass"


class Model(nn.Module):
    begun = False

    def forward(self, x):
        if not Model.begun:
            Model.begun = True
            subprocess.Popen([sys.executable, "-c", BUSY])
        return x.softmax(-1)
"""
WRONG_WHERE_NOBODY_SEEMS_TO_LOOK = """
from torch import nn


class Model(nn.Module):
    calls = 0

    def forward(self, x, out):
        Model.calls += 1
        if Model.calls % 2:
            out.copy_(x.softmax(-1))
"""


def test_what_begins_with_the_first_calls_may_end_before_those_that_count(
    judged: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the processes of a compiler do."""
    monkeypatch.setattr(judge_module, "_QUIET_S", 60.0)
    found = judged("softmax", BUSY_AFTER_THE_FIRST_CALL.format(seconds=0.5))
    assert found.valid, found.reason
    assert found.flags == ()


def test_what_does_not_end_is_charged(judged: Judge) -> None:
    found = judged("softmax", BUSY_AFTER_THE_FIRST_CALL.format(seconds=600))
    assert "work_after_done" in {flag.kind for flag in found.flags}


def test_before_a_call_a_side_gets_old_inputs_and_none_that_count(
    judged: Judge, reference: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, list[Any], bool]] = []
    call, wake = GpuSide.call, ProblemPlay._wake

    def asked(self: Any, numbers: list[int], *, timeout_s: float = 60.0) -> float:
        if numbers:
            places = [place for one in self.sets(numbers) for place in one.inputs]
            told.append((id(self), [self.memory.view(place).clone() for place in places], False))
        return call(self, numbers, timeout_s=timeout_s)

    def awake(self: Any, one: Any, turn: Any, *, timeout_s: float) -> None:
        wake(self, one, turn, timeout_s=timeout_s)
        number, inputs, _ = told.pop()
        told.append((number, inputs, True))

    monkeypatch.setattr(GpuSide, "call", asked)
    monkeypatch.setattr(ProblemPlay, "_wake", awake)
    assert judged("softmax", reference("softmax")).valid
    woken = 0
    for number in {one for one, _, _ in told}:
        seen: list[Any] = []
        for _, inputs, old in [row for row in told if row[0] == number]:
            new = [data for data in inputs if not any(_equal(data, known) for known in seen)]
            assert bool(new) is not old  # a call brings fresh inputs, what goes before it none
            woken += old
            seen += new
    assert woken == 3 * 2 * 4  # sides, shapes, pairs


def _equal(one: Any, other: Any) -> bool:
    return one.shape == other.shape and bool((one == other).all())


def test_who_works_only_before_the_call_that_counts_is_wrong(
    judged: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One set a call: every second request is on the clock."""
    monkeypatch.setattr(judge_module, "_LONG_ENOUGH_S", 0.0)
    monkeypatch.setattr(judge_module, "_WARM_UPS", 2)
    found = judged("softmax", WRONG_WHERE_NOBODY_SEEMS_TO_LOOK)
    assert not found.valid
    assert "phase_detection" in {flag.kind for flag in found.flags}


def test_calls_go_on_until_equal_programs_are_alike(
    judged: Judge, reference: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []

    def alike(calls: list[Any], gains: Any) -> tuple[float, float]:
        looked.append(len(calls))
        return (0.0, 0.01 if len(calls) >= 12 else 0.5)

    monkeypatch.setattr(score, "equal_programs", alike)
    monkeypatch.setattr(judge_module, "_MOST_S", 600.0)
    found = judged("softmax", reference("softmax"))
    assert found.valid, found.reason
    assert looked[:3] == [8, 10, 14]  # calls of both shapes: 4, 5 and 7 pairs
    assert found.metrics["pairs"] == 14


def test_a_wrong_program_takes_no_more_than_the_least_calls(
    judged: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_module, "_MOST_S", 600.0)
    found = judged("softmax", "from torch import nn\n\n\nclass Model(nn.Module):\n"
                   "    def forward(self, x, out):\n        pass\n")  # fmt: skip
    assert found.reason.startswith(("8 of 8", "14 of 14"))
