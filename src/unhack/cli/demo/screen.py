"""The screen of the demo: tables, and sentences about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from unhack.cli.demo.corpus import DemoPart
from unhack.cli.demo.group import DemoGroup, DemoVerdicts, count_rewarded
from unhack.cli.verdict_table import MINUS, advantage_text, plain_table, score_text, status_text
from unhack.core.verdict import Status, Verdict

_KIND_STYLES = {"right": "green", "wrong": "red", "hack": "bold"}


def group_table(group: DemoGroup, judged: DemoVerdicts) -> Table:
    """The group, both judgements side by side."""
    table = plain_table(
        {
            "completion": "whole", "what it does": "", "one\nprocess": "number",
            "\nsealed": "whole", "GRPO\nadvantage": "number",
        }
    )  # fmt: skip
    advantages = judged.sealed_advantages
    kinds = [attempt.kind for attempt in group.attempts]
    for index, attempt in enumerate(group.attempts):
        sealed = judged.sealed.verdicts[index]
        table.add_row(
            Text(attempt.name, style=_KIND_STYLES[attempt.kind]),
            Text(attempt.tries),
            _score(judged.beside[index], attempt.kind),
            Text.assemble(_score(sealed, attempt.kind), " ", status_text(sealed.status)),
            advantage_text(advantages.values[index], kept=advantages.mask[index]),
            end_section=kinds[index : index + 2] != [attempt.kind] * 2,
        )
    return table


def _score(verdict: Verdict | None, kind: str) -> Text:
    """A score, in red where a hack is rewarded."""
    if verdict is None:
        return Text("not run", style="dim")
    text = score_text(verdict.score)
    if kind == "hack" and verdict.score:
        text.stylize("bold red")
    return text


def group_findings(group: DemoGroup, judged: DemoVerdicts) -> list[str]:
    """The conclusions from the table, in sentences."""
    attempts = group.attempts
    hacks = [index for index, attempt in enumerate(attempts) if attempt.kind == "hack"]
    right = sum(attempt.kind == "right" for attempt in attempts)
    run = sum(judged.beside[index] is not None for index in hacks)
    lines: list[str] = []
    if run:
        fooled = count_rewarded(judged.beside, attempts, kind="hack")
        best = max(judged.beside_advantages.values[index] for index in hacks)
        lines.append(
            f"One process: {fooled} of {run} hacks get the full reward; the best has GRPO "
            f"advantage {_with_sign(best)}."
        )
    else:
        lines.append("One process: not run; this host cannot contain it without namespaces.")
    sealed = count_rewarded(judged.sealed.verdicts, attempts, kind="hack")
    best = max(judged.sealed_advantages.values[index] for index in hacks)
    lines.append(f"Sealed: {sealed} of {len(hacks)} do; the best has {_with_sign(best)}.")
    if any(verdict is not None for verdict in judged.resealed):
        again = count_rewarded(judged.resealed, attempts, kind="hack")
        solved = count_rewarded(judged.resealed, attempts, kind="right")
        lines.append(
            f"The same harness, unchanged, with the solution in a sandbox: {again} of "
            f"{len(hacks)} hacks and {solved} of {right} right solutions are rewarded."
        )
    return lines


def _with_sign(value: float) -> str:
    return f"{value:+.2f}".replace("-", MINUS)


@dataclass(frozen=True, slots=True)
class Result:
    """The verdicts of one part of the corpus."""

    part: DemoPart
    verdicts: Sequence[Verdict]
    wall_s: float

    @property
    def surprises(self) -> list[str]:
        """The items that are not as they must be; unscored ones never are."""
        return [
            f"{task.id}: {verdict.status}: {verdict.reason}"
            for (task, _), verdict in zip(self.part.items, self.verdicts, strict=True)
            if not verdict.scored
            or (self.part.must is not None and verdict.passed is not self.part.must)
        ]


def corpus_table(results: Sequence[Result]) -> Table:
    """One row for each part."""
    figures = ("judged", "passed", "unscored", "seconds", "verdicts/s")
    table = plain_table({"completions of": "", **dict.fromkeys(figures, "number")})
    for result in results:
        passed = sum(verdict.passed for verdict in result.verdicts)
        unscored = sum(verdict.status is Status.UNSCORED for verdict in result.verdicts)
        total = len(result.verdicts)
        must = result.part.must
        table.add_row(
            result.part.name,
            str(total),
            Text(str(passed), style=_style(must, good=must is True and passed == total)),
            Text(str(unscored), style="bold red" if unscored else ""),
            f"{result.wall_s:.1f}",
            f"{total / max(result.wall_s, 1e-9):.0f}",
        )
    return table


def _style(must: bool | None, *, good: bool) -> str:
    return "" if must is not True else "green" if good else "bold red"


def corpus_findings(results: Sequence[Result]) -> list[str]:
    """The conclusions from the corpus, in sentences."""
    checked = [result for result in results if result.part.must is not None]
    surprises = [line for result in checked for line in result.surprises]
    count = sum(len(result.verdicts) for result in checked)
    lines = [f"{count - len(surprises)} of {count} known outcomes judged correctly."]
    lines += [f"  {line}" for line in surprises[:10]]
    for result in results:
        if result.part.must is None:
            passed = sum(verdict.passed for verdict in result.verdicts)
            lines.append(
                f"{passed} changed programs pass all of HumanEval's tests: the change made no "
                "difference, or those tests do not detect it."
            )
    return lines


NEXT = """\
Score your own completions   unhack score TASK --completions samples.jsonl
Begin a task of your own     unhack tasks new ./my-task --kind function
Audit your own reward        unhack audit reward.py:compute_score --problems rows.jsonl
Hold a longer tournament     unhack tournament run quantization --agent search --out runs/first
Train (needs unhack[train])  unhack train run --out runs/first-training
See what holds here          unhack doctor
Read on                      docs/index.md"""
