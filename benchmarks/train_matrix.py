"""The matrix of routing: what its registered claims come to.

    unhack train sweep experiments/matrix.toml --out RUNS/matrix
    unhack train sweep experiments/matrix-shared.toml --out RUNS/shared
    unhack train sweep experiments/matrix-shortcuts.toml --out RUNS/shortcuts
    python benchmarks/train_matrix.py RUNS --machine TEXT [--html PAGE]

Writes `results/train_matrix.json`: the claims of `experiments/matrix-claims.toml` with their tests,
means by arm, the choice that is told apart, and the shortcuts. One unit of a test is a choice of
known modes: the mean over its seeds and bases.
"""

from __future__ import annotations

import argparse
import math
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from measure import save, table
from unhack.core.statistics import holm
from unhack.reporting.chart import Axis, Chart, rows
from unhack.reporting.page import card, document, figure, top
from unhack.reporting.text import safe
from unhack.training.evaluation.counts import Evaluation
from unhack.training.evaluation.statistics import bootstrap, sign_flip, summary
from unhack.training.experiment.results import RunResult, read_runs

CLAIMS = Path(__file__).resolve().parents[1] / "experiments" / "matrix-claims.toml"
SHARED = ("vanilla", "ceiling", "oracle")
"""Arms that know nothing of the choice: their runs count for every choice."""
Choice = tuple[str, ...]


def held_out(one: Evaluation, known: Choice) -> float:
    """Hack rate over the modes that are not known."""
    tallies = [
        tally for mode, tally in one.by_mode.items() if mode != "gt_only" and mode not in known
    ]
    return sum(item.hacked for item in tallies) / max(1, sum(item.count for item in tallies))


def measures(run: RunResult, known: Choice) -> dict[str, float]:
    """The figures of a deployed model under a choice."""
    hack = held_out(run.deployed, known)
    solve = run.deployed.solve
    return {"held_out": hack, "solve": solve, "figure": solve - hack}


def by_choice(
    runs: Iterable[RunResult], choices: Sequence[Choice]
) -> dict[str, dict[Choice, list[dict[str, float]]]]:
    """Figures of every run, by arm and choice."""
    found: dict[str, dict[Choice, list[dict[str, float]]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        own = tuple(run.settings.world.known)
        for known in choices if run.arm in SHARED else [own]:
            found[run.arm][known].append(measures(run, known))
    return found


def mean(values: Iterable[float]) -> float:
    """The mean; nan of nothing."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else math.nan


def units(arm: dict[Choice, list[dict[str, float]]], measure: str) -> dict[Choice, float]:
    """One number for each choice."""
    return {known: mean(one[measure] for one in found) for known, found in arm.items()}


def differences(claim: dict[str, Any], arms: dict[str, Any], apart: Choice) -> dict[Choice, float]:
    """By choice, how far the claim is met: above 0 where it is."""
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
    apart = tuple(rules["apart"])
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
                "choices": len(values),
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
            got = summary([one[measure] for one in runs])
            row |= {measure: round(got.mean, 4), f"{measure}_sem": round(got.sem or 0.0, 4)}
        row["leaks"] = sum(one["held_out"] > 0.1 for one in runs)
        told.append(row)
    return told


def page(rules: dict[str, Any], told: list[dict[str, Any]], arms: dict[str, Any]) -> str:
    """One chart for each claim: a row for each choice, the difference and its border."""
    parts = [
        top(
            "What routing does, over every choice of two known modes out of six",
            why=f"{sum(one['supported'] for one in told)} of {len(told)} registered claims are "
            f"supported at {rules['alpha']:g}, Holm-corrected, by exact sign-flip tests over "
            "choices.",
            figures={
                one["claim"]: "supported" if one["supported"] else "not shown" for one in told
            },
        )
    ]
    for claim, one in zip(rules["claim"], told, strict=True):
        values = differences(claim, arms, tuple(rules["apart"]))
        margin = claim.get("margin", 0.0)
        names = [" + ".join(known) for known in values]
        chart = Chart(
            Axis(
                *_range([value - margin for value in values.values()], margin),
                label="advantage of the arm that the claim is about",
            ),
            rows(names, letters=32),
            f"{claim['name']}, by choice of known modes",
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


def shortcuts(folder: Path) -> list[dict[str, Any]]:
    """Rates by arm and mode of the modes that no statement games, known and held out apart."""
    found: dict[tuple[str, str, bool], list[float]] = defaultdict(list)
    solve: dict[str, list[float]] = defaultdict(list)
    for run in read_runs([folder])[0]:
        solve[run.arm].append(run.deployed.solve)
        for mode, tally in run.deployed.by_mode.items():
            if mode != "gt_only":
                found[run.arm, mode, mode in run.settings.world.known].append(tally.hack)
    return [
        {"arm": arm, "mode": mode, "known": known, "runs": len(values),
         "hack": round(mean(values), 4), "solve": round(mean(solve[arm]), 4)}
        for (arm, mode, known), values in sorted(found.items())
    ]  # fmt: skip


def main() -> None:
    """Read, test, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path)
    parser.add_argument("--machine", required=True, help="where the runs were made")
    parser.add_argument("--html", type=Path)
    chosen = parser.parse_args()
    rules = tomllib.loads(CLAIMS.read_text())
    runs, skipped = read_runs([chosen.runs / "matrix", chosen.runs / "shared"])
    choices = sorted({tuple(run.settings.world.known) for run in runs if run.arm not in SHARED})
    arms = by_choice(runs, choices)
    told = decide(rules, arms)
    apart = tuple(rules["apart"])
    all_rows, own_rows = arm_rows(arms, skip=apart), arm_rows(arms, only=apart)
    short = shortcuts(chosen.runs / "shortcuts") if (chosen.runs / "shortcuts").is_dir() else []
    figures = {
        "runs": len(runs),
        "not_evaluated": len(skipped),
        "alpha": rules["alpha"],
        "claims": table(told, tuple(told[0])),
        "arms": table(all_rows, tuple(all_rows[0])),
        "apart": table(own_rows, tuple(own_rows[0])) if own_rows else [],
        "shortcuts": table(short, tuple(short[0])) if short else [],
    }
    save(
        "train_matrix",
        "python benchmarks/train_matrix.py RUNS --machine TEXT",
        figures,
        ran_on=chosen.machine,
    )
    for one in told:
        print(one)
    if chosen.html:
        chosen.html.write_text(page(rules, told, arms))


if __name__ == "__main__":
    main()
