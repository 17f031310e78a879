"""Cheats and honest kernels of strangers, who had read the statement alone, before the judge."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

from unhack.tournament.contest import Measurement
from unhack_contests.kernels.gpu import corpus, shared_memory
from unhack_contests.kernels.gpu import judge as judge_module

Judge = Callable[..., Measurement]
pytestmark = pytest.mark.slow
ON_THE_CLOCK = {"held_request", "kept_products"}
"""What these do is right, and all of it is done while the clock runs."""
SPINNING = """
import threading

from torch import nn


def spin():
    while True:
        pass


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        threading.Thread(target=spin, daemon=True).start()

    def forward(self, x):
        return x.softmax(-1)
"""
STRANGERS = {
    kind: [entry for entry in corpus.entries(kind).values() if entry.group == "strangers"]
    for kind in ("cheats", "honest")
}


RARE = {"now_and_then": 5}
"""Cheats that draw when they cheat, which one measurement may not meet: how many are tried."""


def judge_entry(judged: Judge, entry: corpus.CorpusEntry) -> Measurement:
    [(_, text)] = entry.files.items()
    return judged(entry.problem, text.decode())


def test_there_are_as_many_as_were_asked_for() -> None:
    assert len(STRANGERS["cheats"]) >= 10
    assert len(STRANGERS["honest"]) >= 8


@pytest.mark.parametrize(
    "entry", [e for e in STRANGERS["cheats"] if e.name not in ON_THE_CLOCK], ids=lambda e: e.name
)
def test_a_cheat_is_seen(judged: Judge, entry: corpus.CorpusEntry) -> None:
    tries = (judge_entry(judged, entry) for _ in range(RARE.get(entry.name, 1)))
    found = next((one for one in tries if not one.valid), None)
    assert found is not None
    assert not entry.flag or entry.flag in {flag.kind for flag in found.flags}, found


@pytest.mark.parametrize("entry", STRANGERS["honest"], ids=lambda e: e.name)
def test_an_honest_kernel_is_valid_and_not_accused(
    judged: Judge, entry: corpus.CorpusEntry
) -> None:
    found = judge_entry(judged, entry)
    assert found.valid, found.reason
    assert found.flags == ()


def test_a_card_that_is_busy_before_the_request_is_charged(
    judged: Judge, reference: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As beside a kernel that watches the inputs, which no stopped process ends."""
    made: list[Any] = []
    begin, view = shared_memory.SharedMemory.__init__, shared_memory.SharedMemory.view

    def counted(self: Any, *arguments: Any) -> None:
        begin(self, *arguments)
        made.append(self)

    def slow(self: Any, place: shared_memory.Place) -> Any:
        if len(made) > 1 and self is made[1]:  # the submission's: reference, submission, twin
            time.sleep(0.2)
        return view(self, place)

    monkeypatch.setattr(judge_module, "_LONG_ENOUGH_S", 0.0)  # one set a call, however slow
    monkeypatch.setattr(shared_memory.SharedMemory, "__init__", counted)
    monkeypatch.setattr(shared_memory.SharedMemory, "view", slow)
    found = judged("softmax", reference("softmax"))
    assert [flag.kind for flag in found.flags] == ["work_after_done"]
    assert "before the calls" in found.flags[0].evidence


def test_a_worker_stands_still_from_its_rest_to_its_next_call(
    judged: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    took: list[float] = []
    timed = judge_module.ProblemPlay._timed

    def watched(self: Any, side: Any, turn: Any, **more: Any) -> Any:
        if side is self.sides[1] and self.record.calls:
            before = side.process.cpu_s()
            time.sleep(0.05)
            took.append(side.process.cpu_s() - before)
        return timed(self, side, turn, **more)

    monkeypatch.setattr(judge_module.ProblemPlay, "_timed", watched)
    found = judged("softmax", SPINNING)
    assert took
    assert max(took) == 0
    assert [flag.kind for flag in found.flags] == ["work_after_done"]
