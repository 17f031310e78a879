"""An experiment in figures: each arm's means over runs, and the claims where they are tested.

Covered: means and standard errors over runs of an arm (seeds x base models), by knob state and
mode; curves at the updates that all runs of an arm have; the routing record by thirds of training.
Not covered: pictures (`page`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from unhack.core.errors import UsageError
from unhack.training.config.toml import differences
from unhack.training.evaluation.counts import Evaluation, Summary, summary
from unhack.training.experiment.arms import CONTROLS, DEFAULT_ARM, all_arms
from unhack.training.experiment.report.claims import ClaimsReport, find_claims
from unhack.training.experiment.results import RunResult, by_arm, read_runs

FIGURES: Mapping[str, Callable[[Evaluation], float]] = {
    "hack": lambda found: found.hack,
    "hack_known": lambda found: found.known_modes.hack,
    "hack_held_out": lambda found: found.held_out_modes.hack,
    "solve": lambda found: found.solve,
    "parses": lambda found: found.parses,
    "figure": lambda found: found.figure,
}
THIRDS = ("first third", "middle third", "last third")
BUCKETS = 60
"""Points of a routing curve at most."""


@dataclass(frozen=True, slots=True)
class ModeSummary:
    """One mode in one arm."""

    mode: str
    known: bool
    hack: Summary
    """Deployed."""
    hack_as_trained: Summary
    solve: Summary
    """Deployed."""
    solve_as_trained: Summary


@dataclass(frozen=True, slots=True)
class ArmCurvePoint:
    """Means over runs after so many updates."""

    step: int
    deployed: Mapping[str, Summary]
    as_trained: Mapping[str, Summary]


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in a list."""

    folder: str
    """The last two parts of its path."""
    base: str
    seed: int
    step: int
    seconds: float
    command: str
    deployed: Mapping[str, float]
    relearn: Mapping[str, int | None]
    """Updates until the hack is back, by what was attacked; empty where nothing was."""


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """One arm over its runs."""

    name: str
    purpose: str
    settings: Mapping[str, str]
    """Settings that differ from the defaults and are alike in all runs."""
    deployed: Mapping[str, Summary]
    as_trained: Mapping[str, Summary]
    modes: tuple[ModeSummary, ...]
    mass_share: Summary | None
    """Routed mass over the mass of active rollouts; None where nothing was routed."""
    energy_share: Summary | None
    """Gradient energy of the quarantine over that of both blocks."""
    curve: tuple[ArmCurvePoint, ...]
    routing: tuple[tuple[int, float], ...]
    """(step, share of the active rollouts' mass that was routed), mean over runs."""
    split: Mapping[str, tuple[float | None, ...]]
    """Knob state, advantage sign and label -> mean f in each third of training."""
    runs: tuple[RunLine, ...]


@dataclass(frozen=True, slots=True)
class TrainingSummary:
    """Everything that the report of an experiment shows."""

    arms: tuple[ArmSummary, ...]
    base: Mapping[str, Summary]
    """The base model, from the beginning of all curves; empty where there is none."""
    modes: tuple[str, ...]
    known: tuple[str, ...]
    versions: Mapping[str, str]
    relearn: Mapping[str, float]
    """Updates and threshold of the relearning attack; empty where none was made."""
    skipped: Mapping[str, str]
    """Folder -> why it does not count."""
    tested: ClaimsReport | None = None
    """None where no tests of claims are installed."""

    @property
    def routed(self) -> str:
        """The arm that the others are compared with."""
        return DEFAULT_ARM if self.tested is None else self.tested.arm

    def record(self) -> dict[str, Any]:
        """As plain data."""
        adapter = TypeAdapter(TrainingSummary)
        found: Any = adapter.dump_python(self, mode="json", exclude={"tested"})
        tested: Mapping[str, Any] = {} if self.tested is None else self.tested.record
        return {**cast(dict[str, Any], found), **tested}

    def arm(self, name: str) -> ArmSummary | None:
        """An arm by its name."""
        return next((item for item in self.arms if item.name == name), None)


def summarise(paths: Sequence[Path], plan: Path | None = None) -> TrainingSummary:
    """Summary of all finished runs in folders; `plan` has the rules of the tests, by default that
    which lies beside the runs. Raises UsageError where there is no run."""
    claims = find_claims(needed_by="--plan" if plan is not None else "")
    runs, skipped = read_runs(paths)
    if not runs:
        first, why = next(iter(skipped.items()))
        raise UsageError(f"no finished run: {first}: {why}")
    arms = by_arm(runs)
    starts = [point.deployed for run in runs for point in run.curve if point.step == 0]
    sample = runs[0].deployed
    attacks = [run.relearn for run in runs if run.relearn]
    names = ("unhack", "torch", "python", "machine", "device", "world")
    return TrainingSummary(
        arms=tuple(_arm(name, arms[name]) for name in _ordered(arms)),
        base=_figures(starts) if starts else {},
        modes=tuple(sample.by_mode),
        known=sample.known,
        versions={name: _values(str(run.run.get(name, "")) for run in runs) for name in names},
        relearn={name: attacks[0][name] for name in ("updates", "threshold")} if attacks else {},
        skipped=skipped,
        tested=None if claims is None else claims.decide(arms, paths, plan),
    )


