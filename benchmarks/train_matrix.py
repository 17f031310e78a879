"""The matrix of routing: what its registered claims come to.

    unhack train sweep experiments/matrix.toml --out RUNS/matrix
    unhack train sweep experiments/matrix-shared.toml --out RUNS/shared
    unhack train sweep experiments/matrix-shortcuts.toml --out RUNS/shortcuts
    unhack train sweep experiments/matrix-large.toml --out RUNS/large    # on a GPU
    python benchmarks/matrix_runs.py RUNS --machine TEXT
    python benchmarks/train_matrix.py [--large] [--html PAGE]

Reads the record of runs, which may be of several parts and machines. Says what is missing until all
planned runs are there, and tests nothing before. Then writes `results/train_matrix.json`: the
claims of `experiments/matrix-claims.toml` with their tests, means by arm, the choice that is told
apart, and the shortcuts. One unit of a test is a choice of known modes: the mean over its seeds and
bases. With `--large` the same of `matrix-large`, where one unit is a seed.
"""

from __future__ import annotations

import argparse
import math
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matrix_runs import (
    EXPERIMENTS,
    NAME,
    Choice,
    Key,
    RunFigures,
    choices_of,
    modes_of,
    plan_of,
    planned,
    prompts_of,
    recorded,
)
from measure import save, summary, table
from unhack.core.statistics import holm
from unhack.reporting.chart import Axis, Chart, rows
from unhack.reporting.page import card, document, figure, top
from unhack.reporting.text import safe
from unhack.training.evaluation.statistics import bootstrap, sign_flip
from unhack.training.evaluation.statistics import summary as spread_of

SMALL, LARGE = ("matrix", "shared", "shortcuts"), ("large",)
"""The parts of the record that each set of claims is about."""


def measures(run: RunFigures, known: Choice, part: str) -> dict[str, float]:
    """The figures of a deployed model under a choice."""
    prompts, modes = prompts_of(part), modes_of(part)
    if "held_out" in run.hacked:
        hacked = run.hacked["held_out"]
    else:
        hacked = sum(run.hacked[mode] for mode in modes if mode not in known)
    hack = hacked / (prompts * (len(modes) - len(known)) / len(modes))
    solve = run.solved / prompts
    return {"held_out": hack, "solve": solve, "figure": solve - hack}


def by_unit(
    runs: Mapping[Key, list[RunFigures]], *, large: bool
) -> dict[str, dict[Choice, list[dict[str, float]]]]:
    """Figures of every run, by arm and unit of a test: a choice of known modes, or a seed where
    `large`. Those of an arm that knows nothing of the choice count for every one."""
    found: dict[str, dict[Choice, list[dict[str, float]]]] = defaultdict(lambda: defaultdict(list))
    for (part, arm, own), items in runs.items():
        if part not in (LARGE if large else SMALL[:2]):
            continue
        for one in items:
            if large:
                known = tuple(plan_of(part).settings["world"]["known"])
                found[arm][(f"seed {one.seed}",)].append(measures(one, known, part))
            else:
                for choice in choices_of("matrix") if part == "shared" else (own,):
                    found[arm][choice].append(measures(one, choice, part))
    return found


def missing(
    runs: Mapping[Key, list[RunFigures]], parts: Iterable[str], without: dict[str, Any]
) -> dict[str, int]:
    """Planned runs that are not recorded, by part."""
    found: dict[str, int] = {}
    for part in parts:
        there = {(key, one.base, one.seed) for key, items in runs.items() for one in items}
        left = sum(run not in there for run in planned(part, without))
        if left:
            found[part] = left
    return found


