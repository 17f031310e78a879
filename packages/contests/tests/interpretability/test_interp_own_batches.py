"""Sequences that a submission makes itself: what counts as numbers, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unhack.tournament.contest import DataPool
from unhack_contests.interpretability.dialogue.experiment_service import (
    ExperimentRefused,
    ExperimentService,
)
from unhack_contests.interpretability.settings import settings


def _service() -> tuple[ExperimentService, list[Any]]:
    model = settings({}).model(DataPool.JUDGE, seed=4, number=0)
    lab = ExperimentService(model, np.random.default_rng(0), budget=100)
    return lab, lab.answer(["sample", 4])[1:]


def test_a_mask_of_truth_values_marks_what_one_of_numbers_marks() -> None:
    lab, (tokens, targets, mask) = _service()
    nothing = [[[], [], "mean", -1]]
    number = lab.answer(["custom", tokens.astype(np.int8), targets, mask > 0])[0]
    mine = lab.answer(["losses", number, nothing])
    assert np.array_equal(mine, lab.answer(["losses", 0, nothing]))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, 2.0**63])
@pytest.mark.parametrize("place", [0, 1])
def test_tokens_that_are_none_are_refused(value: float, place: int) -> None:
    lab, parts = _service()
    parts[place] = parts[place] + value
    with pytest.raises(ExperimentRefused, match="tokens lie from 0"):
        lab.answer(["custom", *parts])
    assert lab.used == 4


def test_truth_values_are_no_tokens() -> None:
    lab, (tokens, targets, mask) = _service()
    with pytest.raises(ExperimentRefused, match="numbers of one shape"):
        lab.answer(["custom", tokens > 0, targets, mask])
