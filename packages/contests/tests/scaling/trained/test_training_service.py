"""Requests to the service: what is refused, what is forged, what is charged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages.contests.tests.scaling.trained.small_world import SMALL, small_world

from unhack_contests.scaling.trained.service.training_service import (
    Meter,
    RunRefused,
    TrainingService,
)
from unhack_contests.scaling.trained.world.run_settings import NAMES, LabSettings, TrainingOutcome
from unhack_contests.submission import RefusedError

USUAL: dict[str, Any] = {
    "width": 8, "depth": 1, "steps": 50, "batch": 4, "rate": 1.0, "mix": 0.5, "again": 0
}  # fmt: skip


class Bench:
    """A training service with runs that nobody trains, and a list of those that were begun."""

    def __init__(self, budget: int = SMALL.budget) -> None:
        self.begun: list[LabSettings] = []
        self.meter = Meter(budget)
        self.service = TrainingService(small_world(), self._train, self.meter)

    def _train(self, settings: LabSettings) -> TrainingOutcome:
        self.begun.append(settings)
        return TrainingOutcome(2.0, ((64, 2.5),))


FORGED: list[dict[str, Any]] = [
    {"steps": 0}, {"steps": -1000}, {"width": -8}, {"width": 0}, {"batch": 0}, {"depth": -1},
    {"again": -1}, {"rate": 0}, {"rate": -1.0}, {"mix": -0.1}, {"rate": float("nan")},
    {"rate": float("inf")}, {"mix": float("nan")}, {"steps": 50.5}, {"steps": True},
    {"steps": 10**400}, {"rate": 10**400}, {"mix": [10**9999]},
    {"width": "8"}, {"depth": None}, {"rate": "1"}, {"steps": [50]}, {"seat": 2},
]  # fmt: skip
REFUSED: list[dict[str, Any]] = [
    {"width": 10**9}, {"depth": 10**6}, {"steps": 10**12}, {"batch": 10**5}, {"again": 10**6},
    {"rate": 1e308}, {"rate": 1e-300}, {"mix": 1.5}, {"width": 12},
]  # fmt: skip


@pytest.mark.parametrize("changed", FORGED, ids=lambda changed: next(iter(changed)))
def test_numbers_that_no_run_has_are_forged_and_cost_nothing(changed: dict[str, Any]) -> None:
    bench = Bench()
    with pytest.raises(RefusedError) as caught:
        bench.service.answer(["train", {**USUAL, **changed}])
    assert [flag.kind for flag in caught.value.flags] == ["forged_value"]
    assert (bench.meter.spent, bench.begun) == (0, [])


@pytest.mark.parametrize("changed", REFUSED, ids=str)
@pytest.mark.parametrize("verb", ["price", "train"])
def test_settings_that_are_too_large_are_refused_before_anything_is_spent(
    changed: dict[str, Any], verb: str
) -> None:
    bench = Bench()
    with pytest.raises(RunRefused, match=next(iter(changed))):
        bench.service.answer([verb, {**USUAL, **changed}])
    assert (bench.meter.spent, bench.begun) == (0, [])


@pytest.mark.parametrize("request_", [["budget", 1e30], ["outcomes", 0], ["reset", {}]], ids=str)
def test_another_verb_is_an_attempt_on_the_service(request_: list[Any]) -> None:
    with pytest.raises(RefusedError) as caught:
        Bench().service.answer(request_)
    assert [flag.kind for flag in caught.value.flags] == ["tampered_input"]


@pytest.mark.parametrize(
    "request_",
    [
        None,
        [],
        "train",
        ["train"],
        ["train", USUAL, "seat 2"],
        [1, 2],
        {"train": USUAL},
        ["train", {10**9999: 1}],
    ],
    ids=range(8),
)
def test_what_is_no_request_is_forged(request_: Any) -> None:
    with pytest.raises(RefusedError):
        Bench().service.answer(request_)


def test_no_target_can_be_bought_at_all() -> None:
    bench = Bench()
    for target in small_world().targets:
        with pytest.raises(RunRefused, match="left"):
            bench.service.answer(["train", target.plain()])
    assert bench.begun == []


def test_a_run_is_charged_by_its_size_and_before_it_begins() -> None:
    bench = Bench()
    price = bench.service.answer(["price", USUAL])
    assert price["flops"] == 6 * price["parameters"] * price["tokens"]
    assert price["tokens"] == 50 * 4 * SMALL.window
    answer = bench.service.answer(["train", USUAL])
    assert answer["flops"] == bench.meter.spent == price["flops"]
    with pytest.raises(RunRefused):
        Bench(budget=price["flops"] - 1).service.answer(["train", USUAL])


def test_whole_numbers_in_the_place_of_fractions_are_the_same_run() -> None:
    bench = Bench()
    for rate in (1, 1.0):
        bench.service.answer(["train", {**USUAL, "rate": rate}])
    assert bench.begun[0] == bench.begun[1]
    assert bench.meter.charges == 2


@pytest.mark.slow
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner),
    max_leaves=6,
))  # fmt: skip
def test_no_plain_value_gets_a_run_for_nothing(request_: Any) -> None:
    bench = Bench()
    for asked in (request_, ["train", request_]):
        try:
            bench.service.answer(asked)
        except (RefusedError, RunRefused):
            continue
    assert bench.meter.spent == 0 or bench.begun


def test_nothing_of_the_world_is_told_but_what_the_statement_says() -> None:
    told = Bench().service.describe()
    assert set(told) == {"budget", "usual", "limits", "uniform", "targets"}
    assert all("loss" not in target for target in told["targets"])
