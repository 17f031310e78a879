"""Submissions of honest kinds, and the space that an optimiser may search."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from unhack.tournament.kit import Files, Parameter
from unhack_contests.scaling.honest import FILE
from unhack_contests.scaling.honest import entry as scaling_entry

COSTS: Mapping[str, list[float]] = {
    "even": [0.02, 0.04, 0.08, 0.08, 0.16, 0.3],
    "many": [0.02, 0.02, 0.04, 0.04, 0.08, 0.08, 0.12, 0.16],
    "deep": [0.03, 0.06, 0.12, 0.5],
    "cheap": [0.01, 0.01, 0.02, 0.02, 0.04, 0.04],
}
SPACE = (
    Parameter("forms", ("chinchilla", "power", "chinchilla+power", "chinchilla+power+surface")),
    Parameter("costs", tuple(COSTS)),
    Parameter("rates", (2, 0, 4)),
    Parameter("mixes", (2, 0, 4)),
    Parameter("side_cost", (0.03, 0.015, 0.06)),
    Parameter("widen", (1.5, 1.0, 2.5)),
)  # fmt: skip


entry = partial(scaling_entry, folder=Path(__file__).with_name("submissions"))
"""See `scaling.honest.entry`."""


def ladder(**settings: Any) -> Files:
    """A submission that fits laws to a ladder."""
    return {FILE: entry("ladder", settings)}


def null() -> Files:
    """Predicts the mean of three runs for every target."""
    return {FILE: entry("mean")}


def honest() -> dict[str, Files]:
    """Honest strategies; the first is the baseline of every round."""
    return {
        "power": ladder(forms=["power"], rates=0, mixes=0),
        "chinchilla": ladder(),
        "isoflop": {FILE: entry("isoflop")},
        "halving": {FILE: entry("halving")},
        "ensemble": ladder(forms=["chinchilla", "power"], costs=COSTS["many"], rates=4, mixes=4),
    }


def submission(choice: Mapping[str, float | int | str]) -> Files:
    """The submission of one point of the space."""
    forms, costs = str(choice["forms"]).split("+"), COSTS[str(choice["costs"])]
    return ladder(**{**choice, "forms": forms, "costs": costs})
