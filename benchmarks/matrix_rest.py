"""Make the planned runs of the matrix that the record lacks, on any machine.

    python benchmarks/matrix_rest.py RUNS --part PART ... [--jobs N] [--devices cuda:0 cuda:1]
    python benchmarks/matrix_runs.py RUNS --keep --machine TEXT

Runs go to RUNS/PART. What was made elsewhere need not be here: the record says what is missing, and
a run whose routing another one replays is made again for it where its folder is not here. The same
command goes on after an interruption. Without `--part` only says what is missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from matrix_runs import PLANS, plan_of, planned, recorded
from matrix_tests import rules_of
from unhack.training.experiment.sweep import RunOutcome, SweepRun, sweep


def missing_runs(part: str) -> list[SweepRun]:
    """The planned runs of a part that are not recorded."""
    runs = recorded()
    there = {(key, one.base, one.seed) for key, rows in runs.items() for one in rows}
    return [
        SweepRun(arm, base, seed, known)
        for (place, arm, known), base, seed in planned(part, rules_of("matrix")["without"])
        if ((place, arm, known), base, seed) not in there
    ]


def told(outcomes: Sequence[RunOutcome]) -> None:
    """A line for each run that ends."""
    done = [one for one in outcomes if one.state in ("done", "failed", "skipped")]
    if done:
        print(f"{len(done)} of {len(outcomes)} ended", flush=True)


def main() -> None:
    """Say what is missing, or make it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path)
    parser.add_argument("--part", nargs="+", choices=tuple(PLANS), default=[])
    parser.add_argument("--jobs", type=int, help="runs at once (default: as the plan says)")
    parser.add_argument("--devices", nargs="+", help="in turn (default: as the plan says)")
    chosen = parser.parse_args()
    if not chosen.part:
        for part in PLANS:
            print(f"{part}: {len(missing_runs(part))} missing")
    for part in chosen.part:
        plan = plan_of(part)
        plan = replace(
            plan,
            jobs=chosen.jobs or plan.jobs,
            devices=tuple(chosen.devices or plan.devices),
        )
        outcomes = sweep(plan, chosen.runs / part, watch=told, only=missing_runs(part))
        for one in outcomes:
            if one.state != "done":
                print(f"{one.run.name}: {one.state} {one.reason}")


if __name__ == "__main__":
    main()
