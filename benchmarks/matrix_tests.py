"""The registered claims of the matrix: their units, their tests, means by arm.

A *unit* is what a test counts once: a choice of known modes (the mean over its seeds and base
models), a seed at 55M parameters, a base model with a choice in `where`. A run that does not depend
on the choice counts once: against such an arm a unit is a base model with a seed.

A control that passes fewer prompts, solved or hacked, than its untrained base is damaged, and says
nothing of what a claim is about: it is left out with its partner, and `fallen` names it.

Covered: exact sign-flip tests with Holm's correction; runs that are missing. Not covered: reading
runs (`matrix_runs`), words and figures (`matrix_page`).
"""

from __future__ import annotations

import math
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from matrix_runs import (
    EXPERIMENTS,
    WHERE,
    Choice,
    Key,
    RunFigures,
    choices_of,
    modes_of,
    plan_of,
    planned,
    prompts_of,
)
from measure import summary
from unhack.core.statistics import holm
from unhack.training.evaluation.counts import summary as spread_of
from unhack_study.statistics import bootstrap, sign_flip

Unit = tuple[str, ...]
Arms = dict[str, dict[Unit, list[dict[str, float]]]]
"""Figures of runs by arm and unit: `held_out`, `solve`, `figure`, which is solve - held_out, the
`base` and the `seed`; `fell` is 1 where the run passes less than its base, `copy` where it stands
for every choice."""
_LEAST = 0.11
"""Share of prompts that every untrained model solves (the page of the world), for a base whose own
figures are not recorded."""


@dataclass(frozen=True, slots=True)
class ClaimSet:
    """Claims that are tested together."""

    rules: str
    """Their file in `experiments/`."""
    parts: tuple[str, ...]
    """The parts of the record that it takes to be whole."""
    result: str
    record: str


CLAIMS = {
    "matrix": ClaimSet(
        "matrix-claims.toml", ("matrix", "shared"), "train_matrix", "train_matrix_runs"
    ),
    "large": ClaimSet(
        "matrix-large-claims.toml", ("large",), "train_matrix_large", "train_large_runs"
    ),
    "where": ClaimSet("where/claims.toml", WHERE, "train_where", "train_where_runs"),
}
_SHARED = {
    "matrix": "shared",
    **{part: "where/shared" for part in WHERE if "shared" not in part},
    "where/longer": "where/longer-shared",
}
"""Part -> the part with the arms that do not depend on its gate and its known modes."""


def rules_of(name: str) -> dict[str, Any]:
    """The registered file of a set of claims."""
    return tomllib.loads((EXPERIMENTS / CLAIMS[name].rules).read_text())


def measures(run: RunFigures, known: Choice, part: str) -> dict[str, float]:
    """The figures of a deployed model under a choice."""
    prompts, modes = prompts_of(part), modes_of(part)
    if "held_out" in run.hacked:
        hacked = run.hacked["held_out"]
    else:
        hacked = sum(run.hacked[mode] for mode in modes if mode not in known)
    hack = hacked / (prompts * (len(modes) - len(known)) / len(modes))
    solve = run.solved / prompts
    passed = (run.solved + sum(run.hacked.values())) / prompts
    return {
        "held_out": hack, "solve": solve, "figure": solve - hack, "base": run.base,
        "seed": run.seed, "fell": float(passed < base_passes(run.base)), "copy": 0.0,
    }  # fmt: skip


def base_passes(base: int) -> float:
    """Share of prompts that an untrained base model solves or hacks."""
    found = summary("train_bases") or {"solved": {}, "hacked": {}, "prompts": 1}
    own = [found[name].get(str(base)) for name in ("solved", "hacked")]
    return _LEAST if None in own else sum(own) / found["prompts"]


