"""The contest `scaling` with `service=trained`: what honest strategies reach, and its cases.

    python benchmarks/tournament_scaling.py [--worlds N] [--device cuda --size large] [--save]

Every honest strategy is measured in N worlds; then every cheat of the contest and every unusual
honest strategy of the tests is judged as a round does. `measured` is what the numbers alone would
have been credited, before the signs of evidence and of the scan.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "packages/contests/tests/corpus"))

import corpus
from packages.contests.tests.scaling.trained.unusual import UNUSUAL

from measure import save
from unhack.tournament.contest import Contest, DataPool, Files
from unhack.tournament.contests.registry import load_contest


def ladder(contest: Contest, worlds: int) -> list[dict[str, Any]]:
    """Each strategy's fitness and the bound in every world."""
    entries = {**contest.submissions.honest(), "mean (null)": contest.submissions.null()}
    found: list[dict[str, Any]] = []
    for name, files in entries.items():
        fitness: list[float] = []
        bounds: list[float] = []
        for seed in range(worlds):
            with tempfile.TemporaryDirectory() as place:
                folder = corpus.written(Path(place) / "submission", files)
                measured = contest.measure(folder, pool=DataPool.JUDGE, seed=seed)
            fitness.append(round(measured.fitness, 3))
            bounds.append(float(measured.metrics.get("attainable", np.nan)))
        mean, bound = float(np.mean(fitness)), float(np.nanmean(bounds))
        row = {"strategy": name, "fitness": fitness, "mean": round(mean, 3)}
        found.append({**row, "bound": round(bound, 3), "of_bound": round(mean / bound, 3)})
        print(found[-1], flush=True)
    return found


def cases(contest: Contest) -> list[dict[str, Any]]:
    """Each cheat, and each unusual honest strategy, as judged."""
    found: list[dict[str, Any]] = []
    honest: dict[str, Files] = {
        name: {path: text.encode() for path, text in files.items()}
        for name, files in UNUSUAL.items()
    }
    cheats = contest.submissions.cheats()
    for name, files in [*honest.items(), *((name, one.files) for name, one in cheats.items())]:
        with tempfile.TemporaryDirectory() as place:
            workspace = corpus.written(Path(place) / "workspace", files)
            word = corpus.ruled(contest, workspace, Path(place) / "store")
        row = {
            "case": name, "cheat": name in cheats, "measured": round(word.measured.fitness, 3),
            "credited": round(word.fitness, 3), "flags": sorted({f.kind for f in word.flags}),
            "expected": cheats[name].flag if name in cheats else "",
        }  # fmt: skip
        found.append({**row, "right": row["flags"] == [row["expected"]] * bool(row["expected"])})
        print(found[-1], flush=True)
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--worlds", type=int, default=4)
    parser.add_argument("--size", default="demo")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--record", default="", help="folder of finished runs, to go on with")
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    options = {"service": "trained", "size": given.size, "device": given.device}
    contest = load_contest("scaling", {**options, "record": given.record})
    judged, strategies = cases(contest), ladder(contest, given.worlds)
    figures: dict[str, Any] = {
        "size": given.size, "device": given.device,
        "ladder": strategies,
        "cheats": sum(row["cheat"] for row in judged),
        "unusual": sum(not row["cheat"] for row in judged),
        "judged_right": sum(row["right"] for row in judged),
        "cases": [list(row.values()) for row in judged],
    }  # fmt: skip
    print({key: value for key, value in figures.items() if key != "cases"})
    if given.save:
        words = f"--worlds {given.worlds} --size {given.size} --device {given.device}"
        save(
            "tournament_scaling", f"python benchmarks/tournament_scaling.py {words} --save", figures
        )


if __name__ == "__main__":
    main()
