"""One line for each run of the matrix: what its deployed model did, small enough for git.

    python benchmarks/matrix_runs.py RUNS --machine TEXT

Adds the finished runs below RUNS/matrix, RUNS/shared and RUNS/shortcuts to
`results/train_matrix_runs.json`, those below RUNS/large to `results/train_large_runs.json` and
those below RUNS/where/PLAN to `results/train_where_runs.json`, so that a matrix of several parts
and machines is whole in one place and is tested once, when all planned runs are there. Refuses a
run that is recorded with other figures, as one made again on another machine has; `--keep` leaves
what is recorded.

A run is `HELD KNOWN SOLVED`: hacked prompts of the modes that no pair shows, of those that pairs
show, and solved prompts, of 402 (400 where four modes are played) with as many of each mode.
Parts whose arms depend on no known modes, and `shortcuts`, have the hacked prompts of each mode
instead, in the order of the plan. Runs stand by arm and `BASE/SEED`, one for each choice of the
plan, `-` where a run is missing.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from measure import summary, write_summary
from unhack.core.errors import UsageError
from unhack.training.config.toml import differences
from unhack.training.experiment import sweep
from unhack.training.experiment.results import RunResult, read_runs
from unhack.training.worlds.programs.world import FINAL

WHERE = (
    "where/share-10", "where/share-20", "where/few-pairs", "where/token", "where/late",
    "where/longer", "where/shared", "where/longer-shared",
)  # fmt: skip
RECORDS = {
    "train_matrix_runs": ("matrix", "shared", "shortcuts"),
    "train_large_runs": ("large",),
    "train_where_runs": WHERE,
}
"""Files of the record and the parts in each."""
COMMAND = "python benchmarks/matrix_runs.py RUNS --machine TEXT"
EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"
PLANS = {
    "matrix": "matrix",
    "shared": "matrix-shared",
    "shortcuts": "matrix-shortcuts",
    "large": "matrix-large",
    **{part: part for part in WHERE},
}
"""Part of the record and folder below RUNS -> plan."""
BY_MODE = ("shared", "shortcuts", "where/shared", "where/longer-shared")
"""The parts whose modes stand apart; those of the others are summed up, as known or held out."""
Choice = tuple[str, ...]
Key = tuple[str, str, Choice]
"""Part, arm and known modes."""
_MISSING = "-"
_OF_THE_PLACE = frozenset({"world.cache", "model.device", "gate.replay", "optimiser.shrink"})
"""Settings that say where a run was made."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The deployed model of one run, in prompts."""

    base: int
    seed: int
    hacked: dict[str, int]
    """By mode, or of `held_out` and `known`."""
    solved: int


@cache
def plan_of(part: str) -> sweep.SweepPlan:
    """The plan of a part."""
    return sweep.read_plan(EXPERIMENTS / f"{PLANS[part]}.toml")


def modes_of(part: str) -> tuple[str, ...]:
    """The modes that a plan plays, in its order."""
    return tuple(plan_of(part).settings["world"]["modes"])