def _ordered(arms: Mapping[str, object]) -> list[str]:
    """Routed arm, controls, bounds, what people do instead, the rest."""
    known = [DEFAULT_ARM, *CONTROLS, "oracle", "detector_penalty", "detector", *all_arms()]
    return [name for name in dict.fromkeys([*known, *sorted(arms)]) if name in arms]


def _arm(name: str, runs: Sequence[RunResult]) -> ArmSummary:
    routed = any(run.mass > 0 for run in runs)
    first, arms = runs[0].deployed, all_arms()
    modes = [mode for mode in (*first.known, *first.held_out) if mode in first.by_mode]
    shared = {point.step for point in runs[0].curve}
    for run in runs:
        shared &= {point.step for point in run.curve}
    return ArmSummary(
        name=name,
        purpose=arms[name].purpose if name in arms else "",
        settings=_changed(runs),
        deployed=_figures([run.deployed for run in runs]),
        as_trained=_figures([run.as_trained for run in runs]),
        modes=tuple(_mode(mode, runs) for mode in modes),
        mass_share=summary([run.mass_share for run in runs]) if routed else None,
        energy_share=summary([_energy(run) for run in runs]) if routed else None,
        curve=tuple(_point(step, runs) for step in sorted(shared)),
        routing=tuple(_routing(runs)) if routed else (),
        split=_split(runs) if routed else {},
        runs=tuple(_line(run) for run in runs),
    )


def _figures(found: Sequence[Evaluation]) -> dict[str, Summary]:
    return {name: summary([take(item) for item in found]) for name, take in FIGURES.items()}


def _mode(mode: str, runs: Sequence[RunResult]) -> ModeSummary:
    return ModeSummary(
        mode=mode,
        known=mode in runs[0].deployed.known,
        hack=summary([run.deployed.by_mode[mode].hack for run in runs]),
        hack_as_trained=summary([run.as_trained.by_mode[mode].hack for run in runs]),
        solve=summary([run.deployed.by_mode[mode].solve for run in runs]),
        solve_as_trained=summary([run.as_trained.by_mode[mode].solve for run in runs]),
    )


def _point(step: int, runs: Sequence[RunResult]) -> ArmCurvePoint:
    points = [point for run in runs for point in run.curve if point.step == step]
    return ArmCurvePoint(
        step,
        _figures([point.deployed for point in points]),
        _figures([point.as_trained for point in points]),
    )


def _routing(runs: Sequence[RunResult]) -> Iterable[tuple[int, float]]:
    """Means over runs and over stretches of steps."""
    last = max((item.step for run in runs for item in run.gate), default=0)
    width = last // BUCKETS + 1
    sums: dict[int, tuple[float, int]] = {}
    for run in runs:
        for item in run.gate:
            mass, active = sums.get(item.step // width, (0.0, 0))
            sums[item.step // width] = mass + item.mass, active + item.active
    for bucket, (mass, active) in sorted(sums.items()):
        if active:
            yield bucket * width, mass / active


def _split(runs: Sequence[RunResult]) -> dict[str, tuple[float | None, ...]]:
    """Mean f of each cell in each third; None where a cell is empty."""
    sums: dict[str, list[tuple[float, float]]] = {}
    for run in runs:
        steps = max((item.step for item in run.gate), default=0) + 1
        for item in run.gate:
            third = min(2, 3 * item.step // steps)
            for cell, (count, fraction) in item.split.items():
                found = sums.setdefault(cell, [(0.0, 0.0)] * 3)
                total, mass = found[third]
                found[third] = total + count, mass + count * fraction
    return {
        cell: tuple(mass / total if total else None for total, mass in sums[cell])
        for cell in sorted(sums)
    }


def _energy(run: RunResult) -> float:
    quarantine = sum(item.energy_quarantine for item in run.gate)
    whole = quarantine + sum(item.energy_deployed for item in run.gate)
    return quarantine / whole if whole else 0.0


def _changed(runs: Sequence[RunResult]) -> dict[str, str]:
    """Settings other than the defaults, without those that differ from run to run, and without
    what changes no figure."""
    defaults = type(runs[0].settings)()
    first = differences(defaults, runs[0].settings)
    varied = {name for run in runs for name in differences(runs[0].settings, run.settings)}
    varied |= {"world.cache", "run.logger", "run.seed", "model.base_seed"}
    return {name: str(new) for name, (_, new) in first.items() if name not in varied}


def _line(run: RunResult) -> RunLine:
    base, seed = run.pair
    return RunLine(
        folder="/".join(Path(run.folder).parts[-2:]),
        base=base,
        seed=seed,
        step=run.step,
        seconds=run.seconds,
        command=str(run.run.get("command", "")),
        deployed={name: take(run.deployed) for name, take in FIGURES.items()},
        relearn=dict(run.relearn.get("steps", {})),
    )


def _values(found: Iterable[str]) -> str:
    return ", ".join(sorted({item for item in found if item})) or "not recorded"
