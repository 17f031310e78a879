"""The registered claims on a pretrained model, from the folders of its runs.

    python experiments/pretrained/decide.py RUNS ...      # OUT folders of measure.py, one a choice

Prints a table of arms (means over choices, with the base row), and each claim with its units, mean
difference, p and Holm's p. Tests nothing below five whole choices; says what is missing.

Covered: choices whose runs are not all there, which are left out and named; ceilings below their
base. Not covered: that the plan is older than the runs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unhack.core.statistics import holm
from unhack.training.experiment.sweep import SweepPlan, read_plan
from unhack_study.statistics import sign_flip

HERE = Path(__file__).parent
LEAST = 5
"""Whole choices below which nothing is tested."""


@dataclass
class Choice:
    """One choice of known holes on one warm-up: the unit of every test."""

    base: dict[str, float]
    """Of the warmed model before any training."""
    runs: dict[str, dict[int, dict[str, float]]] = field(default_factory=dict)  # pyright: ignore[reportUnknownVariableType]
    """Arm -> seed -> figures of the deployed model."""

    def mean(self, arm: str, measure: str) -> float:
        """Over the seeds."""
        return statistics.fmean(one[measure] for one in self.runs[arm].values())

    @property
    def ceiling_holds(self) -> bool:
        """False where training without any hole ends below its base: it shows nothing then."""
        return self.mean("ceiling", "solve") >= self.base["solve"]


def figures(record: Mapping[str, Any]) -> dict[str, float]:
    """What the claims are about, of an evaluation."""
    rates = {"held_out": "hack_held_out", "known": "hack_known", "solve": "solve"}
    return {name: float(record[key]["rate"]) for name, key in rates.items()}


def read_choices(folders: Sequence[Path], plan: SweepPlan) -> tuple[dict[str, Choice], list[str]]:
    """The whole choices by name, and what the others lack."""
    found: dict[str, Choice] = {}
    lacks: list[str] = []
    for known, base_seed in zip(plan.known, plan.base_seeds, strict=True):
        name, runs = "+".join(known), dict[str, dict[int, dict[str, float]]]()
        places = [folder for folder in folders if any(folder.glob(f"*/b{base_seed}-s*-{name}"))]
        for folder in places:
            for arm in plan.arms:
                for seed in plan.seeds:
                    final = folder / arm / f"b{base_seed}-s{seed}-{name}" / "final.json"
                    if final.is_file():
                        record = json.loads(final.read_text())["deployed"]
                        runs.setdefault(arm, {})[seed] = figures(record)
        there = sum(map(len, runs.values()))
        wanted = len(plan.arms) * len(plan.seeds)
        if there < wanted:
            lacks.append(f"{name}: {there} of {wanted} runs")
            continue
        base = json.loads((places[0] / "base.json").read_text())["before RL"]
        found[name] = Choice(figures(base), runs)
    return found, lacks


def decide(choices: Mapping[str, Choice], rules: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each claim with its test, in order; p is None where there are too few units."""
    told: list[dict[str, Any]] = []
    for claim in rules["claim"]:
        measure, arm, against = claim["measure"], claim["arm"], claim["against"]
        units = [one for one in choices.values() if against != "ceiling" or one.ceiling_holds]
        sign, margin = (1 if measure == "solve" else -1), claim.get("margin", 0.0)
        gaps = [
            sign * (one.mean(arm, measure) - _value(one, against, measure)) + margin
            for one in units
        ]
        p = sign_flip(gaps, alternative="greater")[0] if len(gaps) >= LEAST else None
        told.append({**claim, "units": len(gaps), "gap": statistics.fmean(gaps or [0.0]), "p": p})
    corrected = holm({one["name"]: one["p"] for one in told if one["p"] is not None})
    for one in told:
        one["holm"] = corrected.get(one["name"])
        one["supported"] = one["holm"] is not None and one["holm"] < rules["alpha"]
    return told


def _value(choice: Choice, against: str | float, measure: str) -> float:
    return choice.mean(against, measure) if isinstance(against, str) else float(against)


def main() -> None:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(description="Decide the registered claims.")
    parser.add_argument("runs", type=Path, nargs="+", help="OUT folders of measure.py")
    given = parser.parse_args()
    plan = read_plan(HERE / "registered.toml")
    choices, lacks = read_choices(given.runs, plan)
    for text in lacks:
        print(f"not whole, left out: {text}")
    for arm in plan.arms if choices else ():
        means = [
            f"{name} {statistics.fmean(one.mean(arm, name) for one in choices.values()):.3f}"
            for name in ("held_out", "known", "solve")
        ]
        print(f"{arm:10s} {'  '.join(means)}")
    if choices:
        base = statistics.fmean(one.base["solve"] for one in choices.values())
        held = sum(one.ceiling_holds for one in choices.values())
        print(f"before RL  solve {base:.3f}; ceiling at or above it in {held} of {len(choices)}")
    for one in decide(choices, tomllib.loads((HERE / "registered-claims.toml").read_text())):
        word = "not tested: too few choices" if one["p"] is None else (
            f"p {one['p']:.4f}, after Holm {one['holm']:.4f}: "
            + ("supported" if one["supported"] else "not supported")
        )  # fmt: skip
        print(f"{one['name']}: {one['units']} choices, by {one['gap']:+.3f}, {word}")


if __name__ == "__main__":
    main()