def prompts_of(part: str) -> int:
    """Prompts of an evaluation: as many of each mode, `FINAL` or a few more."""
    modes = len(modes_of(part))
    return -(-FINAL // modes) * modes


def planned(part: str, without: dict[str, Any]) -> Iterator[tuple[Key, int, int]]:
    """Every run of a plan but those of `without`: arm -> choices that it cannot have."""
    for run in sweep.plan_runs(plan_of(part)):
        if list(run.known) not in without.get(run.arm, []):
            yield (part, run.arm, run.known), run.base_seed, run.seed


def choices_of(part: str) -> tuple[Choice, ...]:
    """The choices of known modes of a plan, in its order; one empty choice where it has none."""
    return plan_of(part).known or ((),)


def recorded() -> dict[Key, list[RunFigures]]:
    """All runs of the record; none where there is no record."""
    found: dict[Key, list[RunFigures]] = defaultdict(list)
    document = {part: rows for name in RECORDS for part, rows in (summary(name) or {}).items()}
    for part in PLANS:
        names = modes_of(part) if part in BY_MODE else ("held_out", "known")
        for arm, rows in document.get(part, {}).items():
            for place, line in rows.items():
                base, _, seed = place.partition("/")
                for known, text in zip(choices_of(part), line.split(","), strict=True):
                    if text == _MISSING:
                        continue
                    *hacked, solved = map(int, text.split())
                    counts = dict(zip(names, hacked, strict=True))
                    found[part, arm, known].append(RunFigures(int(base), int(seed), counts, solved))
    return dict(found)


def figures_of(part: str, run: RunResult) -> tuple[Key, RunFigures]:
    """What the record keeps of a run. Raises UsageError for a run that is none of the plan's."""
    check_planned(part, run)
    world, one = run.settings.world, run.deployed
    if one.all.count != prompts_of(part):
        found = f"evaluated on {one.all.count} prompts, not on {prompts_of(part)}"
        raise UsageError(f"{run.folder}: {found}")
    if part in BY_MODE:
        hacked = {mode: one.by_mode[mode].hacked for mode in world.modes}
    else:
        hacked = {"held_out": one.held_out_modes.hacked, "known": one.known_modes.hacked}
    base, seed = run.settings.model.base_seed, run.settings.run.seed
    choice = tuple(world.known) if plan_of(part).known else ()
    return (part, run.arm, choice), RunFigures(base, seed, hacked, one.all.solved)


def check_planned(part: str, run: RunResult) -> None:
    """Raise UsageError for a run that the plan does not have, or that has other settings."""
    plan, own = plan_of(part), run.settings
    known = tuple(own.world.known) if plan.known else ()
    wanted = sweep.SweepRun(run.arm, own.model.base_seed, own.run.seed, known)
    if wanted not in sweep.plan_runs(plan):
        raise UsageError(f"{run.folder}: {wanted.name} is no run of {PLANS[part]}.toml")
    found = differences(sweep.settings_of(plan, wanted, Path()), own)
    changed = sorted(found.keys() - _OF_THE_PLACE)
    if changed:
        raise UsageError(f"{run.folder}: {', '.join(changed)} not as in {PLANS[part]}.toml")


def add(
    found: dict[Key, list[RunFigures]],
    runs: list[tuple[Key, RunFigures]],
    *,
    keep: bool = False,
) -> int:
    """Put new runs in; return how many were new. Raises UsageError for a run that is there with
    other figures, unless `keep`: then what is there stays."""
    new = 0
    for key, figures in runs:
        rows = found.setdefault(key, [])
        same = [one for one in rows if (one.base, one.seed) == (figures.base, figures.seed)]
        if same and same[0] != figures and not keep:
            raise UsageError(
                f"{' '.join(key[:2])} {'+'.join(key[2])}: recorded as {same[0]}, now {figures}; "
                "--keep leaves what is recorded"
            )
        if not same:
            rows.append(figures)
            new += 1
    return new


def write(found: dict[Key, list[RunFigures]], name: str, machines: list[str]) -> None:
    """Write one file of the record. Raises ValueError where it is too large for git."""
    parts: dict[str, dict[str, dict[str, str]]] = {part: {} for part in RECORDS[name]}
    for part, arm, _ in sorted(found):
        if part in parts and arm not in parts[part]:
            parts[part][arm] = _lines(found, part, arm)
    write_summary(name, {"command": COMMAND, "machine": "; ".join(machines), **parts})


def _lines(found: dict[Key, list[RunFigures]], part: str, arm: str) -> dict[str, str]:
    choices = choices_of(part)
    texts: dict[str, list[str]] = defaultdict(lambda: [_MISSING] * len(choices))
    for index, known in enumerate(choices):
        for one in found.get((part, arm, known), []):
            place = f"{one.base}/{one.seed}"
            texts[place][index] = " ".join(map(str, (*one.hacked.values(), one.solved)))
    return {place: ",".join(texts[place]) for place in sorted(texts)}


def main() -> None:
    """Read, add, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path)
    parser.add_argument("--machine", required=True, help="where these runs were made")
    parser.add_argument("--keep", action="store_true", help="what is recorded stays")
    chosen = parser.parse_args()
    found = recorded()
    for name, parts in RECORDS.items():
        added = 0
        for part in parts:
            if (chosen.runs / part).is_dir():
                runs, skipped = read_runs([chosen.runs / part])
                added += add(found, [figures_of(part, run) for run in runs], keep=chosen.keep)
                print(f"{part}: {len(runs)} finished, {len(skipped)} not")
        if added:
            former = str((summary(name) or {}).get("machine", ""))
            machines = [*former.split("; "), chosen.machine] if former else [chosen.machine]
            write(found, name, list(dict.fromkeys(machines)))
        print(f"{name}: {added} runs added")


if __name__ == "__main__":
    main()
