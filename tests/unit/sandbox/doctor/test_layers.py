"""The words on each layer are complete and fit the trials."""

from __future__ import annotations

from dataclasses import replace

import pytest

from unhack.sandbox.doctor import trials
from unhack.sandbox.doctor.layers import LAYERS, Layer
from unhack.sandbox.linux.capabilities import read_capabilities


def test_every_trial_belongs_to_one_layer() -> None:
    assert sorted(layer.trial for layer in LAYERS if layer.trial) == sorted(trials.TRIALS)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_every_layer_says_what_it_stops_what_is_lost_and_what_brings_it(layer: Layer) -> None:
    assert layer.stops
    assert layer.without
    assert layer.remedy


@pytest.mark.parametrize(("abi", "left"), [(7, ""), (5, "signals"), (3, "TCP"), (1, "truncating")])
def test_an_older_landlock_names_what_is_left_to_the_filter(abi: int, left: str) -> None:
    landlock = next(layer for layer in LAYERS if layer.name == "Landlock")
    words = landlock.version(replace(read_capabilities(), landlock_abi=abi))
    assert words.startswith(f"ABI {abi}")
    assert left in words
    assert ("filter" in words) is bool(left)
