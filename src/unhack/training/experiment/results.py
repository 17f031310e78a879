"""Finished runs as a report reads them: final evaluation, curve, routing record, settings.

Covered: run folders, and folders that hold some; a run that is not finished is skipped with its
reason. No torch. Not covered: making what is missing (`unhack train eval-curve` does).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhack.core.errors import UsageError
from unhack.store.errors import StoreError
from unhack.training.config.settings import Settings
from unhack.training.config.toml import read_settings
from unhack.training.evaluation.counts import Evaluation
from unhack.training.run.folder import CONFIG, GATE, METRICS, RUN, read_json, read_lines

Pair = tuple[str, int]
"""Base model with the modes that are known, and seed: what paired tests pair runs by."""


@dataclass(frozen=True, slots=True)
class Point:
    """One checkpoint of a curve."""

    step: int
    deployed: Evaluation
    as_trained: Evaluation


@dataclass(frozen=True, slots=True)
class Routed:
    """One step of the routing record, without the fractions of single rollouts."""

    step: int
    mass: float
    """Sum of f over active rollouts."""
    active: int
    kept_share: float
    energy_deployed: float
    energy_quarantine: float
    split: Mapping[str, tuple[float, float]]
    """`on.positive.hacked` and the like -> (rollouts, mean f)."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """One finished run."""

    folder: str
    arm: str
    settings: Settings
    run: Mapping[str, Any]
    """`run.json`."""
    step: int
    """Completed updates of the final evaluation."""
    deployed: Evaluation
    as_trained: Evaluation
    curve: tuple[Point, ...]
    gate: tuple[Routed, ...]
    relearn: Mapping[str, Any]
    """`relearn.json`; empty where the attack was not run."""
    seconds: float
    """Of training, as the run's own clock has it."""

    @property
    def pair(self) -> Pair:
        """Base model with the modes that are known, and seed."""
        model = self.settings.model
        base = model.path or f"{model.size}/{model.base_seed}"
        return f"{base} {'+'.join(self.settings.world.known)}", self.settings.run.seed

    @property
    def mass(self) -> float:
        """Routed mass of the whole run."""
        return sum(item.mass for item in self.gate)

    @property
    def mass_share(self) -> float:
        """Routed mass over the mass of all active rollouts."""
        active = sum(item.active for item in self.gate)
        return self.mass / active if active else 0.0


def read_runs(paths: Sequence[Path]) -> tuple[list[RunResult], dict[str, str]]:
    """All finished runs in run folders and below other folders, and why others are skipped.

    Raises UsageError for a path that is no folder, where nothing is a run, and where two runs
    have the same arm, base model and seed.
    """
    found: list[RunResult] = []
    skipped: dict[str, str] = {}
    for folder in dict.fromkeys(_folders(paths)):
        try:
            found.append(read_run(folder))
        except (UsageError, StoreError) as error:
            skipped[str(folder)] = str(error)
    seen: dict[tuple[str, Pair], str] = {}
    for one in found:
        twin = seen.setdefault((one.arm, one.pair), one.folder)
        if twin != one.folder:
            raise UsageError(
                f"{twin} and {one.folder} are both arm {one.arm!r}, base {one.pair[0]}, seed "
                f"{one.pair[1]}; name one of them"
            )
    if not found and not skipped:
        raise UsageError(f"no run folder in {', '.join(map(str, paths))}")
    return found, skipped


def read_run(folder: Path) -> RunResult:
    """One run. Raises UsageError where it goes on, or where its final evaluation is missing, older
    than its last update or none at all."""
    settings = read_settings(folder / CONFIG, reading=True)
    run = read_json(folder / RUN)
    final = read_json(folder / "final.json")
    if not final:
        raise UsageError(f"not evaluated; `unhack train eval-curve {folder}` does it")
    if run.get("status") == "running":
        raise UsageError(f"not finished; `unhack train run --out {folder}` goes on with it")
    if "steps" in run and final.get("step") != run["steps"]:
        raise UsageError(
            f"evaluated after {final.get('step')} updates, trained for {run['steps']}; "
            f"`unhack train eval-curve {folder}` evaluates it again"
        )
    if "hack" not in final.get("deployed", {"hack": 0}):
        raise UsageError(
            f"world {settings.world.name} has no oracle, so nothing tells hacks from solutions; "
            f"its rewards are in {folder / 'final.json'}"
        )
    curve = read_json(folder / "curve.json")
    metrics = read_lines(folder / METRICS)
    try:
        return RunResult(
            folder=str(folder.absolute()),
            arm=arm_of(folder, run),
            settings=settings,
            run=run,
            step=int(final["step"]),
            deployed=Evaluation.read(final["deployed"]),
            as_trained=Evaluation.read(final["as_trained"]),
            curve=tuple(_point(item) for item in curve.get("points", ())),
            gate=tuple(_read_routed(item) for item in read_lines(folder / GATE)),
            relearn=read_json(folder / "relearn.json"),
            seconds=sum(float(item.get("seconds") or 0.0) for item in metrics),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"what the evaluation wrote cannot be read ({error!r})") from error


def arm_of(folder: Path, run: Mapping[str, Any]) -> str:
    """The arm that a run belongs to: as `run.json` says, else the folder's name, or that of the
    folder above for a run of a sweep (`real/b0-s3`)."""
    place = folder.absolute()
    named = place.parent.name if re.fullmatch(r"b\d+-s\d+(-[\w+]+)?", place.name) else place.name
    return str(run.get("arm") or named)


def by_arm(runs: Iterable[RunResult]) -> dict[str, list[RunResult]]:
    """Runs by arm, each arm in the order of its pairs."""
    arms: dict[str, list[RunResult]] = {}
    for one in runs:
        arms.setdefault(one.arm, []).append(one)
    return {name: sorted(found, key=lambda item: item.pair) for name, found in arms.items()}


def _folders(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            raise UsageError(f"{path}: no such folder")
        if _is_run(path):
            yield path
        else:
            found = sorted(item.parent for item in path.rglob(CONFIG) if _is_run(item.parent))
            # A run may hold runs of its own, those of attacks on it.
            yield from (item for item in found if not any(map(_is_run, item.parents)))


def _is_run(folder: Path) -> bool:
    marks = (RUN, "final.json", METRICS)
    return (folder / CONFIG).is_file() and any((folder / name).exists() for name in marks)


def _point(record: Mapping[str, Any]) -> Point:
    return Point(
        int(record["step"]),
        Evaluation.read(record["deployed"]),
        Evaluation.read(record["as_trained"]),
    )


def _read_routed(record: Mapping[str, Any]) -> Routed:
    cells: Mapping[str, Mapping[str, Any]] = record.get("split") or {}
    return Routed(
        step=int(record["step"]),
        mass=float(record["mass"] or 0.0),
        active=int(record["active"]),
        kept_share=float(record["kept_share"]),
        energy_deployed=float(record.get("energy_deployed") or 0.0),
        energy_quarantine=float(record.get("energy_quarantine") or 0.0),
        split={
            name: (float(cell["count"]), float(cell["fraction"] or 0.0))
            for name, cell in cells.items()
        },
    )
