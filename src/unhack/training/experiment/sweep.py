"""Many runs from one plan: arms x base models x seeds, several at once, in OUT/ARM/bBASE-sSEED.

    arms = ["vanilla", "real", "replay"]
    seeds = 12                # or a list
    base_seeds = [0, 1, 2]
    known = [["run_tests", "sentinel"], ["run_tests", "exit_code"]]   # each with every arm and seed
    controls = true           # the default: a routed arm brings its controls
    jobs = 2
    keep_checkpoints = 1      # 0: all; thinned after the evaluation

    recipe = "top_rewarded"   # settings with a name; the bare defaults without it

    [settings.run]            # over those, for all arms
    steps = 300

    [settings.gate]           # over the defaults, for every arm with such a gate
    refresh = 2

    [arm.oracle.adapter]      # over the arm's own overrides, for it alone
    kind = "lora_split"

Covered: runs that need another run's record start after it; a finished run is not run again, an
interrupted one goes on; a run that fails or is killed loses no other; SIGINT ends the workers and
keeps what they have; a run that runs out of memory beside others, or that the kernel kills, is
tried again, with fewer at once from there on; one cache of verdicts for all runs; base models are
made before the runs.
Not covered: several machines (give each its own arms or seeds; `unhack train run` is one process
per run, so job arrays of Slurm or Ray tasks can take over).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from unhack.core.errors import UnhackError, UnknownNameError, UsageError
from unhack.training.config.retired import without_retired
from unhack.training.config.settings import Settings
from unhack.training.config.supported import recipe
from unhack.training.config.toml import (
    differences,
    first_fault,
    layer,
    override,
    read_settings,
    read_toml,
)
from unhack.training.experiment import arms
from unhack.training.experiment.plan_files import TABLE
from unhack.training.experiment.worker import DONE, OUT_OF_MEMORY, make_base, reason_of, work
from unhack.training.loop.session import has_ended
from unhack.training.run.folder import CONFIG, FREE

Tables = Mapping[str, Mapping[str, Any]]
State = Literal["waiting", "running", "done", "failed", "skipped", "interrupted"]
CACHE = "verdicts.sqlite"
"""In the folder of the sweep: the verdicts of all runs."""
_REPLAYED = {"replay": "gate.replay", "shrink": "optimiser.shrink"}


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The runs of a sweep.

    Example:

        plan = SweepPlan(arms=("vanilla", "real"), seeds=(0, 1, 2), jobs=2)
        sweep(plan, Path("out/sweep"))
    """

    arms: Annotated[tuple[str, ...], Field(min_length=1)]
    seeds: Annotated[tuple[int, ...], Field(min_length=1)]
    base_seeds: Annotated[tuple[int, ...], Field(min_length=1)] = (0,)
    known: tuple[tuple[str, ...], ...] = ()
    """Choices of the modes that pairs and detector know; empty: as the settings say."""
    controls: bool = True
    """True where routed arms bring their unnamed controls (`arms.controls_of`) along."""
    jobs: Annotated[int, Field(ge=1)] = 1
    """Runs at once, each on one thread."""
    devices: tuple[str, ...] = ()
    """Given to the jobs in turn; empty: as the settings say."""
    keep_checkpoints: Annotated[int, Field(ge=0)] = 0
    """Number of checkpoints left after the evaluation; 0: all."""
    curve_every: Annotated[int, Field(ge=1)] = 10
    """Completed updates between points of `curve.json`."""
    recipe: str = ""
    """Settings with a name (`config.supported`) below `settings`."""
    settings: Tables = field(default_factory=dict[str, Mapping[str, Any]])
    arm: Mapping[str, Tables] = field(default_factory=dict[str, Tables])


