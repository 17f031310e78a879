"""What attackers of `track=harden role=attack` earn: trivial, shipped, strong, cheating.

    python benchmarks/tournament_attacks.py --draws 5 --odd-draws 2 --jobs 1 --save

The oracle, the cheats and the unusual right work are those of the tests (`attack_corpora`): the
oracle knows the leaks that a draw plants by name, and neither answers nor cases. Seeds are 101,
102, ... `--save` keeps the figures as `results/tournament_attacks.json`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "packages/contests/tests/reward_hacking/drawn"))

import attack_corpora

from measure import host, save
from tournament_headroom import measured
from unhack.tournament.contest import Files
from unhack.tournament.contests.registry import load_contest

_FIRST = 101
_OPTIONS = {"track": "harden", "role": "attack"}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--odd-draws", type=int, default=5, help="of cheats and unusual ones")
    parser.add_argument("--jobs", type=int, default=1, help="attackers measured at a time")
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    before = time.process_time() + sum(os.times()[2:4])
    kinds: dict[str, dict[str, Any]] = {}
    print("| kind | attacker | mean | smallest | largest | flags |\n|---|---|---|---|---|---|")
    draws = {"unusual": asked.odd_draws, "cheat": asked.odd_draws}
    work = [(kind, name, draws.get(kind, asked.draws)) for kind, name in entries()]
    with multiprocessing.get_context("spawn").Pool(asked.jobs) as pool:
        for (kind, name, _), row in zip(work, pool.imap(measured_entry, work), strict=True):
            kinds.setdefault(kind, {})[name] = row
            values, told = row["fitness"], ", ".join(row["flags"]) or "-"
            print(
                f"| {kind} | `{name}` | {row['mean']:.3f} | {min(values):.3f} | "
                f"{max(values):.3f} | {told} |",
                flush=True,
            )
    spent = time.process_time() + sum(os.times()[2:4]) - before
    figures = {**figures_of(kinds), "options": _OPTIONS, "kinds": kinds}
    print("\n" + ", ".join(f"{key}: {figures[key]}" for key in ("best", "of_oracle", "trivial")))
    print(f"{host()}; {spent:.0f} s of processor time in this process and its children")
    if asked.save:
        words = ["python", "benchmarks/tournament_attacks.py", *sys.argv[1:]]
        save("tournament_attacks", " ".join(words), figures)


def entries() -> dict[tuple[str, str], Files]:
    """Kind and name of each attacker -> its files."""
    own = load_contest("reward_hacking", _OPTIONS).submissions
    kinds = {
        "trivial": {"null": own.null(), "identity": own.identity()},
        "shipped": own.honest(),
        "oracle": {"oracle": attack_corpora.oracle()},
        "unusual": attack_corpora.unusual(),
        "cheat": attack_corpora.cheats(),
    }
    return {(kind, name): files for kind, some in kinds.items() for name, files in some.items()}


def measured_entry(work: tuple[str, str, int]) -> dict[str, Any]:
    """One attacker on several draws."""
    kind, name, draws = work
    contest = load_contest("reward_hacking", _OPTIONS)
    values, flags = measured(contest, entries()[kind, name], range(_FIRST, _FIRST + draws))
    fitness = [round(value, 4) for value in values]
    return {"mean": round(statistics.mean(values), 4), "fitness": fitness, "flags": flags}


def figures_of(kinds: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What the pages tell."""
    means = {
        kind: {name: row["mean"] for name, row in rows.items()} for kind, rows in kinds.items()
    }
    best = max(means["shipped"], key=means["shipped"].__getitem__)
    oracle = means["oracle"]["oracle"]
    return {
        "best": best, "oracle": oracle, "of_oracle": round(means["shipped"][best] / oracle, 4),
        "trivial": max(means["trivial"].values()), "cheats": len(means["cheat"]),
        "most_of_a_cheat": max(means["cheat"].values()), "unusual": len(means["unusual"]),
        "least_of_an_unusual": min(means["unusual"].values()),
    }  # fmt: skip


if __name__ == "__main__":
    main()
