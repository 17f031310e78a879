"""Verdicts as a table and as one line, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from unhack.core.verdict import Seal, Status, Verdict
from unhack.verifiers.jobs import printable

if TYPE_CHECKING:
    from unhack.tasks.batch import Batch

STYLES = {
    Status.PASSED: "green",
    Status.FAILED: "red",
    Status.ERROR: "yellow",
    Status.TIMEOUT: "magenta",
    Status.LIMIT: "magenta",
    Status.INVALID: "yellow",
    Status.UNSCORED: "bold reverse",
}
"""The colour of each status."""
_RULE = 40
"""Columns of the rule below the head of the last column, whose width nobody knows yet."""
MINUS = "\N{MINUS SIGN}"
ColumnStyle = Literal["", "whole", "fold", "right", "number"]
"""`whole`: on one line, cut where it is too long. `number`: the same, on the right. `fold`: on
several lines, where words are too long as well."""
_STYLES: Mapping[ColumnStyle, Mapping[str, Any]] = {
    "": {},
    "whole": {"no_wrap": True},
    "fold": {"overflow": "fold"},
    "right": {"justify": "right"},
    "number": {"justify": "right", "no_wrap": True},
}


def status_text(status: Status) -> Text:
    """A status in its colour."""
    return Text(status.value, style=STYLES[status])


def score_text(score: float | None) -> Text:
    """A score with at most three decimals, or a dash where there is none."""
    return Text("-" if score is None else f"{score:.3f}".rstrip("0").ljust(3, "0"))


def advantage_text(value: float, *, kept: bool) -> Text:
    """An advantage with its sign; a dot for an item that stays out of the loss."""
    if not kept:
        return Text("·", style="dim")
    return Text(f"{value:+.2f}".replace("-", MINUS), style="green" if value > 0 else "red")


def plain_table(
    heads: Mapping[str, ColumnStyle] | None = None,
    rows: Iterable[Iterable[RenderableType]] = (),
) -> Table:
    """A table with a rule under its header and nothing else; `heads`: its columns by name."""
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )
    for name, style in (heads or {}).items():
        table.add_column(name, **_STYLES[style])
    for row in rows:
        table.add_row(*row)
    return table


class VerdictTable:
    """A table of verdicts whose rows are printed one by one, as they come."""

    def __init__(self, ids: Sequence[str], *, width: int, advantages: bool = False) -> None:
        """Make the table for completions of these names, on `width` columns."""
        self._advantages = advantages
        name = max((len(printable(name)) for name in ids), default=0)
        self._widths = [min(max(name, len("completion")), max(10, width // 3)), 8, 5]
        self._widths += [9] if advantages else []
        self._rest = max(10, width - sum(self._widths) - 2 * len(self._widths))

    def head(self) -> Group:
        """The names of the columns, and a rule."""
        rule = sum(self._widths) + 2 * len(self._widths) + min(self._rest, _RULE)
        return Group(self._table(show_header=True), Text("─" * rule))

    def row(self, name: str, verdict: Verdict, *, advantage: tuple[float, bool] | None) -> Table:
        """One verdict; `advantage` is a value and whether it is kept."""
        table = self._table(show_header=False)
        cells = [Text(printable(name)), status_text(verdict.status), score_text(verdict.score)]
        if self._advantages:
            value, kept = advantage or (0.0, False)
            cells.append(advantage_text(value, kept=kept))
        table.add_row(*cells, Text(printable(verdict.reason)))
        return table

    def _table(self, *, show_header: bool) -> Table:
        table = plain_table()
        table.show_header = show_header
        table.box, table.padding = None, (0, 2, 0, 0)
        names = ["completion", "status", "score"]
        names += ["advantage"] if self._advantages else []
        for name, width in zip(names, self._widths, strict=True):
            right = name in ("score", "advantage")
            justify = "right" if right else "left"
            table.add_column(name, width=width, overflow="fold", justify=justify)
        table.add_column("reason", max_width=self._rest, overflow="fold")
        return table


def summary(batch: Batch, *, wall_s: float, grouped: bool) -> str:
    """The batch in one or two lines."""
    verdicts = batch.verdicts
    counts = Counter(verdict.status for verdict in verdicts)
    parts = [f"{counts[status]} {status.value}" for status in Status if counts[status]]
    report = batch.report()
    mean = "-" if report.mean_reward is None else f"{report.mean_reward:.3f}"
    noun = "completion" if len(verdicts) == 1 else "completions"
    rate = len(verdicts) / max(wall_s, 1e-9)
    lines = [
        f"{len(verdicts)} {noun}: {', '.join(parts)}; mean score {mean}; "
        f"{wall_s:.2f} s ({rate:.0f}/s); {_how_kept_apart(verdicts)}"
    ]
    if grouped:
        groups = "1 group" if report.groups == 1 else f"{report.groups} groups"
        lines.append(
            f"{groups}: {report.all_pass:.0%} all pass, {report.all_fail:.0%} all "
            f"fail, {report.no_signal:.0%} with equal rewards (no gradient)"
        )
    return "\n".join(lines)


def _how_kept_apart(verdicts: Sequence[Verdict]) -> str:
    """The seals of the verdicts, and the isolation of those whose code ran."""
    seals = Counter(verdict.seal for verdict in verdicts if verdict.scored)
    levels = sorted(
        {v.isolation for v in verdicts if v.scored and v.seal is not Seal.TEXT} - {"none"}
    )
    named = " and ".join(seal.value for seal in Seal if seals[seal]) or "nothing was run"
    return f"{named}, isolated by {' and '.join(levels)}" if levels else named
