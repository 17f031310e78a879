"""The demo's training: a recorded experiment, as a table and as a page; nothing is trained here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from unhack.cli.verdict_table import plain_table

if TYPE_CHECKING:
    from rich.table import Table

PAGE = "training.html"
HEADS = ("model", "runs", "held-out hacks", "problems solved")
ARMS = {
    "vanilla": "plain training",
    "replay": "control: the same shares, shuffled",
    "placebo": "control: a placebo direction",
    "real": "routed along the hack direction",
    "ceiling": "no loophole to find",
}
"""The arms that are shown, in a reader's words."""


def recording() -> Mapping[str, Any]:
    """The recorded experiment: its arms, its machine, what it was."""
    text = files("unhack.cli.demo").joinpath("training.json").read_text(encoding="utf-8")
    return cast("Mapping[str, Any]", json.loads(text))


def rows(recorded: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Cells below `HEADS`: rates of the deployed models, means and standard errors over runs."""
    arms = cast("Mapping[str, Mapping[str, Any]]", recorded["arms"])
    return [
        (
            label,
            str(arms[arm]["runs"]),
            _rate(arms[arm], "hack_held_out"),
            _rate(arms[arm], "solve"),
        )
        for arm, label in ARMS.items()
    ]


def _rate(arm: Mapping[str, Any], name: str) -> str:
    return f"{arm[name]:.2f} ± {arm[f'{name}_sem']:.2f}"


def table(cells: Sequence[Sequence[str]]) -> Table:
    """The rows for the terminal."""
    return plain_table({HEADS[0]: "whole", **dict.fromkeys(HEADS[1:], "number")}, cells)


def write_page(recorded: Mapping[str, Any], path: Path) -> None:
    """One page with the table, what it is a recording of, and what it does not show."""
    from unhack.reporting import page
    from unhack.reporting.text import safe

    cells = [[safe(cell) for cell in row] for row in rows(recorded)]
    parts = [
        page.top(
            "Gradient routing: a recorded experiment",
            why=safe(recorded["about"]),
            figures={"machine": recorded["machine"], "known modes": ", ".join(recorded["known"]),
                     "held-out modes": ", ".join(recorded["held_out"])},
        ),
        page.section("Deployed models", page.card(page.table(HEADS, cells),
                                                  note=safe(recorded["limits"]))),
        page.section("Run it", page.card(f"<pre>{safe(recorded['command'])}</pre>")),
    ]  # fmt: skip
    path.write_text(page.document("Gradient routing: a recorded experiment", parts), "utf-8")
