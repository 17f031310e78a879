"""Verdicts as they come: rows of a table, or JSON objects, on stdout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from unhack.cli import terminal
from unhack.cli.score.completions import CompletionRow
from unhack.cli.verdict_table import VerdictTable, summary
from unhack.core.group import Advantages, advantages
from unhack.core.verdict import Verdict
from unhack.tasks.batch import Batch
from unhack.tasks.explain import Explanation, explain
from unhack.tasks.task import Task
from unhack.verifiers.reward import reward_of

_MAX_ROWS_ON_SCREEN = 200
_MOST_LINES = 20


@dataclass(frozen=True)
class Scoring:
    """The work of one command."""

    rows: Sequence[CompletionRow]
    tasks: Sequence[Task]
    groups: Sequence[Sequence[int]]
    """Which completions are rollouts of one problem."""
    estimator: str | None
    """Of advantages; None where none are wanted."""
    show_failures: bool
    verdicts: dict[int, Verdict] = field(default_factory=dict[int, Verdict])
    """By the number of their completion; grows."""

    @property
    def units(self) -> list[Sequence[int]]:
        """Units shown at once: single completions, or what advantages are computed from."""
        if self.estimator is None:
            return [(index,) for index in range(len(self.rows))]
        whole = self.estimator == "batch_std"
        return [tuple(range(len(self.rows)))] if whole else list(self.groups)

    def id_of(self, index: int) -> str | int:
        """The row's own id, else its number."""
        row = self.rows[index]
        return index if row.id is None else row.id

    def advantages_of(self, unit: Sequence[int]) -> Advantages | None:
        """Of the completions of one unit, in its order."""
        if self.estimator is None:
            return None
        place = {index: number for number, index in enumerate(unit)}
        groups = [[place[i] for i in group] for group in self.groups if group[0] in place]
        rewards = [reward_of(self.verdicts[index]) for index in unit]
        return advantages(rewards, groups, estimator=self.estimator)

    def explanation(self, index: int) -> Explanation | None:
        """The failed case, where it is asked for."""
        if not self.show_failures:
            return None
        return explain(self.tasks[index], self.verdicts[index])


class ScoreScreen(Protocol):
    """Something that shows verdicts."""

    def show(self, unit: Sequence[int]) -> None:
        """Show the verdicts of a unit, all of which are there."""
        ...

    def finish(self, batch: Batch, wall_s: float) -> None:
        """Show the summary."""
        ...


class TableScreen:
    """Rows of a table on stdout, then the summary."""

    def __init__(self, work: Scoring) -> None:
        self._work = work
        self._ids = _short_ids(work)
        self._console = terminal.results()
        width = min(self._console.width, 160)
        grouped = work.estimator is not None
        self._table = VerdictTable(self._ids, width=width, advantages=grouped)
        self._shown = self._held_back = 0

    def show(self, unit: Sequence[int]) -> None:
        """Print a row for each, and a rule after a group."""
        if not self._shown:
            self._print(self._table.head())
        found = self._work.advantages_of(unit)
        for place, index in enumerate(unit):
            if self._console.is_terminal and self._shown >= _MAX_ROWS_ON_SCREEN:
                self._held_back += 1
                continue
            self._shown += 1
            advantage = None if found is None else (found.values[place], found.mask[place])
            verdict = self._work.verdicts[index]
            self._print(self._table.row(self._ids[index], verdict, advantage=advantage))
            explanation = self._work.explanation(index)
            if explanation is not None:
                for part in explanation_lines(explanation):
                    self._print(Padding(part, (0, 0, 0, 4), expand=False))
        if found is not None and self._shown < len(self._work.rows) and not self._held_back:
            self._print(Text("─" * 40, style="dim"))

    def finish(self, batch: Batch, wall_s: float) -> None:
        """Print what was left out, and the summary."""
        if self._held_back:
            self._print(Text(f"… {self._held_back} more; --json or --html gives all of them"))
        grouped = self._work.estimator is not None
        self._console.print()
        self._console.print(summary(batch, wall_s=wall_s, grouped=grouped), soft_wrap=True)

    def _print(self, part: RenderableType) -> None:
        self._console.print(part)


class JsonScreen:
    """One object a line on stdout, the summary on stderr."""

    def __init__(self, work: Scoring) -> None:
        self._work = work

    def show(self, unit: Sequence[int]) -> None:
        """Write an object for each."""
        found = self._work.advantages_of(unit)
        for place, index in enumerate(unit):
            verdict = self._work.verdicts[index]
            fields: dict[str, Any] = {"index": index, "id": self._work.id_of(index)}
            fields |= {"task": self._work.tasks[index].id, **verdict.to_json()}
            if found is not None:
                fields |= {
                    "reward": reward_of(verdict),
                    "advantage": found.values[place],
                    "mask": found.mask[place],
                }
            explanation = self._work.explanation(index)
            if explanation is not None:
                fields["failure"] = explanation.to_json()
            terminal.write_json(fields)

    def finish(self, batch: Batch, wall_s: float) -> None:
        """Write the summary to stderr."""
        grouped = self._work.estimator is not None
        text = summary(batch, wall_s=wall_s, grouped=grouped)
        terminal.remarks().print(text, soft_wrap=True)


def explanation_lines(found: Explanation) -> Iterator[RenderableType]:
    """A failed case for the author of the task."""
    parts = {"input": found.input, "expected": found.expected, "obtained": found.obtained}
    if found.lines:
        if found.input:
            yield from _block("input", found.input)
        yield Text("- expected, + obtained", style="dim")
        styles: Mapping[str, str] = {"-": "green", "+": "red", "…": "dim"}
        for mark, line in found.diff():
            yield Text(f"{mark} {line}".rstrip(), style=styles.get(mark, ""), overflow="fold")
    else:
        for name, text in parts.items():
            if text:
                yield from _block(name, text)
    if found.note:
        yield Text(f"({found.note})", style="dim")


def _block(name: str, text: str) -> Iterator[Text]:
    lines = text.splitlines() or [""]
    if len(lines) == 1:
        yield Text.assemble((f"{name:<9}", "dim"), lines[0], overflow="fold")
        return
    yield Text(name, style="dim")
    for line in lines[:_MOST_LINES]:
        yield Text(f"  {line}", overflow="fold")
    if len(lines) > _MOST_LINES:
        yield Text(f"  … {len(lines) - _MOST_LINES} more lines", style="dim")


def _short_ids(work: Scoring) -> list[str]:
    """Ids for people: plain files by their bare names, where those differ."""
    full = [str(work.id_of(index)) for index in range(len(work.rows))]
    short = [
        name.rpartition("/")[2] if row.id == row.place else name
        for name, row in zip(full, work.rows, strict=True)
    ]
    return short if len(set(short)) == len(set(full)) else full
