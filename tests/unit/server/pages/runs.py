"""A training run's folder, made by the real loop on a small world, and what it writes later."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.training import fakes_loop as fakes

from unhack.training.loop.train import train
from unhack.training.run.folder import METRICS, RUN, read_json, read_lines, write_json


def write_run(folder: Path) -> None:
    """Train six steps; the run looks as if it went on."""
    with fakes.faked():
        train(fakes.small(gate={"kind": "cosine"}), folder, watch=lambda _: None)
    write_json(folder / RUN, {**read_json(folder / RUN), "status": "running"})


def go_on(folder: Path, *, step: int, status: str = "running") -> None:
    """Add a step to the records, then say how it stands."""
    last = read_lines(folder / METRICS)[-1]
    with (folder / METRICS).open("a") as log:
        log.write(json.dumps({**last, "step": step}) + "\n")
    write_json(folder / RUN, {**read_json(folder / RUN), "status": status})
