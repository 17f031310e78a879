"""The settings of one run, as data: what a submission may choose, and within which limits."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from unhack_contests.submission import flagged

COUNTS = ("width", "depth", "steps", "batch", "again")
SHARES = ("rate", "mix")
NAMES = (*COUNTS, *SHARES)
_ENDLESS = 10**300
"""Integers beyond it raise where a float is made of them."""
WIDTH_STEP = 8
"""Of an attention head; widths are its multiples."""


@dataclass(frozen=True, slots=True)
class LabSettings:
    """One run."""

    width: int
    depth: int
    steps: int
    batch: int
    """Windows of one step."""
    rate: float
    """Peak learning rate, in the unit of the world."""
    mix: float
    """Share of the first component in the training text."""
    again: int = 0
    """Which repetition: other initial weights and another order of the text."""

    def key(self) -> str:
        """The same for equal settings, whatever type of number they came as."""
        return json.dumps(asdict(self), sort_keys=True)

    def plain(self) -> dict[str, Any]:
        """As a dict."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The settings that the service trains; both ends count."""

    width: tuple[int, int]
    depth: tuple[int, int]
    steps: tuple[int, int]
    batch: tuple[int, int]
    rate: tuple[float, float] = (1e-6, 10.0)
    mix: tuple[float, float] = (0.0, 1.0)
    again: tuple[int, int] = (0, 63)

    def outside(self, settings: LabSettings) -> str:
        """The reason that the service does not train these; empty where it trains them."""
        ranges: Mapping[str, tuple[float, float]] = asdict(self)
        for name, (low, high) in ranges.items():
            value = getattr(settings, name)
            if not low <= value <= high:
                return f"{name} is from {low:g} to {high:g}, not {value:g}"
        if settings.width % WIDTH_STEP:
            return f"width is a multiple of {WIDTH_STEP}, not {settings.width}"
        return ""


@dataclass(frozen=True, slots=True)
class TrainingOutcome:
    """The figures that training gave."""

    loss: float
    """Nats per token on held-out text; infinity for a run that diverged."""
    curve: tuple[tuple[int, float], ...]
    """(tokens seen, training loss averaged since the point before)."""


def read_settings(value: Any) -> LabSettings:
    """Settings from plain data. Raises RefusedError for what the client cannot send: other names,
    other types, numbers that are not finite, negative or, but for `again` and `mix`, zero."""
    given = cast("dict[Any, Any]", value) if isinstance(value, dict) else {}
    if set(given) != set(NAMES):
        raise flagged("forged_value", "other names than those of the settings of a run")
    found: dict[str, Any] = {}
    for name in NAMES:
        number: Any = given[name]
        kinds = (int,) if name in COUNTS else (int, float)
        if type(number) not in kinds:
            # Never its text: Python writes no integer of thousands of digits.
            raise flagged("forged_value", f"a {type(number).__name__} for the {name} of a run")
        if (type(number) is int and abs(number) > _ENDLESS) or not math.isfinite(number):
            raise flagged("forged_value", f"a number without end for the {name} of a run")
        if number < 0 or (number == 0 and name not in ("again", "mix")):
            raise flagged("forged_value", f"{number!r:.40} for the {name} of a run")
        found[name] = number if name in COUNTS else float(number)
    return LabSettings(**found)
