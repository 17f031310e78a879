"""Step rewards against outcome rewards, and naive step rewards that are pumped, over several turns.

    python benchmarks/train_turns.py experiments/turns.toml --out FOLDER [--jobs 1] [--seeds 0 1 2]

Each arm of the plan trains the small byte-level policy on faulty packages (world `repairs`); the
tests run on the files in the sandbox, once per tree. A run that is already in FOLDER is not made
again. With all runs of the plan the tests that it fixes are made, and `results/train_PLAN.json` is
written. `--seeds` makes other runs than the plan's, as a pilot, and writes no result.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
import tomllib
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from measure import machine, save


def run(plan: dict[str, Any], arm: str, *, seed: int, out: Path) -> dict[str, Any]:
    """One training run with its evaluations."""
    import torch

    from unhack.training.adapters import attach
    from unhack.training.config.settings import AdapterSettings
    from unhack.training.episodes.train import train_episodes
    from unhack.training.policy.policy import TinyPolicy
    from unhack_study.repairs.base import repairs_base
    from unhack_study.repairs.judging import TreeJudge, make_repair
    from unhack_study.repairs.packages import draw_package
    from unhack_study.repairs.world import RepairsWorld

    torch.set_num_threads(1)
    world = RepairsWorld(TreeJudge(out / "verdicts.sqlite"), max_turns=plan["turns"])
    repairs = {
        split: [
            make_repair(draw_package(f"{split} {number}", faults=plan["faults"]))
            for number in range(plan[split])
        ]
        for split in ("training", "held_out")
    }
    base = repairs_base(plan["first_base"] + seed % plan["bases"], folder=out)
    adapters = attach(base, AdapterSettings(**plan["adapter"]), seed=seed)
    policy = TinyPolicy(base, adapters, pad=world.pad, stop=world.stop, device="cpu")
    settings = settings_of(plan, arm, seed=seed)

    def draw(step: int) -> list[Any]:
        rng = random.Random(f"{seed} {step}")
        return [world.start(repair) for repair in rng.sample(repairs["training"], plan["tasks"])]

    def evaluate() -> dict[str, float]:
        return measure(world, policy, repairs["held_out"], copies=plan["copies"], seed=seed)

    began, cpu = time.monotonic(), time.process_time()
    curve: list[dict[str, float]] = []
    evaluated = [{"episodes": 0, **evaluate()}]
    for step in train_episodes(world, policy, draw, settings=settings):
        curve.append(asdict(step))
        if (step.step + 1) % plan["evaluate_every"] == 0:
            evaluated.append({"episodes": step.episodes, **evaluate()})
            print(arm, seed, evaluated[-1], f"{time.monotonic() - began:.0f} s", flush=True)
    return {
        "arm": arm,
        "seed": seed,
        "evaluated": evaluated,
        "curve": curve,
        "wall_s": time.monotonic() - began,
        "cpu_s": time.process_time() - cpu,
    }


def settings_of(plan: dict[str, Any], arm: str, *, seed: int) -> Any:
    """The settings of an arm: those of the plan with the arm's own."""
    from unhack.training.config.settings import ObjectiveSettings, OptimiserSettings
    from unhack.training.episodes.credit import CreditSettings
    from unhack.training.episodes.train import EpisodeSettings

    chosen = plan["arm"][arm]
    return EpisodeSettings(
        credit=CreditSettings(**chosen.get("credit", {})),
        law=chosen["law"],
        process=chosen.get("process", 1.0),
        group=plan["group"],
        steps=plan["steps"],
        seed=seed,
        objective=ObjectiveSettings(**plan["objective"]),
        optimiser=OptimiserSettings(**plan["optimiser"]),
    )


def measure(world: Any, policy: Any, repairs: Any, *, copies: int, seed: int) -> dict[str, float]:
    """Means over held-out packages, each played `copies` times at temperature 1."""
    import torch

    from unhack.training.episodes.train import LAWS, play, summarise

    states = [world.start(repair) for repair in repairs for _ in range(copies)]
    generator = torch.Generator().manual_seed(7_000_000 + seed)
    episodes = play(world, policy, states, generator=generator, law=LAWS["newly_passing"])
    found = summarise(episodes, step=0, played=0)
    return {
        "solved": found.solved,
        "turns": found.turns,
        "falls": found.falls,
        "naive": found.process,
        "cut": found.cut,
    }


def at(run: dict[str, Any], episodes: int, figure: str) -> float:
    """A figure of a run after so many episodes."""
    return next(one[figure] for one in run["evaluated"] if one["episodes"] == episodes)


