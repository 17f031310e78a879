"""The records of a training run, in its run folder.

    config.toml     the settings
    run.json        versions, sizes, how it ended
    metrics.jsonl   one line per step (`step_record.StepRecord`)
    gate.jsonl      one line per step: fractions per rollout, routed mass, energies
    rollouts.jsonl  one line per step, with `run.keep_rollouts` (`step_summary.rollouts_line`)
    monitor.jsonl   one line per monitor evaluation and knob state
    alarms.jsonl    one line per alarm
    checkpoints/    adapters by completed updates; what a resumed run needs (`checkpoint`)
    curve.json, final.json, relearn.json: written by the evaluation

Covered: what `store.run_folder` covers; a kill at any point (`truncate` goes back to what a
checkpoint knows), other settings than those the run began with (UsageError).
Not covered: what else lies in the folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from unhack.core.errors import UsageError
from unhack.store.errors import storing
from unhack.store.files import read_whole_lines, write_whole
from unhack.store.run_folder import RunFolder
from unhack.training.config.settings import Settings
from unhack.training.config.toml import differences, read_settings, settings_toml
from unhack.training.run.step_record import plain

CONFIG, RUN, METRICS, GATE, MONITOR, ALARMS, ROLLOUTS = (
    "config.toml", "run.json", "metrics.jsonl", "gate.jsonl", "monitor.jsonl", "alarms.jsonl",
    "rollouts.jsonl",
)  # fmt: skip
LOGS = (METRICS, GATE, MONITOR, ALARMS, ROLLOUTS)
"""The files that grow line by line."""
FREE = frozenset({"run.steps", "run.logger", "world.cache", "model.device"})
"""Settings that may differ when a run goes on: none of it changes a step that is done, and
another device changes the others by rounding alone."""


class TrainingRecords:
    """The records of a run that this process writes."""

    def __init__(self, path: Path, settings: Settings) -> None:
        """Begin a run, or go on with one. Raises StoreError, UsageError."""
        self.path = path
        self.settings = settings
        self._folder = RunFolder(path, kind="training")
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        config = self.path / CONFIG
        if config.exists() and self._worked():
            changed = differences(read_settings(config), self.settings)
            for name, (old, new) in changed.items():
                if name not in FREE:
                    raise UsageError(
                        f"{self.path}: this run has {name} = {old!r}, not {new!r}; "
                        "choose another folder"
                    )
        self._folder.write(CONFIG, settings_toml(self.settings).encode())
        with storing(self.path):
            for name in LOGS:
                (self.path / name).touch()

    def _worked(self) -> bool:
        """True once anything was trained: a run that was refused at its start leaves only
        settings, which may be put right."""
        metrics = self.path / METRICS
        checkpoints = (self.path / "checkpoints").glob("[0-9]*.json")
        return any(checkpoints) or (metrics.exists() and metrics.stat().st_size > 0)

    def append(self, name: str, record: Mapping[str, Any]) -> None:
        """One more line. Raises StoreError."""
        line = json.dumps(plain(record), allow_nan=False) + "\n"
        self._folder.append(name, line.encode())

    def lengths(self) -> dict[str, int]:
        """Bytes of each log, which are on the disk when this returns."""
        return self._folder.lengths(LOGS)

    def truncate(self, lengths: Mapping[str, int]) -> None:
        """Cut the logs back to what a checkpoint knows. Raises StoreError where less is left."""
        self._folder.cut_back({name: lengths.get(name, 0) for name in LOGS})

    def describe(self, **fields: Any) -> None:
        """Set fields of `run.json`. Raises StoreError."""
        write_json(self.path / RUN, {**read_json(self.path / RUN), **fields})

    def close(self) -> None:
        """Give the folder to the next process. Harmless when closed."""
        self._folder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a log, without a line that is still being written; none where there is no
    file."""
    with storing(path):
        lines = read_whole_lines(path)
    return [json.loads(line) for line in lines]


def read_json(path: Path) -> dict[str, Any]:
    """The object of a JSON file; empty where there is no file."""
    if not path.exists():
        return {}
    with storing(path):
        return json.loads(path.read_bytes())


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a JSON file as a whole. Raises StoreError."""
    text = json.dumps(plain(record), indent=1, allow_nan=False) + "\n"
    with storing(path.parent):
        write_whole(path, text.encode(), mode=0o644)


def status(folder: Path) -> str:
    """`finished`, `stopped` (an alarm or a baseline ended it), `running` (or interrupted), or
    `absent`."""
    return str(read_json(folder / RUN).get("status", "absent"))
