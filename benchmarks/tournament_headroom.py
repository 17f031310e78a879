"""The room that a contest leaves above the strategies that ship with it.

    python benchmarks/tournament_headroom.py reward_hacking track=detect --draws 5

For each strategy the fitness on several draws of the judge's data: mean, smallest and largest, and
what part of the bound the mean is. The last line names the best strategy. Rows are a table of
Markdown. The seeds are 101, 102, ... `--save` keeps them as `results/tournament_headroom.json`.
`--at METHOD=elimination ROWS=12` measures one point of the space that `search` varies besides; what
is not given is the contest's default.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import host, save
from unhack.core.errors import UsageError
from unhack.tournament.contest import Contest, DataPool, Files
from unhack.tournament.contests.registry import load_contest

_FIRST = 101


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("contest")
    parser.add_argument("options", nargs="*", help="KEY=VALUE")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--first", type=int, default=_FIRST, help="seed of the first draw")
    parser.add_argument("--bound", type=float, default=1.0)
    parser.add_argument("--only", nargs="*", help="strategies to measure; all unless given")
    parser.add_argument("--at", nargs="*", help="KEY=VALUE: one more, a point of the search space")
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    contest = load_contest(asked.contest, dict(text.split("=", 1) for text in asked.options))
    entries = {"null": contest.submissions.null(), **contest.submissions.honest()}
    chosen = list(entries) if asked.only is None else asked.only
    if asked.at:
        entries[" ".join(asked.at)] = point(contest, asked.at)
        chosen = [*chosen, " ".join(asked.at)]
    seeds = range(asked.first, asked.first + asked.draws)
    before = time.process_time() + sum(os.times()[2:4])
    print(
        "| strategy | mean | smallest | largest | of the bound | flags |\n|---|---|---|---|---|---|"
    )
    means: dict[str, float] = {}
    rows: dict[str, dict[str, Any]] = {}
    for name in chosen:
        values, flags = measured(contest, entries[name], seeds)
        means[name] = statistics.mean(values)
        rows[name] = {"fitness": [round(value, 4) for value in values], "flags": flags}
        print(
            f"| `{name}` | {means[name]:.3f} | {min(values):.3f} | {max(values):.3f} | "
            f"{means[name] / asked.bound:.2f} | {', '.join(flags) or '-'} |",
            flush=True,
        )
    best = max(means, key=means.__getitem__)
    spent = time.process_time() + sum(os.times()[2:4]) - before
    print(f"\nbest: {best}, {means[best] / asked.bound:.2f} of the bound")
    print(f"{host()}; {spent:.0f} s of processor time in this process and its children")
    if asked.save:
        words = ["python", "benchmarks/tournament_headroom.py", *sys.argv[1:]]
        figures = {
            "contest": asked.contest, "options": asked.options, "bound": asked.bound,
            "strategies": rows, "best": best, "of_bound": round(means[best] / asked.bound, 4),
        }  # fmt: skip
        save("tournament_headroom", " ".join(words), figures)


def point(contest: Contest, words: list[str]) -> Files:
    """The submission with these `KEY=VALUE` settings of the search space. Raises UsageError."""
    chosen: dict[str, float | int | str] = {}
    known = {parameter.name: parameter.choices for parameter in contest.submissions.space}
    for key, text in (word.split("=", 1) for word in words):
        found = [choice for choice in known.get(key, ()) if str(choice) == text]
        if not found:
            raise UsageError(f"{key}={text} is no choice: {known.get(key) or list(known)}")
        chosen[key] = found[0]
    return contest.submissions.at(chosen)


def measured(contest: Contest, files: Files, seeds: range) -> tuple[list[float], list[str]]:
    """Fitness on each draw, and every flag."""
    values: list[float] = []
    flags: set[str] = set()
    for seed in seeds:
        with tempfile.TemporaryDirectory() as name:
            for path, data in files.items():
                (Path(name) / path).write_bytes(data)
            found = contest.measure(Path(name), pool=DataPool.JUDGE, seed=seed)
        values.append(found.fitness if found.valid else 0.0)
        flags |= {flag.kind for flag in found.flags} | (set() if found.valid else {"invalid"})
    return values, sorted(flags)


if __name__ == "__main__":
    main()