def arms_of(runs: Mapping[Key, list[RunFigures]], part: str) -> Arms:
    """Figures of every run of a part, by arm and unit. Those of an arm that knows nothing of the
    choice count for every one."""
    found: Arms = defaultdict(lambda: defaultdict(list))
    own = {arm for (place, arm, _) in runs if place == part}
    for (place, arm, choice), items in runs.items():
        if place != part and (place != _SHARED.get(part) or arm in own):
            continue
        for one in items:
            if place == "large":
                known = tuple(plan_of(place).settings["world"]["known"])
                found[arm][(f"seed {one.seed}",)].append(measures(one, known, place))
                continue
            for known in choices_of(part) if place != part else (choice,):
                unit = (f"base {one.base}", *known) if part.startswith("where/") else known
                copied = {"copy": 1.0} if place != part and not part.startswith("where/") else {}
                found[arm][unit].append(measures(one, known, place) | copied)
    return found


def missing(runs: Mapping[Key, list[RunFigures]], name: str) -> dict[str, int]:
    """Planned runs of a set of claims that are not recorded, by part."""
    without, found = rules_of(name).get("without", {}), dict[str, int]()
    for part in CLAIMS[name].parts:
        there = {(key, one.base, one.seed) for key, items in runs.items() for one in items}
        left = sum(run not in there for run in planned(part, without))
        if left:
            found[part] = left
    return found


