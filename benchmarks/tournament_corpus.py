"""What each defence of the tournament's judge buys: the corpus on it and on a judge that trusts.

    python benchmarks/tournament_corpus.py [--contest NAME ...] [--jobs N] [--save]

Every submission is also given to `naive_judge`, which has the same interface and none of the
defences; the table shows what that believes, the raw measurement and the credited one. With
`--contest` the rows of other contests are those of the full record of the last run here. `--save`
writes the results and docs/reference/judged-cheats.md. Submissions are judged N at a time,
those that are measured in seconds one at a time.
"""

from __future__ import annotations

import argparse
import functools
import math
import multiprocessing
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "packages/contests/tests/corpus"))

import corpus

import corpus_page
from measure import full_record, save
from naive_judge.quantization import NaiveQuantization
from naive_judge.runner import Naive


def titles(name: str) -> list[str]:
    """Every submission of a contest."""
    contest = corpus.contest_named(name)
    honest = [f"honest {key}" for key in contest.submissions.honest()]
    return [*honest, "null", "identity", *(f"cheat {key}" for key in contest.submissions.cheats())]


def judged(work: tuple[str, str]) -> dict[str, Any]:
    """One submission of a contest on both judges."""
    name, title = work
    contest, naive = judges(name)
    kind, _, key = title.partition(" ")
    cheat = contest.submissions.cheats()[key] if kind == "cheat" else None
    if cheat:
        files = cheat.files
    elif kind == "honest":
        files = contest.submissions.honest()[key]
    else:
        files = contest.submissions.null() if kind == "null" else contest.submissions.identity()
    with tempfile.TemporaryDirectory() as place:
        workspace = corpus.written(Path(place) / "workspace", files)
        word = corpus.ruled(contest, workspace, Path(place) / "store")
    return {
        "contest": name,
        "submission": title,
        "naive": finite(naive.fitness(files).fitness),
        "raw": round(word.measured.fitness, 4),
        "credited": round(word.fitness, 4),
        "flags": sorted({flag.kind for flag in word.flags}),
        "defences": sorted({flag.source for flag in word.flags}),
        "expected": cheat.flag if cheat else "",
    }


@functools.cache
def judges(name: str) -> tuple[Any, Any]:
    """The judge of a contest and the one that trusts."""
    contest = corpus.contest_named(name)
    return contest, NaiveQuantization(contest) if name == "quantization" else Naive(name)


def table_of(names: list[str], *, jobs: int) -> list[dict[str, Any]]:
    """All rows, in order; each is printed as it comes."""
    found: list[dict[str, Any]] = []
    for together in (True, False):
        chosen = [name for name in names if judges(name)[0].exclusive is not together]
        work = [(name, title) for name in chosen for title in titles(name)]
        context = multiprocessing.get_context("spawn")
        with context.Pool(jobs if together else 1, one_thread) as pool:
            for row in pool.imap(judged, work):
                found.append(row)
                print(line(row), flush=True)
    return found


def one_thread() -> None:
    """Workers share the processors."""
    torch.set_num_threads(1)


def finite(fitness: float) -> float | None:
    """What the trusting judge believes, as JSON can hold it; None: no number."""
    return round(fitness, 4) if math.isfinite(fitness) else None


def line(row: dict[str, Any]) -> str:
    """A row for people."""
    why = ", ".join(row["flags"]) or ("worth 0" if row["raw"] == 0 else "")
    naive = math.nan if row["naive"] is None else row["naive"]
    return (
        f"{row['contest']:14} {row['submission']:30} {naive:8.3f} {row['raw']:9.3f} "
        f"{row['credited']:9.3f}  {why} [{', '.join(row['defences'])}]"
    )


def bought(table: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """For each defence: cheats it flags, those that it alone flags, and those of them that win on
    the naive judge: no honest entry of the contest has more fitness there."""
    best: dict[str, float] = defaultdict(float)
    for row in table:
        if row["submission"].startswith("honest "):
            best[row["contest"]] = max(best[row["contest"]], row["naive"] or 0.0)
    found: dict[str, dict[str, int]] = defaultdict(
        lambda: {"flagged": 0, "alone": 0, "would_win": 0}
    )
    for row in table:
        if not row["submission"].startswith("cheat "):
            continue
        for defence in row["defences"]:
            entry = found[defence]
            entry["flagged"] += 1
            entry["alone"] += len(row["defences"]) == 1
            entry["would_win"] += (row["naive"] or 0.0) >= best[row["contest"]]
    return dict(found)


def main() -> None:
    """Judge, print, and with `--save` store the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contest", action="append", choices=list(corpus.CONTESTS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", action="store_true")
    chosen = parser.parse_args()
    names = chosen.contest or list(corpus.CONTESTS)
    stored = (full_record("tournament_corpus") or {"rows": []})["rows"]
    if chosen.save and chosen.contest and not stored:
        parser.error("no full record here for the other contests: save without --contest")
    print(f"{'contest':14} {'submission':30} {'naive':>8} {'raw':>9} {'credited':>9}  flags")
    table: list[dict[str, Any]] = [row for row in stored if row["contest"] not in names]
    table += table_of(names, jobs=chosen.jobs)
    summary = bought(table)
    for defence, entry in sorted(summary.items(), key=lambda item: -item[1]["flagged"]):
        print(
            f"{defence:15} flags {entry['flagged']:3} cheats, {entry['alone']:3} alone, "
            f"{entry['would_win']:3} that win without defences ({corpus_page.DEFENCES[defence]})"
        )
    if chosen.save:
        command = "python benchmarks/tournament_corpus.py --save"
        figures = {**corpus_page.short(table), "defences": summary}
        save("tournament_corpus", command, figures, records={"rows": table})
        text = corpus_page.page({"command": command, **figures}, table)
        corpus_page.PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
