"""The matrix of routing: what its registered claims come to.

    unhack train sweep experiments/matrix.toml --out RUNS/matrix
    unhack train sweep experiments/matrix-shared.toml --out RUNS/shared
    unhack train sweep experiments/matrix-shortcuts.toml --out RUNS/shortcuts
    unhack train sweep experiments/matrix-large.toml --out RUNS/large       # on a GPU
    unhack train sweep experiments/where/PLAN.toml --out RUNS/where/PLAN    # each plan there
    python benchmarks/matrix_rest.py RUNS --part PART ...    # what the record lacks of any of them
    python benchmarks/matrix_runs.py RUNS --machine TEXT
    python benchmarks/train_matrix.py [--large | --where] [--html PAGE]

Reads the record of runs, which may be of several parts and machines. Says what is missing until all
planned runs are there, and tests nothing before. Then writes `results/train_matrix.json`: the
claims of `experiments/matrix-claims.toml` with their tests, means by arm, the choice that is told
apart, and the shortcuts. With `--large` the same of `matrix-large`, with `--where` of `where`. The
page has a figure for each claim.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matrix_page
from matrix_page import Heading
from matrix_runs import Key, RunFigures, recorded
from matrix_tests import (
    CLAIMS,
    Arms,
    Tested,
    arm_rows,
    arms_of,
    decide,
    missing,
    rules_of,
    shortcuts,
)
from measure import save, summary, table
from unhack.reporting.page import card, section
from unhack.reporting.page import table as html_table
from unhack.reporting.text import safe

ABOUT = {
    "matrix": Heading(
        "What gradient routing does: the matrix at 0.1M parameters",
        "A small model learns to write programs for a reward with six loopholes (modes). Pairs of "
        "a hack and an honest program show two of them to the gate, in each of the 15 choices; the "
        "other four are held out. Two seeds and two base models for each choice, 120 updates. One "
        "unit of a test is a choice: the mean of its four runs.",
        "",
    ),
    "large": Heading(
        "What gradient routing does: 55M parameters",
        "A model of 55M parameters learns to write programs for a reward with four loopholes "
        "(modes), of which pairs show two to the gate and two are held out. One base model, twelve "
        "seeds, 120 updates. One unit of a test is a seed.",
        "",
    ),
    "where": Heading(
        "Where the direction and the quarantine matter",
        "The gate of the matrix, changed in one way in each of six conditions, at 0.1M parameters: "
        "one seed, four base models, three choices of two known modes out of six. One unit of a "
        "test is a base model with a choice: one run.",
        "",
    ),
}


def tested(runs: Mapping[Key, list[RunFigures]], name: str) -> tuple[list[Tested], dict[str, Arms]]:
    """Every claim of a set with its test, and the figures of its arms by the part of claims.

    Raises SystemExit where planned runs are missing.
    """
    left = missing(runs, name)
    if left:
        parts = ", ".join(f"{count} of {part}" for part, count in left.items())
        raise SystemExit(f"runs are missing ({parts}): the claims are tested when all are there")
    rules = rules_of(name)
    if name == "where":
        parts = dict.fromkeys(claim["part"] for claim in rules["claim"])
        arms = {part: arms_of(runs, f"where/{part}") for part in parts}
    else:
        arms = {"": arms_of(runs, name)}
    return decide(rules, arms), arms


def figures_of(
    runs: Mapping[Key, list[RunFigures]], name: str, found: Sequence[Tested], arms: dict[str, Arms]
) -> dict[str, Any]:
    """What is kept of a set of claims."""
    rules = rules_of(name)
    apart = tuple(rules.get("apart", ()))
    rows = [one.row() for one in found]
    by_arm = [
        {**({"part": part} if part else {}), **row}
        for part, own in arms.items()
        for row in arm_rows(own, skip=apart)
    ]
    figures: dict[str, Any] = {
        "alpha": rules["alpha"],
        "claims": table(rows, tuple(rows[0])),
        "arms": table(by_arm, tuple(by_arm[0])),
        "not_used": sorted({name for one in found for name in one.fallen}),
    }
    if name == "matrix":
        own_rows, short = arm_rows(arms[""], only=apart), shortcuts(runs)
        figures["apart"] = table(own_rows, tuple(own_rows[0]))
        if short:
            figures["shortcuts"] = table(short, tuple(short[0]))
    return figures


def without_apart(arms: Mapping[str, Arms], rules: Mapping[str, Any]) -> dict[str, Arms]:
    """Figures of arms without the choice that is told apart."""
    apart = tuple(rules.get("apart", ()))
    return {
        part: {
            arm: {unit: items for unit, items in own.items() if unit != apart}
            for arm, own in of_part.items()
        }
        for part, of_part in arms.items()
    }


def page(
    runs: Mapping[Key, list[RunFigures]], name: str, found: Sequence[Tested], arms: dict[str, Arms]
) -> str:
    """The page of a set of claims."""
    rules, about = rules_of(name), ABOUT[name]
    apart = tuple(rules.get("apart", ()))
    shown = without_apart(arms, rules)
    machines = str((summary(CLAIMS[name].record) or {}).get("machine", ""))
    usage = (__doc__ or "").split("\n\n")[1]
    made = f"<pre>{safe(usage)}</pre><p class='block soft small'>{safe(machines)}</p>"
    more = _more(runs, arms[""], apart) if name == "matrix" else ()
    heading = Heading(about.title, about.about, made)
    return matrix_page.page(heading, found, shown, alpha=rules["alpha"], more=more)


def _more(
    runs: Mapping[Key, list[RunFigures]], arms: Arms, apart: tuple[str, ...]
) -> tuple[str, ...]:
    """The choice that is told apart, and the modes that no statement games."""
    rows = arm_rows(arms, only=apart)
    alone = html_table(
        ("arm", "runs", "held-out hacks", "solved"),
        [
            (safe(matrix_page.named(row["arm"])), str(row["runs"]), f"{row['held_out']:.1%}",
             f"{row['solve']:.1%}")
            for row in rows
        ],
    )  # fmt: skip
    short = html_table(
        ("arm", "mode", "pairs", "runs", "hacked", "solved"),
        [
            (safe(matrix_page.named(row["arm"])), row["mode"],
             "known" if row["known"] else "held out", str(row["runs"]), f"{row['hack']:.1%}",
             f"{row['solve']:.1%}")
            for row in shortcuts(runs)
        ],
        words=(0, 1, 2),
    )  # fmt: skip
    apart_card = card(alone, note="Left out of every test above: the gate was chosen on it.")
    told = (section("The choice that all pilots used", apart_card),)
    if not shortcuts(runs):
        return told
    return (
        *told,
        section(
            "Hacks that are no extra statement",
            card(short, note="Modes echo and ordered are gamed by other steps of the program. "
                 "No claim was registered about them."),
        ),
    )  # fmt: skip


def main() -> None:
    """Read, test, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    which = parser.add_mutually_exclusive_group()
    for name, help_text in (
        ("large", "the claims at 55M parameters"),
        ("where", "the claims of experiments/where"),
    ):
        which.add_argument(f"--{name}", dest="name", action="store_const", const=name,
                           default="matrix", help=help_text)  # fmt: skip
    parser.add_argument("--html", type=Path)
    chosen = parser.parse_args()
    runs, name = recorded(), chosen.name
    found, arms = tested(runs, name)
    option = "" if name == "matrix" else f" --{name}"
    ran_on = (summary(CLAIMS[name].record) or {})["machine"]
    figures = figures_of(runs, name, found, arms)
    save(CLAIMS[name].result, f"python benchmarks/train_matrix.py{option}", figures, ran_on=ran_on)
    for one in found:
        print(one.row())
    if chosen.html:
        chosen.html.write_text(page(runs, name, found, arms), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