@dataclass(frozen=True, slots=True)
class SweepRun:
    """One run of a plan."""

    arm: str
    base_seed: int
    seed: int
    known: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its folder below OUT."""
        choice = f"-{'+'.join(self.known)}" if self.known else ""
        return f"{self.arm}/b{self.base_seed}-s{self.seed}{choice}"

    def of_arm(self, arm: str) -> SweepRun:
        """The run of another arm that pairs with it."""
        return replace(self, arm=arm)


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """State of a run of a sweep."""

    run: SweepRun
    state: State
    reason: str = ""
    seconds: float = 0.0


Watch = Callable[[Sequence[RunOutcome]], None]
"""Called with all runs whenever one of them changes."""


def read_plan(path: Path) -> SweepPlan:
    """A plan from TOML. Raises UsageError, UnknownNameError."""
    fields = read_toml(path)
    fields.pop(TABLE, None)  # the rules of the tests: the report reads them
    if isinstance(fields.get("settings"), dict):
        fields["settings"] = without_retired(fields["settings"], source=str(path))
    known = SweepPlan.__dataclass_fields__
    for name in fields:
        if name not in known:
            raise UnknownNameError("field of a plan", name, valid=known)
    for name in ("arms", "seeds"):
        if name not in fields:
            raise UsageError(f"{path}: {name} is missing")
    for name in ("seeds", "base_seeds"):
        if isinstance(fields.get(name), int):
            fields[name] = tuple(range(fields[name]))
    try:
        plan = TypeAdapter(SweepPlan).validate_python(fields)
    except ValidationError as error:
        raise UsageError(f"{path}: {first_fault(error)}") from error
    for name in plan.arm:
        arms.find_arm(name)
    runs = plan_runs(plan)
    for name in plan.arm:
        if all(run.arm != name for run in runs):
            raise UsageError(f"{path}: [arm.{name}] changes an arm that the plan does not run")
    for run in runs:
        settings_of(plan, run, path.parent)
    return plan


def plan_runs(plan: SweepPlan) -> list[SweepRun]:
    """The runs in the order in which they start; seed by seed, so that an interrupted sweep has
    whole seeds. Raises UnknownNameError, UsageError for an arm whose record no arm makes."""
    wanted = list(plan.arms)
    if plan.controls:
        wanted += [name for arm in plan.arms for name in arms.controls_of(arm)]
    ordered: list[str] = []
    for name in wanted:
        _place(name, wanted, ordered)
    return [
        SweepRun(arm, base_seed, seed, known)
        for seed in plan.seeds
        for base_seed in plan.base_seeds
        for known in plan.known or ((),)
        for arm in ordered
    ]


def settings_of(plan: SweepPlan, run: SweepRun, out: Path) -> Settings:
    """The settings of a run: defaults, the plan's, the arm's, the plan's for the arm."""
    below = layer(recipe(plan.recipe), plan.settings, source="[settings]")
    settings = arms.apply_arm(below, run.arm)
    settings = layer(settings, plan.arm.get(run.arm, {}), source=f"[arm.{run.arm}]")
    world: dict[str, Any] = {"cache": settings.world.cache or str(out / CACHE)}
    if run.known:
        world["known"] = list(run.known)
    own = {"run": {"seed": run.seed}, "model": {"base_seed": run.base_seed}, "world": world}
    settings = layer(settings, own, source=run.name)
    for needed in arms.find_arm(run.arm).needs:
        source = out / run.of_arm(needed).name
        settings = override(settings, {_replay_field(settings): str(source)})
    return settings


def sweep(
    plan: SweepPlan,
    out: Path,
    *,
    watch: Watch | None = None,
    only: Collection[SweepRun] | None = None,
) -> list[RunOutcome]:
    """Run what is not done yet; return the outcome of every run.

    `only`: leave the other runs of the plan out, but for records that these replay. A failed run is
    tried again by the next sweep. Raises KeyboardInterrupt on SIGINT after the workers are ended,
    UsageError.
    """
    out.mkdir(parents=True, exist_ok=True)
    board = _Board(plan, out, watch, _with_sources(plan_runs(plan), only))
    try:
        board.prepare()
        while board.start_ready():
            board.wait()
    finally:
        board.stop()
    return board.outcomes()


