"""Workers of a sweep in which the fakes are in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.training import fakes_loop

from unhack.training.config.settings import Settings
from unhack.training.experiment import worker


def work(settings: Settings, folder: Path, *rest: Any) -> None:
    with fakes_loop.faked():
        worker.work(settings, folder, *rest)


def make_base(settings: Settings, folder: Path) -> None:
    """The fake has no base."""
