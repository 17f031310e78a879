"""Options of the contest and where its models come from.

Covered: everything that decides what is measured.
Not covered: seeds; the caller keeps those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from unhack.tournament.kit import DataPool, Metric, UnknownNameError, UsageError
from unhack_contests.interpretability.models import draw, trained
from unhack_contests.interpretability.models.circuits import CircuitSize
from unhack_contests.interpretability.models.draw import CircuitModel
from unhack_contests.interpretability.models.network import Network
from unhack_contests.interpretability.models.runs import NUMPY, ForwardBackend
from unhack_contests.torch_card import CPU, check_device

_SHAPE = {item.name for item in fields(CircuitSize)}
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
    device: str = CPU
    """Of the judge's forward passes: `cpu` (NumPy), `cuda` or `cuda:N` (PyTorch)."""
    card: str = ""
    """The name of the card that measures, where it is on another machine; empty for the one
    here."""

    def words(self) -> Mapping[str, Metric]:
        """As plain values; checkpoints by their hash."""
        plain: dict[str, Metric] = {name: getattr(self, name) for name in _COUNTS}
        plain |= {name: getattr(self.size, name) for name in _SHAPE}
        return plain | {"trained": trained.digest(self.trained) if self.trained else ""}

    def model(
        self, pool: DataPool, *, seed: int, number: int, backend: ForwardBackend = NUMPY
    ) -> CircuitModel:
        """A model of a draw; `backend` measures the circuit of a trained one."""
        if self.is_trained(number):
            return trained.model(
                self.trained, pool=pool, seed=seed, number=number, backend=backend
            )  # fmt: skip
        return draw.model(pool, seed=seed, number=number, size=self.size)

    def network(self, pool: DataPool, *, seed: int, number: int) -> Network:
        """That of the same model, whose circuit nobody needs."""
        if self.is_trained(number):
            return trained.unmeasured(self.trained, pool=pool, seed=seed, number=number).network
        return draw.model(pool, seed=seed, number=number, size=self.size).network

    def is_trained(self, number: int) -> bool:
        """True for the models of a draw that are checkpoints: every second one."""
        return bool(self.trained) and number % 2 == 1


STANDARD, HARD = "standard", "hard"
LEVELS = {
    STANDARD: InterpSettings(),
    HARD: InterpSettings(
        budget=2000,
        size=CircuitSize(layers=5, heads=6, width=112, relays=1, cancelling=3, shared=3),
    ),
}  # fmt: skip
"""Settings by level; single options change them."""
SIZES: Mapping[str, Mapping[str, int]] = {
    "demo": {"models": 4, "dev_models": 4, "sequences": 64},
    "default": {},
    "large": {
        "sequences": 512, "layers": 8, "heads": 12, "width": 256, "vocabulary": 20, "length": 20,
        "mlp": 48,
    },
}  # fmt: skip
"""Options by the option `size`; `large` is for a card."""
_LARGE_BUDGET = 12
"""Times the budget of a level: pairs of components are so many times more."""
_OPTIONAL = ("relays", "cancelling", "shared")
_WORDS = ("trained", "device", "card")


def settings(options: Mapping[str, str]) -> InterpSettings:
    """From `key=value` words. Raises UsageError."""
    found = _usual(options)
    size = found.size
    for key, value in options.items():
        if key in ("level", "size"):
            continue
        if key in _WORDS:
            found = replace(found, **{key: value})
        elif key in _SHAPE:
            size = replace(size, **{key: _number(key, value, low=int(key not in _OPTIONAL))})
        elif key == "time_s":
            found = replace(found, time_s=float(_number(key, value)))
        elif key == "weights":
            found = replace(found, weights=bool(_number(key, value, low=0)))
        elif key in _COUNTS:
            found = replace(found, **{key: _number(key, value)})
        else:
            names = ", ".join(sorted({*_COUNTS, *_SHAPE, *_WORDS, "level", "size"}))
            raise UsageError(f"interp has no option {key!r}; it has {names}")
    check_device(found.device, found.card)
    if size.vocabulary < size.length or size.layers < 2 or size.length < 8:
        raise UsageError("interp needs vocabulary >= length >= 8 and at least 2 layers")
    return replace(found, size=size)


def _usual(options: Mapping[str, str]) -> InterpSettings:
    """Those of a level and a size; on a card the size is `large` unless another is named."""
    level = options.get("level", STANDARD)
    if level not in LEVELS:
        raise UnknownNameError("level of interp", level, valid=LEVELS)
    found = LEVELS[level]
    name = options.get("size", "default" if options.get("device", CPU) == CPU else "large")
    if name not in SIZES:
        raise UnknownNameError("size of interp", name, valid=tuple(SIZES))
    given = SIZES[name]
    counts = {key: value for key, value in given.items() if key in _COUNTS}
    size = replace(found.size, **{key: value for key, value in given.items() if key in _SHAPE})
    budget = found.budget * (_LARGE_BUDGET if name == "large" else 1)
    return replace(found, size=size, budget=budget, **counts)


def _number(key: str, value: str, *, low: int = 1) -> int:
    if not value.isdecimal() or int(value) < low:
        raise UsageError(f"{key} is a whole number from {low}, not {value!r}")
    return int(value)
