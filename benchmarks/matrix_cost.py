"""What routing and dropping cost: seconds of a step by arm, of runs that were made side by side.

    python benchmarks/matrix_cost.py RUNS/large --machine TEXT

A run's figure is the median of its steps, an arm's the median of its runs; `whole` has sampling and
judging in it, `update` has not. Runs that shared a device with unlike neighbours are noisy: compare
arms that have many. Writes `results/train_matrix_cost.json`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

from measure import save, table
from unhack.training.experiment.results import read_runs
from unhack.training.run.folder import METRICS, read_lines


def costs(folder: Path) -> list[dict[str, Any]]:
    """A row for each arm, with ratios to plain training."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for run in read_runs([folder])[0]:
        steps = read_lines(Path(run.folder) / METRICS)
        whole, update = (
            median(float(step[name]) for step in steps) for name in ("seconds", "seconds_update")
        )
        found[run.arm].append((whole, update))
    medians = {
        arm: (median(whole for whole, _ in runs), median(update for _, update in runs))
        for arm, runs in found.items()
    }
    plain = medians["vanilla"]
    return [
        {
            "arm": arm,
            "runs": len(found[arm]),
            "whole_s": round(whole, 3),
            "update_s": round(update, 3),
            "whole_ratio": round(whole / plain[0], 2),
            "update_ratio": round(update / plain[1], 2),
        }
        for arm, (whole, update) in sorted(medians.items())
    ]


def main() -> None:
    """Read, write, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path)
    parser.add_argument("--machine", required=True, help="where these runs were made")
    chosen = parser.parse_args()
    rows = costs(chosen.runs)
    figures = {"arms": table(rows, tuple(rows[0]))}
    command = "python benchmarks/matrix_cost.py RUNS/large --machine TEXT"
    save("train_matrix_cost", command, figures, ran_on=chosen.machine)
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
