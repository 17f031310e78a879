"""Weights of process rewards that are negative or not finite are refused, wherever given."""

from __future__ import annotations

import math

import pytest

from unhack.core.errors import UsageError
from unhack.training.episodes.credit import CreditSettings
from unhack.training.episodes.train import EpisodeSettings


@pytest.mark.parametrize("weight", [math.nan, math.inf, -0.5])
def test_training_takes_no_weight_that_is_none(weight: float) -> None:
    with pytest.raises(UsageError, match="the weight of process rewards"):
        EpisodeSettings(process=weight)
    with pytest.raises(UsageError, match="the weight of gigpo's turns"):
        CreditSettings(weight=weight)
