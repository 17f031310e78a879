"""`unhack score`: what completions of a task are worth."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from unhack.cli.score.completions import CompletionRow
    from unhack.core.group import Advantages
    from unhack.core.verdict import Verdict
    from unhack.tasks.batch import Batch
    from unhack.tasks.task import Task

_MAX_ROWS_ON_SCREEN = 200


TaskName = Annotated[str, typer.Argument(metavar="TASK", help="A task id, a suite or a directory.")]
CompletionFiles = Annotated[
    list[str],
    typer.Option(
        "--completions",
        metavar="FILE",
        help="Rows in a .jsonl file, or `-` for rows on stdin; any other file is one completion. "
        "May be given several times.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON object for each completion, in order.")
]
GroupSize = Annotated[
    int | None,
    typer.Option(min=1, metavar="G", help="Every G consecutive completions form a group."),
]
Estimator = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Advantages by grpo (the default with --group-size), dr_grpo, rloo, maxrl or "
        "batch_std. Without --group-size, consecutive completions of one problem form a group.",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(min=0, max=1, metavar="X", help="Exit with 1 when the mean score is below X."),
]


def score(
    task: TaskName,
    completions: CompletionFiles,
    as_json: AsJson = False,
    group_size: GroupSize = None,
    estimator: Estimator = None,
    fail_under: Threshold = None,
) -> None:
    """Score completions of a task.

    A row is {"completion": "…"}, with "id" if wanted, and "task" (an id) or "row" (a number
    from 0) where TASK stands for several problems.

    \b
    unhack score strings/knit-rows --completions solution.py
    unhack score math --completions samples.jsonl --group-size 8 --json > verdicts.jsonl
    """
    from unhack.cli.score.completions import TaskChooser, read_completions
    from unhack.core.errors import BatchUnscoredError, UnknownNameError
    from unhack.core.group import ESTIMATORS
    from unhack.tasks.suite import find_tasks

    if estimator is not None and estimator not in ESTIMATORS:
        raise UnknownNameError("estimator", estimator, valid=ESTIMATORS)
    chooser = TaskChooser(task, find_tasks(task))
    rows = read_completions(completions)
    tasks = [chooser.choose(row) for row in rows]
    if group_size is not None:
        _check_groups(rows, tasks, size=group_size)
        estimator = estimator or "grpo"
    screen = _JsonScreen(rows, tasks, estimator) if as_json else _TableScreen(rows, estimator)
    started = time.monotonic()
    failure: BatchUnscoredError | None = None
    try:
        batch = _judge(rows, tasks, group_size=group_size, screen=screen)
    except BatchUnscoredError as error:
        failure, batch = error, error.batch
    screen.finish(batch, time.monotonic() - started)
    if failure is not None:
        raise failure
    _apply_threshold(batch, fail_under)


def _check_groups(rows: Sequence[CompletionRow], tasks: Sequence[Task], *, size: int) -> None:
    """Refuse groups that are cut short or that mix problems, before anything runs."""
    from unhack.core.errors import UsageError

    for start in range(0, len(rows), size):
        members = tasks[start : start + size]
        if len(members) < size:
            raise UsageError(
                f"{rows[start].place}: the last group has {len(members)} of {size} completions; "
                f"{len(rows)} completions cannot be cut into groups of {size}"
            )
        for offset, member in enumerate(members):
            if member is not members[0]:
                raise UsageError(
                    f"{rows[start + offset].place}: answers {member.id}, but its group of {size} "
                    f"began with {members[0].id}; sort the rows by problem"
                )


def _judge(
    rows: Sequence[CompletionRow],
    tasks: list[Task],
    *,
    group_size: int | None,
    screen: _JsonScreen | _TableScreen,
) -> Batch:
    from unhack.cli.terminal import progress
    from unhack.sandbox.pool.shared import pool
    from unhack.tasks.batch import run_batch

    with pool() as backend, progress("scoring", total=len(rows)) as advance:

        def on_verdict(index: int, verdict: Verdict) -> None:
            advance()
            screen.on_verdict(index, verdict)

        texts = [row.completion for row in rows]
        return run_batch(
            tasks, texts, group_size=group_size, backend=backend, on_verdict=on_verdict
        )


def _apply_threshold(batch: Batch, fail_under: float | None) -> None:
    """Exit codes 1 and 3 for what the batch as a whole came to."""
    from unhack.cli.terminal import remarks
    from unhack.core.errors import SandboxError

    mean = batch.report().mean_reward
    if mean is None:
        raise SandboxError(f"nothing could be scored; first: {batch.verdicts[0].reason}")
    if fail_under is not None and mean < fail_under:
        remarks().print(f"mean score {mean:.3f} is below {fail_under}", style="red")
        raise typer.Exit(1)


def _id_of(row: CompletionRow, index: int) -> str | int:
    return index if row.id is None else row.id


def _short_ids(rows: Sequence[CompletionRow]) -> list[str]:
    """Ids for people: plain files by their bare names, where those differ."""
    full = [str(_id_of(row, index)) for index, row in enumerate(rows)]
    short = [
        name.rpartition("/")[2] if row.id == row.place else name
        for name, row in zip(full, rows, strict=True)
    ]
    return short if len(set(short)) == len(set(full)) else full


class _TableScreen:
    """A table when everything is judged."""

    def __init__(self, rows: Sequence[CompletionRow], estimator: str | None) -> None:
        self._ids = _short_ids(rows)
        self._estimator = estimator

    def on_verdict(self, index: int, verdict: Verdict) -> None:
        """Show nothing: the table comes at the end."""

    def finish(self, batch: Batch, wall_s: float) -> None:
        """Show everything."""
        from unhack.cli import terminal, verdict_table

        console = terminal.results()
        shown = len(batch.verdicts)
        if console.is_terminal:
            shown = min(shown, _MAX_ROWS_ON_SCREEN)
        advantages = batch.advantages(self._estimator) if self._estimator else None
        ends = [group[-1] for group in batch.group_indices] if advantages else []
        console.print(
            verdict_table.verdict_table(
                self._ids[:shown], batch.verdicts[:shown], advantages=advantages, group_ends=ends
            )
        )
        if shown < len(batch.verdicts):
            console.print(f"… {len(batch.verdicts) - shown} more; --json gives all of them")
        console.print()
        console.print(
            verdict_table.summary(batch, wall_s=wall_s, grouped=advantages is not None),
            soft_wrap=True,
        )


class _JsonScreen:
    """One object a line, in order: as verdicts come, or at the end where advantages are wanted."""

    def __init__(
        self, rows: Sequence[CompletionRow], tasks: Sequence[Task], estimator: str | None
    ) -> None:
        self._rows, self._tasks, self._estimator = rows, tasks, estimator
        self._waiting: dict[int, Verdict] = {}
        self._next = 0

    def on_verdict(self, index: int, verdict: Verdict) -> None:
        """Write every verdict whose predecessors are written."""
        if self._estimator is not None:
            return
        self._waiting[index] = verdict
        while self._next in self._waiting:
            self._write(self._next, self._waiting.pop(self._next), {})
            self._next += 1

    def finish(self, batch: Batch, wall_s: float) -> None:
        """Write what is left, and the summary to stderr."""
        from unhack.cli import terminal, verdict_table

        advantages = batch.advantages(self._estimator) if self._estimator else None
        for index in range(self._next, len(batch.verdicts)):
            extra = _group_fields(batch, advantages, index)
            self._write(index, batch.verdicts[index], extra)
        terminal.remarks().print(
            verdict_table.summary(batch, wall_s=wall_s, grouped=advantages is not None),
            soft_wrap=True,
        )

    def _write(self, index: int, verdict: Verdict, extra: dict[str, Any]) -> None:
        from unhack.cli.terminal import write_json

        head = {"id": _id_of(self._rows[index], index), "task": self._tasks[index].id}
        write_json({**head, **verdict.to_json(), **extra})


def _group_fields(batch: Batch, advantages: Advantages | None, index: int) -> dict[str, Any]:
    if advantages is None:
        return {}
    return {
        "reward": batch.rewards[index],
        "advantage": advantages.values[index],
        "mask": advantages.mask[index],
    }
