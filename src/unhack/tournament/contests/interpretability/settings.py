"""Options of the contest and where its models come from.

Covered: everything that decides what is measured.
Not covered: seeds; the caller keeps those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from unhack.core.errors import UnknownNameError, UsageError
from unhack.tournament.contest import DataPool, Metric
from unhack.tournament.contests.interpretability.models import draw, trained
from unhack.tournament.contests.interpretability.models.circuits import CircuitSize
from unhack.tournament.contests.interpretability.models.draw import CircuitModel

_SIZES = {item.name for item in fields(CircuitSize)}
_COUNTS = ("models", "dev_models", "budget", "sequences", "time_s", "weights")


@dataclass(frozen=True, slots=True)
class InterpSettings:
    """The sizes and numbers of models that are measured."""

    models: int = 8
    """Fresh models of a draw."""
    dev_models: int = 6
    budget: int = 4000
    """Sequences that may run through one model."""
    sequences: int = 128
    """Of the judge's own interventions on one model."""
    time_s: float = 30.0
    """Of the submission's own thinking about one model."""
    weights: bool = False
    """True when the submission is given the weights."""
    size: CircuitSize = field(default_factory=CircuitSize)
    trained: str = ""
    """A folder of trained checkpoints (`.npz`); every second model is then drawn from it."""

    def words(self) -> Mapping[str, Metric]:
        """As plain values; checkpoints by their hash."""
        plain: dict[str, Metric] = {name: getattr(self, name) for name in _COUNTS}
        plain |= {name: getattr(self.size, name) for name in _SIZES}
        return plain | {"trained": trained.digest(self.trained) if self.trained else ""}

    def model(self, pool: DataPool, *, seed: int, number: int) -> CircuitModel:
        """A model of a draw."""
        if self.trained and number % 2:
            return trained.model(self.trained, pool=pool, seed=seed, number=number)
        return draw.model(pool, seed=seed, number=number, size=self.size)


STANDARD, HARD = "standard", "hard"
LEVELS = {
    STANDARD: InterpSettings(),
    HARD: InterpSettings(
        budget=2000,
        size=CircuitSize(layers=5, heads=6, width=112, relays=1, cancelling=3, shared=3),
    ),
}  # fmt: skip
"""Settings by level; single options change them."""
_OPTIONAL = ("relays", "cancelling", "shared")


def settings(options: Mapping[str, str]) -> InterpSettings:
    """From `key=value` words. Raises UsageError."""
    level = options.get("level", STANDARD)
    if level not in LEVELS:
        raise UnknownNameError("level of interp", level, valid=LEVELS)
    found = LEVELS[level]
    size = found.size
    for key, value in options.items():
        if key == "level":
            continue
        if key == "trained":
            found = replace(found, trained=value)
        elif key in _SIZES:
            size = replace(size, **{key: _number(key, value, low=int(key not in _OPTIONAL))})
        elif key == "time_s":
            found = replace(found, time_s=float(_number(key, value)))
        elif key == "weights":
            found = replace(found, weights=bool(_number(key, value, low=0)))
        elif key in _COUNTS:
            found = replace(found, **{key: _number(key, value)})
        else:
            names = ", ".join(sorted({*_COUNTS, *_SIZES, "level", "trained"}))
            raise UsageError(f"interp has no option {key!r}; it has {names}")
    if size.vocabulary < size.length or size.layers < 2 or size.length < 8:
        raise UsageError("interp needs vocabulary >= length >= 8 and at least 2 layers")
    return replace(found, size=size)


def _number(key: str, value: str, *, low: int = 1) -> int:
    if not value.isdecimal() or int(value) < low:
        raise UsageError(f"{key} is a whole number from {low}, not {value!r}")
    return int(value)
