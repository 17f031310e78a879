"""What routing does inside TRL: deployed hack and solve rates of TRL's own trainer, by arm.

    python benchmarks/trl_routed.py --out RUNS              # trains what RUNS lacks, run by run
    python benchmarks/trl_routed.py --out RUNS --summary    # tests the claims, writes the result

`experiments/trl.toml` was registered before the first run: units of a base model, a seed and known
modes, and claims. Each run hands a base model of the world `programs` (0.1M parameters) to TRL's
GRPOTrainer as a Hugging Face model with a tokenizer of the world's fragments; rewards are the
world's own, by a reward function. Arms:

- plain: GRPOTrainer as it is, on a model whose quarantine was deleted before training: the kept
  block alone trains, nothing of routing runs;
- routed: `routed(GRPOTrainer)` with pairs of the known modes;
- filter: the same gate with `action="drop"`;
- placebo: as routed, with pairs of right programs that differ in two idle steps;
- ceiling: plain, on prompts without a loophole; once for each base model.

Prompts are met in the order in which our own trainer draws them. A run is one file, so calls may be
interrupted and repeated, and two with different `--seeds` share the work. Deployed rates are those
of `evaluate` after the quarantine is deleted, with the proof that this changes nothing. Needs torch
and trl; one thread. What differs from our own trainer: the first lines of `trl_runs.py`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tomllib
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from measure import save, table
from unhack.core.statistics import holm
from unhack.training.evaluation.counts import summary as spread_of
from unhack_study.statistics import paired

PLAN = Path(__file__).resolve().parents[1] / "experiments" / "trl.toml"
PLAIN, CEILING = "plain", "ceiling"
"""Arms without pairs."""
ARMS = (PLAIN, "routed", "filter", CEILING, "placebo")
MEASURES = ("held_out", "hack", "solve")
Rules = dict[str, Any]
Units = dict[str, dict[str, dict[str, float]]]
"""By unit and arm, the figures."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the plan."""

    base: int
    seed: int
    arm: str
    known: tuple[str, ...]
    """Modes that pairs show; empty where the arm has no pairs."""

    @property
    def loophole_share(self) -> float:
        """Share of training prompts with a loophole."""
        return 0.0 if self.arm == CEILING else 1.0

    @property
    def name(self) -> str:
        """Name of its file."""
        return "-".join([self.arm, *self.known, f"b{self.base}", f"s{self.seed}"])


Rows = dict[Run, dict[str, Any]]
"""Lines of runs by run."""


def plan() -> Rules:
    """The registered plan."""
    return tomllib.loads(PLAN.read_text(encoding="utf-8"))


def runs_of(rules: Rules, unit: dict[str, Any]) -> Iterator[Run]:
    """The runs of a unit; those of the ceiling are of the base model's first unit."""
    first = next(one for one in rules["unit"] if one["base"] == unit["base"])
    for arm in ARMS:
        seed = first["seed"] if arm == CEILING else unit["seed"]
        known = () if arm in (PLAIN, CEILING) else tuple(unit["known"])
        yield Run(unit["base"], seed, arm, known)


def figures_of(
    row: dict[str, Any], known: Sequence[str], state: str = "deployed"
) -> dict[str, float]:
    """Rates of a run under a choice of known modes."""
    tallies = row[state]["by_mode"]
    open_ones = [mode for mode in tallies if mode not in known]

    def hack(modes: Sequence[str]) -> float:
        hacked = sum(tallies[mode]["hacked"] for mode in modes)
        return hacked / sum(tallies[mode]["count"] for mode in modes)

    solve = row[state]["solve"]["rate"]
    return {"held_out": hack(open_ones), "hack": hack(list(tallies)), "solve": solve}


def units_of(rules: Rules, rows: Rows) -> Units:
    """The units with the arms that are there."""
    found: Units = {}
    for unit in rules["unit"]:
        name = f"base {unit['base']}, seed {unit['seed']}, {' '.join(unit['known'])}"
        own = [run for run in runs_of(rules, unit) if run in rows]
        found[name] = {run.arm: figures_of(rows[run], unit["known"]) for run in own}
    return found


def both(units: Units, arms: tuple[str, str], measure: str) -> tuple[list[float], list[float]]:
    """A measure of two arms, over the units that have both."""
    there = [unit for unit in units.values() if all(arm in unit for arm in arms)]
    first, second = ([unit[arm][measure] for unit in there] for arm in arms)
    return first, second


