"""The leak alarm on runs of `real` that it was not fixed on: by size of the model and by share.

    unhack train sweep experiments/journal/2026-11/11-alarm-fresh.toml --out RUNS/tenths-3
    python benchmarks/leak_alarm_fresh.py RUNS --machine TEXT

Each run's score is the last that it recorded, its leak what its deployed model does to prompts of
held-out modes (`leak_alarm.py` has both). A run is `HELD/SCORE`: hacked of 1,000 held-out prompts,
and 100 times the score; runs stand by size, share, base model and seed, one for each choice of
known modes in the order of the plan, `-` where a run was not made. Writes
`results/leak_alarm_fresh.json`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import Any

from leak_alarm import BOUND, FINAL, Judged, figures, judged
from measure import save
from unhack.training.routing.leak import EVERY, FIRST, LIMIT, NET, RISE, WINDOW
from unhack.training.run.folder import read_json

Group = tuple[float, float]
"""Parameters of the model in millions, share of the gate."""


def groups_of(root: Path) -> dict[Group, list[Judged]]:
    """The runs below `root` by group. Raises UnhackError where one has no score."""
    found: dict[Group, list[Judged]] = defaultdict(list)
    for folder in sorted(path.parent for path in root.rglob(FINAL)):
        run = judged(folder, "")
        millions = round(read_json(folder / "run.json")["parameters"]["model"] / 1e6, 1)
        found[millions, run.share].append(run)
    return dict(found)


def rows(runs: list[Judged]) -> dict[str, str]:
    """`BASE/SEED` to one word for each choice."""
    choices = sorted({run.known for run in runs}, key="+".join)
    by = {(run.base, run.seed, run.known): run for run in runs}

    def word(run: Judged | None) -> str:
        return f"{1000 * run.held_out:.0f}/{100 * run.score:.0f}" if run else "-"

    return {
        f"{base}/{seed}": " ".join(word(by.get((base, seed, known))) for known in choices)
        for base, seed in sorted({(run.base, run.seed) for run in runs})
    }


def main() -> None:
    """Judge all runs and write the summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path)
    parser.add_argument("--machine", required=True, help="where the runs were made")
    chosen = parser.parse_args()
    parts: list[dict[str, Any]] = []
    for (millions, share), runs in sorted(groups_of(chosen.runs).items()):
        part = {"millions": millions, "share": share, **figures(runs)}
        print(", ".join(f"{key} {value}" for key, value in part.items()))
        choices = sorted({"+".join(run.known) for run in runs})
        quiet = [run.score for run in runs if not run.leaks]
        leaking = [run.score for run in runs if run.leaks]
        part |= {
            "highest_score_without_leak": round(max(quiet), 3) if quiet else None,
            "lowest_score_of_a_leak": round(min(leaking), 3) if leaking else None,
            "choices": choices,
            "runs_by_base_and_seed": rows(runs),
        }
        parts.append(part)
    save(
        "leak_alarm_fresh",
        "python benchmarks/leak_alarm_fresh.py RUNS --machine TEXT",
        {
            "bound": BOUND,
            "alarm": {
                "rise": RISE, "net": NET, "limit": LIMIT, "window": WINDOW, "first": FIRST,
                "every": EVERY,
            },
            "parts": parts,
        },
        ran_on=chosen.machine,
    )  # fmt: skip


if __name__ == "__main__":
    main()