def mean(values: Iterable[float]) -> float:
    """The mean; nan of nothing."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else math.nan


def units(arm: Mapping[Unit, list[dict[str, float]]], measure: str) -> dict[Unit, float]:
    """One number for each unit."""
    return {known: mean(one[measure] for one in found) for known, found in arm.items()}


@dataclass(frozen=True, slots=True)
class Tested:
    """A claim, the figures that it is about, and its test."""

    claim: dict[str, Any]
    own: dict[Unit, float]
    """Of the arm that the claim is about."""
    other: dict[Unit, float]
    """Of what it is held against."""
    low: float
    """95 % interval of `gap`, by bootstrap over units."""
    high: float
    p: float | None
    p_holm: float | None
    supported: bool
    fallen: tuple[str, ...] = ()
    """Controls that pass less than their own base, which are not used."""

    @property
    def margin(self) -> float:
        """How much worse is still as good."""
        return self.claim.get("margin", 0.0)

    @property
    def gaps(self) -> dict[Unit, float]:
        """By unit, how much better the arm is than the other; the claim is that it is better than
        by -margin."""
        sign = -1.0 if self.claim["measure"] == "held_out" else 1.0
        return {unit: sign * (value - self.other[unit]) for unit, value in self.own.items()}

    @property
    def gap(self) -> float:
        """The mean over units."""
        return mean(self.gaps.values())

    def row(self) -> dict[str, Any]:
        """The line of the result."""
        part = {"part": self.claim["part"]} if "part" in self.claim else {}
        return {
            **part,
            "claim": self.claim["name"],
            "units": len(self.own),
            "gap": round(self.gap, 4),
            "low": round(self.low, 4),
            "high": round(self.high, 4),
            "margin": self.margin,
            "p": self.p,
            "p_holm": self.p_holm,
            "supported": self.supported,
        }


def decide(rules: Mapping[str, Any], arms: Mapping[str, Arms]) -> list[Tested]:
    """Every claim with its test; `arms` by the `part` of claims."""
    apart = tuple(rules.get("apart", ()))
    told = [_before(claim, arms[claim.get("part", "")], apart) for claim in rules["claim"]]
    raw = {
        place: sign_flip([gap + one.margin for gap in one.gaps.values()], alternative="greater")[0]
        for place, one in enumerate(told)
        if one.own
    }
    corrected = holm({str(place): p for place, p in raw.items()})
    found: list[Tested] = []
    for place, one in enumerate(told):
        gaps = list(one.gaps.values())
        low, high = bootstrap(gaps) if len(gaps) > 1 else (math.nan, math.nan)
        p_holm = corrected.get(str(place))
        supported = p_holm is not None and p_holm < rules["alpha"]
        found.append(
            replace(one, low=low, high=high, p=raw.get(place), p_holm=p_holm, supported=supported)
        )
    return found


def _before(claim: dict[str, Any], arms: Arms, apart: Unit) -> Tested:
    """A claim with its figures, not tested yet."""
    measure, against = claim["measure"], claim["against"]
    own = {unit: runs for unit, runs in arms[claim["arm"]].items() if unit != apart}
    if isinstance(against, float):
        found = units(own, measure)
        other, fallen = dict.fromkeys(found, against), tuple[str, ...]()
    else:
        others = {unit: runs for unit, runs in arms[against].items() if unit != apart}
        own, others, fallen = _beside(own, others, against)
        found, other = units(own, measure), units(others, measure)
    return Tested(
        claim, found, other, math.nan, math.nan, None, None, supported=False, fallen=fallen
    )


def _beside(
    own: Mapping[Unit, list[dict[str, float]]],
    others: Mapping[Unit, list[dict[str, float]]],
    against: str,
) -> tuple[dict[Unit, list[dict[str, float]]], dict[Unit, list[dict[str, float]]], tuple[str, ...]]:
    """Runs of an arm beside those of a control with the same unit, base model and seed, and the
    controls that are left out. Copies of one run are one unit."""
    kept: list[dict[Unit, list[dict[str, float]]]] = [defaultdict(list), defaultdict(list)]
    fallen: dict[str, None] = {}
    for unit, runs in own.items():
        partners = {(one["base"], one["seed"]): one for one in others.get(unit, [])}
        for one in runs:
            other = partners.get((one["base"], one["seed"]))
            if other is None:
                continue
            cell = (f"base {one['base']:.0f}", f"seed {one['seed']:.0f}")
            if other["fell"]:
                modes = " and ".join(part for part in unit if not part.startswith("base "))
                of = () if other["copy"] else (f"choice {modes}",)
                name = f"{against} of {', '.join((*cell, *of))}"
                fallen[f"{name} (solves {other['solve']:.3f})"] = None
                continue
            place = cell if other["copy"] else unit
            kept[0][place].append(one)
            kept[1][place].append(other)
    return dict(kept[0]), dict(kept[1]), tuple(fallen)


def arm_rows(
    arms: Arms, skip: Unit | None = None, only: Unit | None = None
) -> list[dict[str, Any]]:
    """Means by arm over runs."""
    told: list[dict[str, Any]] = []
    for arm, found in sorted(arms.items()):
        runs = [
            one
            for unit, items in found.items()
            for one in items
            if unit != skip and only in (None, unit)
        ]
        if not runs:
            continue
        if runs[0]["copy"]:
            runs = _once(runs)
        row: dict[str, Any] = {"arm": arm, "runs": len(runs)}
        for measure in ("held_out", "solve"):
            got = spread_of([one[measure] for one in runs])
            row |= {measure: round(got.mean, 4), f"{measure}_sem": round(got.sem or 0.0, 4)}
        row["leaks"] = sum(one["held_out"] > 0.1 for one in runs)
        told.append(row)
    return told


def _once(runs: list[dict[str, float]]) -> list[dict[str, float]]:
    """Each run once, with its mean over the choices that it stands for."""
    cells: dict[tuple[float, float], list[dict[str, float]]] = defaultdict(list)
    for one in runs:
        cells[one["base"], one["seed"]].append(one)
    return [{name: mean(one[name] for one in same) for name in same[0]} for same in cells.values()]


def shortcuts(runs: Mapping[Key, list[RunFigures]]) -> list[dict[str, Any]]:
    """Rates by arm and mode where some hacks are no statement, known and held-out modes apart; none
    before all runs are there."""
    there = sum(len(items) for (part, _, _), items in runs.items() if part == "shortcuts")
    if there < sum(1 for _ in planned("shortcuts", {})):
        return []
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