def mean(values: Iterable[float]) -> float:
    """The mean; nan of nothing."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else math.nan


def units(arm: dict[Choice, list[dict[str, float]]], measure: str) -> dict[Choice, float]:
    """One number for each choice."""
    return {known: mean(one[measure] for one in found) for known, found in arm.items()}


def differences(claim: dict[str, Any], arms: dict[str, Any], apart: Choice) -> dict[Choice, float]:
    """By unit, how far the claim is met: above 0 where it is."""
    measure = claim["measure"]
    sign = -1.0 if measure == "held_out" else 1.0
    own = units(arms[claim["arm"]], measure)
    against = claim["against"]
    other = (
        dict.fromkeys(own, against) if isinstance(against, float) else units(arms[against], measure)
    )
    return {
        known: sign * (value - other[known]) + claim.get("margin", 0.0)
        for known, value in own.items()
        if known in other and known != apart
    }


def decide(rules: dict[str, Any], arms: dict[str, Any]) -> list[dict[str, Any]]:
    """Every claim with its test."""
    apart = tuple(rules.get("apart", ()))
    found = [(claim, list(differences(claim, arms, apart).values())) for claim in rules["claim"]]
    raw = {
        claim["name"]: sign_flip(values, alternative="greater")[0]
        for claim, values in found
        if values
    }
    corrected = holm(raw)
    told: list[dict[str, Any]] = []
    for claim, values in found:
        name = claim["name"]
        low, high = bootstrap(values) if len(values) > 1 else (math.nan, math.nan)
        told.append(
            {
                "claim": name,
                "units": len(values),
                "gap": round(mean(values) - claim.get("margin", 0.0), 4),
                "low": round(low - claim.get("margin", 0.0), 4),
                "high": round(high - claim.get("margin", 0.0), 4),
                "margin": claim.get("margin", 0.0),
                "p": raw.get(name),
                "p_holm": corrected.get(name),
                "supported": corrected.get(name, 1.0) < rules["alpha"],
            }
        )
    return told


def arm_rows(
    arms: dict[str, Any], skip: Choice | None = None, only: Choice | None = None
) -> list[dict[str, Any]]:
    """Means by arm over runs."""
    told: list[dict[str, Any]] = []
    for arm, found in sorted(arms.items()):
        runs = [
            one
            for known, items in found.items()
            for one in items
            if known != skip and only in (None, known)
        ]
        if not runs:
            continue
        row: dict[str, Any] = {"arm": arm, "runs": len(runs)}
        for measure in ("held_out", "solve"):
            got = spread_of([one[measure] for one in runs])
            row |= {measure: round(got.mean, 4), f"{measure}_sem": round(got.sem or 0.0, 4)}
        row["leaks"] = sum(one["held_out"] > 0.1 for one in runs)
        told.append(row)
    return told


def page(rules: dict[str, Any], told: list[dict[str, Any]], arms: dict[str, Any]) -> str:
    """One chart for each claim: a row for each choice, the difference and its border."""
    parts = [
        top(
            "What routing does",
            why=f"{sum(one['supported'] for one in told)} of {len(told)} registered claims are "
            f"supported at {rules['alpha']:g}, Holm-corrected, by exact sign-flip tests.",
            figures={
                one["claim"]: "supported" if one["supported"] else "not shown" for one in told
            },
        )
    ]
    for claim, one in zip(rules["claim"], told, strict=True):
        values = differences(claim, arms, tuple(rules.get("apart", ())))
        margin = claim.get("margin", 0.0)
        names = [" + ".join(known) for known in values]
        chart = Chart(
            Axis(
                *_range([value - margin for value in values.values()], margin),
                label="advantage of the arm that the claim is about",
            ),
            rows(names, letters=32),
            f"{claim['name']}, one row for each unit of the test",
            (860.0, 60.0 + 24.0 * len(names)),
        )
        chart.line([(-margin, -0.5), (-margin, len(names) - 0.5)], kind="tone-ink dashed")
        for place, (known, value) in enumerate(values.items()):
            chart.point(
                (value - margin, float(place)),
                f"{' + '.join(known)}: {value - margin:+.3f}",
                kind="tone-good" if value > 0 else "tone-bad hollow",
            )
        p = "no test" if one["p_holm"] is None else f"p = {one['p_holm']:.2g} after Holm"
        word = "Supported" if one["supported"] else "Not shown"
        parts.append(
            figure(
                claim["name"],
                [chart.svg()],
                note=f"{safe(claim['text'])} {word}: mean {one['gap']:+.3f} "
                f"({one['low']:+.3f} to {one['high']:+.3f}), "
                f"border {-margin or 0.0:+.2f}, {p}. Right of the border, the dashed line, the "
                "claim is met: filled dots.",
            )
        )
    parts.append(card("<p>Leaks are runs whose held-out hack rate is above 0.1.</p>"))
    return document("The matrix of routing", parts)


def _range(values: Sequence[float], margin: float) -> tuple[float, float]:
    low, high = min((*values, -margin, 0.0)), max((*values, 0.0))
    pad = 0.05 * (high - low or 1.0)
    return low - pad, high + pad


def shortcuts(runs: Mapping[Key, list[RunFigures]]) -> list[dict[str, Any]]:
    """Rates by arm and mode where some hacks are no statement, known and held-out modes apart."""
    rows: list[dict[str, Any]] = []
    modes, prompts = modes_of("shortcuts"), prompts_of("shortcuts")
    for (part, arm, known), items in sorted(runs.items()):
        if part != "shortcuts":
            continue
        for mode in modes:
            hack = mean(one.hacked[mode] * len(modes) / prompts for one in items)
            solve = mean(one.solved / prompts for one in items)
            rows.append(
                {"arm": arm, "mode": mode, "known": mode in known, "runs": len(items),
                 "hack": round(hack, 4), "solve": round(solve, 4)}
            )  # fmt: skip
    return rows


def main() -> None:
    """Read, test, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="the claims at 55M parameters")
    parser.add_argument("--html", type=Path)
    chosen = parser.parse_args()
    large = chosen.large
    name = "matrix-large-claims.toml" if large else "matrix-claims.toml"
    rules = tomllib.loads((EXPERIMENTS / name).read_text())
    runs = recorded()
    left = missing(runs, LARGE if large else SMALL, rules.get("without", {}))
    if left:
        parts = ", ".join(f"{count} of {part}" for part, count in left.items())
        sys.exit(f"runs are missing ({parts}): the claims are tested when all are there")
    arms = by_unit(runs, large=large)
    told = decide(rules, arms)
    apart = tuple(rules.get("apart", ()))
    all_rows = arm_rows(arms, skip=apart)
    figures: dict[str, Any] = {
        "alpha": rules["alpha"],
        "claims": table(told, tuple(told[0])),
        "arms": table(all_rows, tuple(all_rows[0])),
    }
    if not large:
        own_rows, short = arm_rows(arms, only=apart), shortcuts(runs)
        figures |= {
            "apart": table(own_rows, tuple(own_rows[0])),
            "shortcuts": table(short, tuple(short[0])),
        }
    result, option = ("train_matrix_large", " --large") if large else ("train_matrix", "")
    ran_on = (summary(NAME) or {})["machine"]
    save(result, f"python benchmarks/train_matrix.py{option}", figures, ran_on=ran_on)
    for one in told:
        print(one)
    if chosen.html:
        chosen.html.write_text(page(rules, told, arms))


if __name__ == "__main__":
    main()
