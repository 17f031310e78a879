"""Submissions of honest kinds, and the space that an optimiser may search."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unhack.tournament.kit import Files, Parameter

FILE = "solution.py"
_ENTRIES = Path(__file__).with_name("submissions")
_START, _END = "SETTINGS: dict[str, Any] = {", "\n}\n"

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


def entry(name: str, settings: Mapping[str, Any] | None = None) -> bytes:
    """The text of an entry, with some of its settings changed. Raises KeyError for another one."""
    text = (_ENTRIES / f"{name}.py").read_text()
    if not settings:
        return text.encode()
    start = text.index(_START) + len(_START)
    end = text.index(_END, start)
    known: dict[str, Any] = json.loads(f"{{{text[start:end].rstrip().rstrip(',')}}}")
    if set(settings) - set(known):
        raise KeyError(", ".join(sorted(set(settings) - set(known))))
    lines = [f"\n    {json.dumps(k)}: {json.dumps(v)}," for k, v in {**known, **settings}.items()]
    return f"{text[:start]}{''.join(lines)}{text[end:]}".encode()


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