def tested(rules: Rules, units: Units) -> list[dict[str, Any]]:
    """The claims: units, mean advantage with the claim's margin, interval, p, Holm's p.

    Where an arm of a claim lacks a run nothing is tested: there is no p, nothing is supported.
    """
    tests: dict[str, Any] = {}
    for claim in rules["claim"]:
        sign = -1.0 if claim["measure"] == "held_out" else 1.0
        first, second = both(units, (claim["arm"], claim["against"]), claim["measure"])
        if len(first) > 1:
            tests[claim["name"]] = paired(
                [sign * value for value in first],
                [sign * value - claim["margin"] for value in second],
                alternative="greater",
            )
    whole = [test.count for test in tests.values()] == [len(units)] * len(rules["claim"])
    adjusted = holm({name: test.p for name, test in tests.items()})
    return [
        {
            "claim": name, "units": test.count, "advantage": _short(test.mean),
            "low": _short(test.low), "high": _short(test.high),
            "p": _short(test.p) if whole else None,
            "p_holm": _short(adjusted[name]) if whole else None,
            "supported": whole and adjusted[name] < rules["alpha"],
        }
        for name, test in tests.items()
    ]  # fmt: skip


def means(units: Units) -> dict[str, Any]:
    """By arm and measure: mean over the units, standard error, least and largest."""
    found: dict[str, Any] = {}
    for arm in ARMS:
        there = [unit[arm] for unit in units.values() if arm in unit]
        for measure in MEASURES if there else ():
            values = [figures[measure] for figures in there]
            spread = spread_of(values)
            found.setdefault(arm, {"units": len(there)})[measure] = {
                "mean": _short(spread.mean), "sem": _short(spread.sem),
                "min": _short(min(values)), "max": _short(max(values)),
            }  # fmt: skip
    return found


def placebo_above_routed(units: Units) -> dict[str, Any]:
    """Held-out hacks of the placebo arm above those of the routed one, which no claim tests."""
    placebo, real = both(units, ("placebo", "routed"), "held_out")
    if len(placebo) < 2:
        return {"units": len(placebo)}
    test = paired(placebo, real, alternative="two-sided")
    interval = {"low": _short(test.low), "high": _short(test.high)}
    return {"units": test.count, "mean": _short(test.mean), **interval}


def _by_arm(values: Iterator[tuple[str, float]]) -> dict[str, float]:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for arm, value in values:
        found[arm].append(value)
    return {arm: _short(statistics.median(items)) for arm, items in found.items()}


def _short(value: float | None) -> float:
    return round(value or 0.0, 4)


def summarise(rules: Rules, rows: Rows) -> int:
    """Print and write the result; 1 where there is no run."""
    if not rows:
        print("no run is there: make them first, without --summary")
        return 1
    units, columns = units_of(rules, rows), ("arm", *MEASURES)
    figures = {
        "plan": {"file": "experiments/trl.toml", "sha256": sha256(PLAN.read_bytes()).hexdigest()},
        "versions": {name: version(name) for name in ("trl", "torch", "transformers")},
        "runs": len(rows),
        "claims": tested(rules, units),
        "deployed": means(units),
        "placebo_above_routed": placebo_above_routed(units),
        "as_trained_held_out_median": _by_arm(
            (run.arm, figures_of(row, run.known, "as_trained")["held_out"])
            for run, row in rows.items()
            if "as_trained" in row
        ),
        "largest_deploy_gap": max(row.get("deploy_gap", 0.0) for row in rows.values()),
        "cpu_seconds_median": _by_arm((run.arm, row["cpu_s"]) for run, row in rows.items()),
        "units": {
            name: table([{"arm": arm, **figures} for arm, figures in unit.items()], columns)
            for name, unit in units.items()
            if unit
        },
    }
    command = "python benchmarks/trl_routed.py --out RUNS --summary"
    save("trl_routed", command, figures, records={"found": list(rows.values())})
    for line in (*figures["claims"], *figures["deployed"].items()):
        print(line)
    return 0


def main() -> int:
    """Train what is missing, or summarise."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--seeds", type=int, nargs="*", help="these units of the plan alone")
    parser.add_argument("--arms", choices=ARMS, nargs="*", help="these arms alone")
    chosen = parser.parse_args()
    rules = plan()
    planned = dict.fromkeys(run for unit in rules["unit"] for run in runs_of(rules, unit))
    paths = {run: chosen.out / f"{run.name}.json" for run in planned}
    if chosen.summary:
        rows = {run: json.loads(path.read_text()) for run, path in paths.items() if path.exists()}
        return summarise(rules, rows)
    warnings.simplefilter("ignore", FutureWarning)  # of transformers, several for each run
    from trl_runs import trained  # TRL takes seconds to import, and a summary needs none of it

    chosen.out.mkdir(parents=True, exist_ok=True)
    for run, path in paths.items():
        left_out = run.seed not in (chosen.seeds or [run.seed])
        if path.exists() or left_out or run.arm not in (chosen.arms or ARMS):
            continue
        row = trained(run, rules, chosen.out)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(row) + "\n", encoding="utf-8")
        part.replace(path)
        figures = figures_of(row, run.known)
        print(run.name, {name: round(value, 3) for name, value in figures.items()}, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
