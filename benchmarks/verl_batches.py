"""Rollouts judged in verl's reward loop: singly, in verl's threads, and by the batching manager.

Each round judges the same number of fresh rollouts three ways, in turns, through verl's own loader
(`verl.trainer.ppo.reward.load_reward_manager`), in one process, without Ray actors:

    single    the plain function, one call after the other, as a script without concurrency calls it
    threads   verl's `naive` manager with the plain function: all rollouts at once, as many of them
              judged together as verl's thread pool has threads
    batches   `BatchedRewardManager`: all rollouts at once

Two kinds of rollouts: `quick` are all right programs of a few milliseconds of CPU, which two cores
cannot judge faster together than singly; of `hanging` every eighth waits without using the CPU
until its time limit of five seconds, which only calls that wait at the same time share.

    .venv/stacks/verl/bin/python benchmarks/verl_batches.py --rounds 3 --save
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from measure import save, show, spread

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
warnings.simplefilter("ignore")

from verl.trainer.ppo.reward import load_reward_manager  # noqa: E402

import unhack  # noqa: E402
from integrations.verl.verl_rows import PACKAGE, Bytes, config, rollout  # noqa: E402
from unhack.integrations.verl import compute_score  # noqa: E402

WAYS = ("single", "threads", "batches")
COUNT = 64
EVERY = 8
"""Of hanging rollouts, one in so many hangs."""
SUITE = Path(unhack.__file__).parent / "tasks" / "suites" / "strings" / "knit-rows"
HANGS = "import time\ndef knit_rows(*given):\n    time.sleep(60)\n"
_numbers = itertools.count()


def made_task(folder: Path) -> str:
    """A built-in task with a time limit of five seconds, as a folder whose path is its name."""
    task = folder / "knit-rows"
    shutil.copytree(SUITE, task)
    text = (task / "task.toml").read_text()
    (task / "task.toml").write_text(f"{text}\n[limits]\nwall_s = 5.0\ncpu_s = 5.0\n")
    return str(task)


def programs(kind: str, right: str) -> list[str]:
    """Fresh rollouts of a kind: none was judged before."""
    hangs = [kind == "hanging" and at % EVERY == 0 for at in range(COUNT)]
    return [f"{HANGS if one else right}\n# {next(_numbers)}\n" for one in hangs]


def scores(kind: str) -> list[float]:
    """The right scores of these rollouts."""
    return [float(kind == "quick" or at % EVERY != 0) for at in range(COUNT)]


def single(task: str, texts: list[str]) -> list[float]:
    """One call of the plain function after the other."""
    return [compute_score(task, text)["score"] for text in texts]


def at_once(task: str, texts: list[str], **settings: Any) -> tuple[list[float], float]:
    """All rollouts on one loop: scores, and seconds without the loading of the manager."""

    async def judged() -> tuple[list[Any], float]:
        manager = load_reward_manager(config(**settings), Bytes())
        await manager.run_single(rollout("pass", data_source=task))
        rows = [rollout(text, data_source=task) for text in texts]
        started = time.perf_counter()
        found = await asyncio.gather(*map(manager.run_single, rows))
        taken = time.perf_counter() - started
        if not settings:
            manager._judge._backend.close()
        return found, taken

    found, taken = asyncio.run(judged())
    return [one["reward_score"] for one in found], taken


def timed(way: str, task: str, texts: list[str]) -> tuple[list[float], float]:
    """Scores and seconds of one way."""
    if way == "threads":
        return at_once(task, texts, manager="naive", path=PACKAGE)
    if way == "batches":
        return at_once(task, texts)
    single(task, ["pass"])
    started = time.perf_counter()
    found = single(task, texts)
    return found, time.perf_counter() - started


def main() -> int:
    """Alternate the ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    cells: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        task = made_task(Path(folder))
        right = (SUITE / "reference.py").read_text()
        for kind in ("quick", "hanging"):
            rates: dict[str, list[float]] = {way: [] for way in WAYS}
            for turn in range(options.rounds):
                for way in WAYS if turn % 2 == 0 else reversed(WAYS):
                    found, seconds = timed(way, task, programs(kind, right))
                    if found != scores(kind):
                        raise SystemExit(f"{kind}, {way}: wrong scores")
                    rates[way].append(COUNT / seconds)
            cells[kind] = {way: spread(values) for way, values in rates.items()}
            for way in WAYS:
                print(show(f"{kind}, {way}", rates[way], unit="rollouts/s"))
            for way in ("single", "threads"):
                ratios = [new / old for new, old in zip(rates["batches"], rates[way], strict=True)]
                print(show(f"{kind}, batches / {way}", ratios, unit=""), flush=True)
                cells[kind][f"ratio_{way}"] = spread(ratios)
    if options.save:
        command = f"python benchmarks/verl_batches.py --rounds {options.rounds} --save"
        threads = min(32, (os.cpu_count() or 1) + 4)
        save("verl_batches", command, {"rollouts": COUNT, "threads": threads, "cells": cells})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