def crossing(runs: list[dict[str, Any]], figure: str, *, goal: float) -> int | None:
    """Episodes after which the mean curve of an arm reaches a figure, on straight lines between
    evaluations; None where it never does. Told beside a test, and no part of it."""
    marks = [one["episodes"] for one in runs[0]["evaluated"]]
    means = [sum(at(run, mark, figure) for run in runs) / len(runs) for mark in marks]
    for left, right in pairwise(range(len(marks))):
        if means[left] < goal <= means[right]:
            share = (goal - means[left]) / (means[right] - means[left])
            return round(marks[left] + share * (marks[right] - marks[left]))
    return None


def conclude(plan: dict[str, Any], runs: dict[str, dict[int, dict[str, Any]]]) -> dict[str, Any]:
    """The tests that the plan fixes, and what each arm reached."""
    from unhack_study.statistics import paired

    seeds = plan["seeds"]
    whole = plan["steps"] * plan["group"] * plan["tasks"]
    tests: dict[str, Any] = {}
    for test in plan["test"]:
        sides = [
            [at(runs[side["arm"]][seed], round(side["share"] * whole), test["figure"])
             for seed in seeds]
            for side in (test["first"], test["second"])
        ]  # fmt: skip
        first = [value - test.get("margin", 0.0) for value in sides[0]]
        found = paired(first, sides[1], alternative="greater")
        tests[test["name"]] = {
            "first": sum(sides[0]) / len(seeds),
            "second": sum(sides[1]) / len(seeds),
            "margin": test.get("margin", 0.0),
            "p": found.p,
            "exact": found.exact,
            "pairs": found.count,
            "held": found.p < plan["alpha"],
            "reached_after": crossing(list(runs[test["first"]["arm"]].values()), test["figure"],
                                      goal=sum(sides[1]) / len(seeds)),
        }  # fmt: skip
    arms = {
        arm: {
            str(mark["episodes"]): {
                figure: round(
                    sum(at(one, mark["episodes"], figure) for one in made.values()) / len(made), 4
                )
                for figure in ("solved", "turns", "falls")
            }
            for mark in next(iter(made.values()))["evaluated"]
        }
        for arm, made in runs.items()
    }
    each = {
        arm: [round(at(made[seed], whole, "solved"), 3) for seed in seeds]
        for arm, made in runs.items()
    }
    seconds = [one["cpu_s"] for made in runs.values() for one in made.values()]
    return {
        "alpha": plan["alpha"],
        "episodes": whole,
        "tests": tests,
        "arms": arms,
        "solved_by_seed": each,
        "cpu_s_of_a_run": round(sum(seconds) / len(seconds), 1),
    }


def make(path: Path, out: Path, seeds: list[int], arms: list[str], *, jobs: int) -> None:
    """Every missing run, `jobs` at a time, each in a process of its own."""
    wanted = [
        (arm, seed) for seed in seeds for arm in arms
        if not (out / f"{arm}-{seed}.json").exists()
    ]  # fmt: skip
    running: list[subprocess.Popen[bytes]] = []
    while wanted or running:
        while wanted and len(running) < jobs:
            arm, seed = wanted.pop(0)
            words = [sys.executable, __file__, str(path), "--out", str(out), "--one", arm]
            running.append(subprocess.Popen([*words, "--seeds", str(seed)]))
        running[0].wait()
        if running.pop(0).returncode:
            raise SystemExit("a run failed")


def main() -> None:
    """Make the runs, test, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, nargs="*")
    parser.add_argument("--arms", nargs="*")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    plan = tomllib.loads(chosen.plan.read_text())
    chosen.out.mkdir(parents=True, exist_ok=True)
    if chosen.one:
        [seed] = chosen.seeds
        found = run(plan, chosen.one, seed=seed, out=chosen.out)
        (chosen.out / f"{chosen.one}-{seed}.json").write_text(json.dumps(found))
        return
    arms = chosen.arms or list(plan["arm"])
    seeds = plan["seeds"] if chosen.seeds is None else chosen.seeds
    make(chosen.plan, chosen.out, seeds, arms, jobs=chosen.jobs)
    if chosen.seeds is not None or chosen.arms:
        return
    runs = {
        arm: {seed: json.loads((chosen.out / f"{arm}-{seed}.json").read_text()) for seed in seeds}
        for arm in arms
    }
    told = conclude(plan, runs)
    command = f"python benchmarks/train_turns.py {chosen.plan} --out RUNS"
    records = {"plan": chosen.plan.read_text(), "runs": runs, "machine": machine()}
    save(f"train_{chosen.plan.stem}", command, told, records=records)
    print(json.dumps(told["tests"], indent=1))


if __name__ == "__main__":
    main()