class _Board:
    """The board of runs and workers.

    Workers are processes of their own: what kills one leaves the others.
    """

    def __init__(
        self, plan: SweepPlan, out: Path, watch: Watch | None, runs: list[SweepRun]
    ) -> None:
        self.plan, self.out, self.watch, self.runs = plan, out, watch, runs
        self.found = {
            run: RunOutcome(run, _stored_state(out / run.name, settings_of(plan, run, out)))
            for run in self.runs
        }
        self.workers: dict[SweepRun, tuple[BaseProcess, float, int]] = {}
        self.jobs = plan.jobs
        """Runs at once; fewer after one ran out of memory."""

    def outcomes(self) -> list[RunOutcome]:
        """Outcomes in the order of the plan."""
        return [self.found[run] for run in self.runs]

    def prepare(self) -> None:
        """Make each base model once, before several runs would make it at the same time."""
        wanted = [run for run in self.runs if self.found[run].state == "waiting"]
        first = {run.base_seed: run for run in reversed(wanted)}
        for run in first.values():
            worker = _spawn(make_base, self._on_device(run, slot=0), self.out / run.name)
            try:
                worker.join()
            finally:
                _end(worker)
            if worker.exitcode:
                text = reason_of(self.out / run.name, worker.exitcode)
                raise UnhackError(f"the base model {run.base_seed} cannot be made: {text}")

    def start_ready(self) -> bool:
        """Start runs up to `jobs`; True while any is running."""
        for run in self.runs:
            if self.found[run].state != "waiting" or len(self.workers) >= self.jobs:
                continue
            sources = [run.of_arm(name) for name in arms.find_arm(run.arm).needs]
            states = {self.found[source].state for source in sources}
            if states & {"failed", "skipped"}:
                self._set(RunOutcome(run, "skipped", f"it replays {sources[0].name}, which failed"))
            elif states <= {"done"}:
                self._start(run)
        return bool(self.workers)

    def wait(self) -> None:
        """Wait until a worker ends."""
        ended = set(wait([worker.sentinel for worker, _, _ in self.workers.values()]))
        for run, (worker, began, _) in list(self.workers.items()):
            if worker.sentinel not in ended:
                continue
            worker.join()
            together = len(self.workers)
            del self.workers[run]
            self._set(self._ended(run, worker.exitcode, together, time.monotonic() - began))

    def _ended(
        self, run: SweepRun, exitcode: int | None, together: int, seconds: float
    ) -> RunOutcome:
        """Outcome of a run whose worker has ended beside `together` - 1 others."""
        if exitcode == 0:
            return RunOutcome(run, "done", seconds=seconds)
        text = reason_of(self.out / run.name, exitcode)
        if exitcode not in (OUT_OF_MEMORY, -signal.SIGKILL):
            return RunOutcome(run, "failed", text, seconds)
        if together > 1:
            self.jobs = min(self.jobs, together - 1)
            told = f"out of memory with {together} runs at once ({text.splitlines()[-1]}); "
            return RunOutcome(run, "waiting", f"{told}it goes on with {self.jobs} at a time")
        hint = "alone it has too little memory: set run.micro_batch, or rollouts.prompts lower"
        return RunOutcome(run, "failed", f"{hint} ({text})", seconds)

    def stop(self) -> None:
        """End the workers that are left; their runs go on from their checkpoints another time."""
        for run, (worker, began, _) in self.workers.items():
            _end(worker)
            self.found[run] = RunOutcome(run, "interrupted", seconds=time.monotonic() - began)
        self.workers.clear()

    def _start(self, run: SweepRun) -> None:
        taken = {slot for _, _, slot in self.workers.values()}
        slot = min(set(range(self.plan.jobs)) - taken)
        settings = self._on_device(run, slot=slot)
        finish = (run.arm, self.plan.curve_every, self.plan.keep_checkpoints)
        cores = _share(slot, self.plan.jobs)
        worker = _spawn(work, settings, self.out / run.name, *finish, cores)
        self.workers[run] = (worker, time.monotonic(), slot)
        self._set(RunOutcome(run, "running"))

    def _on_device(self, run: SweepRun, *, slot: int) -> Settings:
        settings = settings_of(self.plan, run, self.out)
        if not self.plan.devices:
            return settings
        device = self.plan.devices[slot % len(self.plan.devices)]
        return override(settings, {"model.device": device})

    def _set(self, outcome: RunOutcome) -> None:
        self.found[outcome.run] = outcome
        if self.watch is not None:
            self.watch(self.outcomes())


def _with_sources(runs: list[SweepRun], only: Collection[SweepRun] | None) -> list[SweepRun]:
    """The runs that are wanted and those whose record they replay, in order."""
    if only is None:
        return runs
    sources = {run.of_arm(name) for run in only for name in arms.find_arm(run.arm).needs}
    return [run for run in runs if run in only or run in sources]


def _place(name: str, wanted: Sequence[str], ordered: list[str]) -> None:
    """Append an arm after the arms it needs."""
    for needed in arms.find_arm(name).needs:
        if needed not in wanted:
            raise UsageError(f"arm {name} replays arm {needed}: put {needed} into the plan too")
        _place(needed, wanted, ordered)
    if name not in ordered:
        ordered.append(name)


def _replay_field(settings: Settings) -> str:
    """The field that takes the folder of the replayed run."""
    return _REPLAYED["replay" if settings.gate.kind == "replay" else "shrink"]


def _stored_state(folder: Path, settings: Settings) -> State:
    """A run is done once it is evaluated, the last thing that a worker does, unless its settings
    are others by now: then it is tried, which goes on or says what differs."""
    if not (folder / DONE).exists() or not has_ended(folder, settings):
        return "waiting"
    changed = differences(read_settings(folder / CONFIG), settings)
    return "done" if changed.keys() <= FREE else "waiting"


def _spawn(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    worker = multiprocessing.get_context("spawn").Process(target=target, args=arguments)
    worker.start()
    return worker


def _end(worker: BaseProcess, *, grace_s: float = 10.0) -> None:
    if worker.is_alive():
        worker.terminate()
        worker.join(grace_s)
    if worker.is_alive():
        worker.kill()
        worker.join()


def _share(slot: int, jobs: int) -> frozenset[int]:
    """The cores of a job: its part of those of this process, at least one. A run judges on as many
    workers as it has cores."""
    cores = sorted(os.sched_getaffinity(0))
    part = max(1, len(cores) // jobs)
    return frozenset(cores[(slot * part + place) % len(cores)] for place in range(part))
