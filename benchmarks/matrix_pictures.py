"""Pictures of the matrix for the README and the page of results, from the record of its runs."""

from __future__ import annotations

from pathlib import Path

import matrix_page
import train_matrix
from chart_files import standalone
from matrix_runs import recorded
from matrix_tests import Arms, missing, rules_of

ASSETS = Path(__file__).resolve().parents[1] / "docs" / "assets"
_SIZES = {"matrix": "0.1M parameters", "large": "55M parameters"}
_DOTS = {"matrix": "a dot is a choice of two known modes", "large": "a dot is a seed"}


def pictures() -> dict[Path, str]:
    """Every picture whose runs are all recorded."""
    runs, found = recorded(), dict[Path, str]()
    whole = [name for name in ("matrix", "large", "where") if not missing(runs, name)]
    shown: dict[str, dict[str, Arms]] = {}
    for name in whole:
        tested, arms = train_matrix.tested(runs, name)
        shown[name] = train_matrix.without_apart(arms, rules_of(name))
        if name not in _SIZES:
            continue
        found[ASSETS / f"routing-{name}-claims.svg"] = standalone(
            [("", matrix_page.claims_chart(tested))],
            title=f"Registered claims at {_SIZES[name]}",
            about="; ".join(
                f"{matrix_page.title_of(one.claim)}: {matrix_page.verdict(one)[0]}"
                for one in tested
            ),
        )
        own = shown[name][""]
        found[ASSETS / f"routing-{name}.svg"] = standalone(
            [
                (heading, matrix_page.arm_chart(own, measure, of_units=True))
                for heading, measure in (("Held-out hacks", "held_out"), ("Solved", "solve"))
            ],
            title=f"Deployed models of {_SIZES[name]}: {_DOTS[name]}, a diamond the mean",
            about=told(own),
        )
    if "where" in shown:
        found[ASSETS / "routing-where.svg"] = standalone(
            [("", matrix_page.condition_chart(shown["where"], "held_out"))],
            title="Held-out hacks of deployed models of 0.1M parameters. A dot is one run.",
            about="; ".join(f"{part}: {told(own)}" for part, own in shown["where"].items()),
        )
    return found


def told(arms: Arms) -> str:
    """Held-out hacks and solved problems by arm, in words."""
    parts: list[str] = []
    for arm in matrix_page.ORDER:
        runs = [one for items in arms.get(arm, {}).values() for one in items]
        if runs:
            held, solve = (
                sum(one[measure] for one in runs) / len(runs) for measure in ("held_out", "solve")
            )
            parts.append(f"{matrix_page.named(arm)} {held:.1%} and {solve:.1%}")
    return "held-out hacks and solved problems: " + ", ".join(parts)
