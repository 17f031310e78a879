r"""Mathematical answers to published problems: right ones accepted, near-misses paid.

python benchmarks/math_answers.py FOLDER [--per-set 60] [--variants 6] [--seed 36] [--list]

FOLDER holds the data sets as their publishers or evaluation harnesses lay them out, one JSON Lines
file each (`gsm8k.jsonl`, `math.jsonl`, …; `SETS` names files and columns); one that is absent is
named and left out. Of each set golds are drawn, read by `read_gold`, and written in other ways
(`math_variants.py`): equal ones, which must be accepted, and near-misses, which must not be paid.
Each is judged as `\boxed{…}` by the check `math`, and by math-verify alone.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import math_variants
from measure import save
from unhack.core.errors import BatchUnscoredError
from unhack.core.problem import Problem
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers.answers.gold import GoldError, read_gold
from unhack.verifiers.text import AnswerCheck, TextVerifier

SETS = {
    "gsm8k": "answer",
    "math": "solution",
    "minerva_math": "solution",
    "olympiadbench": "final_answer",
    "college_math": "answer",
    "gaokao2023en": "answer",
    "carp_en": "answer",
    "aime24": "answer",
    "amc23": "answer",
    "asdiv": "answer",
    "svamp": "Answer",
}
MAX_GOLD_CHARS = 120
PEER_SECONDS = 60
"""Longest parsing and comparing by math-verify, whose own limits a busy machine would exceed."""


@dataclass(frozen=True)
class Trial:
    """One answer to one gold answer."""

    gold: str
    answer: str
    rule: str
    right: bool


def golds_of(path: Path, column: str, wanted: int, rng: random.Random) -> Iterator[str | GoldError]:
    """Golds of a file, drawn without repeats; an error for one that cannot be read."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    values = list({json.dumps(row.get(column)): row.get(column) for row in rows}.values())
    rng.shuffle(values)
    for value in values[:wanted]:
        try:
            gold = read_gold(value)
        except GoldError as error:
            yield error
        else:
            if len(gold) <= MAX_GOLD_CHARS:
                yield gold


def trials_of(gold: str, most: int, rng: random.Random) -> Iterator[Trial]:
    """At most `most` equal and `most` wrong answers."""
    for right, rules in ((True, math_variants.EQUAL), (False, math_variants.NEAR)):
        made = math_variants.variants(gold, rules)
        for rule, text in rng.sample(made, min(most, len(made))):
            yield Trial(gold, text, rule, right)


def completion(answer: str) -> str:
    return f"So the result is \\boxed{{{answer}}}"


def ours(gold: str, trials: list[Trial], pool: Pool) -> list[float | None]:
    task = Task(Problem("gold", "", answer=gold), TextVerifier(AnswerCheck.MATH))
    texts = [completion(trial.answer) for trial in trials]
    try:
        batch = run_batch(task, texts, backend=pool)
    except BatchUnscoredError as error:
        batch = error.batch
    return [verdict.score for verdict in batch.verdicts]


def alone(gold: str, trials: list[Trial]) -> list[float | None]:
    """math-verify with its defaults: the gold as LaTeX, the answer as the model's text."""
    from math_verify import parse, verify

    expected = parse(f"${gold}$", parsing_timeout=PEER_SECONDS)
    parsed = (parse(completion(trial.answer), parsing_timeout=PEER_SECONDS) for trial in trials)
    return [float(verify(expected, item, timeout_seconds=PEER_SECONDS)) for item in parsed]


def measure(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    pool = Pool(slots=options.slots)
    for name, column in SETS.items():
        path = folder / f"{name}.jsonl"
        if not path.exists():
            print(f"{name}: left out, {path} is absent")
            continue
        figures[name] = measure_set(path, column, options, pool)
        print(json.dumps({name: figures[name]}), flush=True)
    return figures


def measure_set(path: Path, column: str, options: argparse.Namespace, pool: Pool) -> dict[str, Any]:
    rng = random.Random(f"{options.seed} {path.stem}")
    counts: Counter[str] = Counter()
    unread: list[str] = []
    for gold in golds_of(path, column, options.per_set, rng):
        if isinstance(gold, GoldError):
            unread.append(str(gold))
            continue
        trials = list(trials_of(gold, options.variants, rng))
        if not trials:
            continue
        counts["golds"] += 1
        peer = [None] * len(trials) if options.ours_only else alone(gold, trials)
        scores = ours(gold, trials, pool), peer
        for trial, one, other in zip(trials, *scores, strict=True):
            kind = "equal" if trial.right else "near"
            counts[kind] += 1
            counts[f"{kind} paid, ours"] += one == 1.0
            if other is not None:
                counts[f"{kind} paid, math-verify"] += other == 1.0
            counts["unscored"] += one is None
            if options.list and (one != float(trial.right) or options.list == "both"):
                print(f"  {kind:5} {trial.rule:24} {gold!r} | {trial.answer!r} {one} {other}")
    return {**counts, "unread": len(unread)}


def totals(figures: dict[str, Any]) -> dict[str, Any]:
    summed: Counter[str] = Counter()
    for counts in figures.values():
        summed.update(counts)
    shares = {
        f"{kind}, {who}, %": round(100 * summed[f"{kind} paid, {who}"] / max(summed[kind], 1), 2)
        for kind in ("equal", "near")
        for who in ("ours", "math-verify")
        if f"{kind} paid, {who}" in summed
    }
    return {**summed, **shares}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--per-set", type=int, default=60)
    parser.add_argument("--variants", type=int, default=6)
    parser.add_argument("--seed", type=int, default=36)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--list", nargs="?", const="ours", help="print what was judged wrongly")
    parser.add_argument("--ours-only", action="store_true", help="leave math-verify out")
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    start = time.perf_counter()
    figures = measure(options.folder, options)
    figures["all"] = totals(figures)
    figures["seconds"] = round(time.perf_counter() - start)
    print(json.dumps(figures["all"], indent=1), figures["seconds"], "s")
    if options.save:
        command = f"python benchmarks/math_answers.py FOLDER --per-set {options.per_set}"
        save("math_answers", command, figures)


if __name__ == "__main__":
    main()
