"""Loggers beside the run folder: TensorBoard, trackio, Weights & Biases.

Covered: scalars of each step and of monitor evaluations; a package that is missing (UsageError that
names what to install, before any step is run). Not covered: uploading checkpoints; a resumed run
logs the steps since its checkpoint again.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, cast

from unhack.core.errors import UsageError
from unhack.training.config.settings import Settings
from unhack.training.config.toml import differences
from unhack.training.run.step_record import StepRecord


class Logger(Protocol):
    """A sink of scalars."""

    def log(self, scalars: Mapping[str, float], *, step: int) -> None: ...

    def close(self) -> None: ...


class Silent:
    """Logs nothing: the run folder has everything anyway."""

    def log(self, scalars: Mapping[str, float], *, step: int) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class TensorBoard:
    """Event files in `RUN/tensorboard`."""

    def __init__(self, folder: Path) -> None:
        _import("tensorboard")
        board = importlib.import_module("torch.utils.tensorboard")
        self._writer: Any = board.SummaryWriter(str(folder / "tensorboard"))

    def log(self, scalars: Mapping[str, float], *, step: int) -> None:
        """One point per scalar."""
        for name, value in scalars.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Write what is held back."""
        self._writer.close()


class Tracker:
    """trackio or wandb, which share their interface."""

    def __init__(self, name: str, folder: Path, settings: Settings) -> None:
        package: Any = _import(name)
        changed = {key: value for key, (_, value) in differences(Settings(), settings).items()}
        self._run: Any = package.init(project="unhack", name=folder.name, config=changed)

    def log(self, scalars: Mapping[str, float], *, step: int) -> None:
        """One record."""
        self._run.log(dict(scalars), step=step)

    def close(self) -> None:
        """End the run at the tracker."""
        self._run.finish()


def make_logger(settings: Settings, folder: Path) -> Logger:
    """The logger of `run.logger`. Raises UsageError where its package is not installed."""
    name = settings.run.logger
    if name == "none":
        return Silent()
    if name == "tensorboard":
        return TensorBoard(folder)
    return Tracker(name, folder, settings)


def scalars(record: StepRecord) -> dict[str, float]:
    """Scalars of a step for a logger: every number, and the monitor's rates by knob state."""
    found: dict[str, float] = {}
    for name, value in record.record().items():
        if isinstance(value, (int, float)) and name != "step":
            found[f"train/{name}"] = float(value)
        elif isinstance(value, Mapping):
            inner = cast(Mapping[str, Any], value)
            found |= {f"{name}/{key}": float(one) for key, one in inner.items() if one is not None}
    for state, rates in (record.monitor or {}).items():
        for key in ("hack", "hack_known", "hack_held_out", "solve", "parses"):
            if key in rates:
                found[f"monitor/{state}/{key}"] = float(rates[key]["rate"])
    return found


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(
            f"run.logger = {name!r} needs a package that is not installed: "
            f'pip install ".[{name}]" in a checkout of unhack, or set run.logger = "none"'
        ) from error
