"""`unhack score`: what completions of a task are worth."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from unhack.cli import terminal
from unhack.cli.options import arg, check_output, opt, takes
from unhack.cli.tasks.check import ColumnMap, DataSetName, load_data_set
from unhack.cli.terminal import remarks, working
from unhack.core.errors import (
    BatchUnscoredError,
    SandboxError,
    TaskError,
    UnknownNameError,
    UsageError,
)

if TYPE_CHECKING:
    from unhack.cli.score.completions import CompletionRow
    from unhack.cli.score.journal import VerdictJournal
    from unhack.cli.score.screen import ScoreScreen, Scoring
    from unhack.tasks.batch import Batch
    from unhack.tasks.execution.executor import Executor
    from unhack.tasks.task import Task

SCORE_HEADINGS = {
    "Output": ("as_json", "show", "html", "fail_under"),
    "TASK as a file of rows": ("data_set", "column_map", "no_check"),
    "Groups and advantages": ("group_size", "estimator"),
    "Resuming": ("run",),
}
"""Of options in the help."""


@dataclass(frozen=True)
class ScoreArguments:
    """The command's arguments and options."""

    task: str = arg(..., "A task id, a suite, a directory, or a file of rows.", metavar="TASK")
    files: list[str] | None = arg(
        None,
        "Completions: rows in a .jsonl file, or `-` for rows on stdin; any other file is "
        "one completion.",
        metavar="FILE",
    )
    completions: list[str] | None = opt(
        None, "The same as FILE; may be given several times.", metavar="FILE"
    )
    as_json: bool = opt(
        False, "One JSON object for each completion, with its number as `index`.", "--json"
    )
    show: Literal["failures"] | None = opt(
        None,
        "Also show input, expected and obtained of each failed case. For the task's author: "
        "it holds answers.",
        metavar="failures",
    )
    html: Path | None = opt(None, "Also write an HTML page with the failed cases.", metavar="FILE")
    group_size: int | None = opt(
        None, "Every G consecutive completions form a group.", metavar="G", least=1
    )
    estimator: str | None = opt(
        None,
        "Advantages by grpo (the default with --group-size), dr_grpo, rloo, maxrl or "
        "batch_std. Without --group-size, consecutive completions of one problem form a group.",
        metavar="NAME",
    )
    fail_under: float | None = opt(
        None, "Exit with 1 when the mean score is below X.", metavar="X", least=0, most=1
    )
    data_set: DataSetName = None
    column_map: ColumnMap = None
    no_check: bool = opt(False, "Rows: run nothing before the completions.", "--no-check")
    executor: str | None = opt(
        None,
        "Where completions are judged: local, shards or ray (default: by the cores at hand).",
        metavar="NAME",
    )
    run: Path | None = opt(
        None, "Keep verdicts in this folder; the same command resumes.", metavar="DIR"
    )


@takes(ScoreArguments)
def score(arguments: ScoreArguments) -> None:
    """Score completions of a task.

    A row is {"completion": "…"}, with "id" if wanted, and "task" (an id) or "row" (a number
    from 0) where TASK stands for several problems.

    \b
    unhack score strings/knit-rows solution.py
    unhack score strings/knit-rows solution.py --show failures
    unhack score math samples.jsonl --group-size 8 --json > verdicts.jsonl
    unhack score math samples.jsonl --run out --html out/page.html
    """
    from unhack.cli.score.screen import JsonScreen, TableScreen
    from unhack.tasks.batch import as_batch
    from unhack.tasks.execution.choosing import executor_named

    check_output("--html", arguments.html)
    work = _work(arguments)
    screen = JsonScreen(work) if arguments.as_json else TableScreen(work)
    started = time.monotonic()
    with contextlib.ExitStack() as opened:
        journal = None
        if arguments.run is not None:
            from unhack.cli.score.journal import VerdictJournal

            journal = opened.enter_context(VerdictJournal(arguments.run, work.rows, work.tasks))
        try:
            executor = opened.enter_context(executor_named(arguments.executor))
            _judge(work, screen, journal, executor=executor)
        except KeyboardInterrupt:
            _say_interrupted(work, arguments.run)
            raise
    wall_s = time.monotonic() - started
    failure: BatchUnscoredError | None = None
    try:
        batch = as_batch(work.verdicts, list(work.tasks), group_size=arguments.group_size)
    except BatchUnscoredError as error:
        failure, batch = error, error.batch
    screen.finish(batch, wall_s)
    if arguments.html is not None:
        from unhack.cli.score.page import page

        terminal.write_file(arguments.html, page(work, batch))
    if failure is not None:
        raise failure
    _apply_threshold(batch, arguments.fail_under)


def _work(arguments: ScoreArguments) -> Scoring:
    """Everything that is to be judged, read and checked. Raises UsageError."""
    from unhack.cli.score.completions import TaskChooser, read_completions
    from unhack.cli.score.screen import Scoring
    from unhack.core.group import ESTIMATORS
    from unhack.tasks.batch import groups_of

    estimator, size = arguments.estimator, arguments.group_size
    if estimator is not None and estimator not in ESTIMATORS:
        raise UnknownNameError("estimator", estimator, valid=ESTIMATORS)
    names = [*(arguments.files or ()), *(arguments.completions or ())]
    chooser = TaskChooser(arguments.task, _tasks(arguments))
    if not names:
        raise UsageError(
            f"no completions: name a file, as in `unhack score {arguments.task} solution.py`; "
            "rows on stdin are `-`"
        )
    rows = read_completions(names)
    tasks = [chooser.choose(row) for row in rows]
    if size is not None:
        _check_groups(rows, tasks, size=size)
        estimator = estimator or "grpo"
    groups = groups_of(tasks, len(rows), group_size=size)
    return Scoring(rows, tasks, groups, estimator, arguments.show == "failures")


def _tasks(arguments: ScoreArguments) -> Sequence[Task]:
    """The tasks that TASK stands for; rows of a data set are proved first, and those that are left
    out are named. Raises UsageError."""
    from unhack.tasks.loaders.records import is_data_set
    from unhack.tasks.suite import find_tasks

    if not is_data_set(arguments.task):
        return find_tasks(arguments.task)
    loaded = load_data_set(
        arguments.task, arguments.data_set, arguments.column_map, check=not arguments.no_check
    )
    for row in loaded.left_out:
        remarks().print(f"left out: {row}", soft_wrap=True)
    if loaded.checked:
        remarks().print(
            f"{len(loaded.tasks)} of {len(loaded.rows)} rows are sound; checked in "
            f"{loaded.wall_s:.1f} s, {loaded.cpu_s:.1f} s of CPU time"
        )
    if not loaded.tasks:
        raise TaskError(f"{arguments.task}: no row is left to score")
    return loaded.tasks


def _check_groups(rows: Sequence[CompletionRow], tasks: Sequence[Task], *, size: int) -> None:
    """Refuse groups that are cut short or that mix problems, before anything runs."""
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
    work: Scoring, screen: ScoreScreen, journal: VerdictJournal | None, *, executor: Executor
) -> None:
    """Judge what is not judged yet, and show every verdict as its turn comes."""
    from unhack.cli.progress import CommandProgress, ticking
    from unhack.cli.score.turns import PATIENCE_S, Turns, from_both_ends
    from unhack.tasks.batch import stream_batch

    units = work.units
    turns = Turns(units, lambda number: screen.show(units[number]))
    known = {} if journal is None else journal.known
    left = [index for index in range(len(work.rows)) if index not in known]
    if known:
        text = f"resuming: {len(known)} of {len(work.rows)} completions are judged already"
        remarks().print(text, soft_wrap=True)
    try:
        for index in sorted(known):
            work.verdicts[index] = known[index]
            turns.put(index)
        if not left:
            return
        order = list(from_both_ends(left))
        tasks, texts = [work.tasks[i] for i in order], [work.rows[i].completion for i in order]
        progress = CommandProgress("scoring", len(work.rows), len(known))
        with working(progress) as advanced, ticking(turns.look, every_s=PATIENCE_S / 4):
            for place, verdict in stream_batch(tasks, texts, executor=executor, window=None):
                index = order[place]
                work.verdicts[index] = verdict
                if journal is not None:
                    journal.keep(index, verdict)
                progress.advance()
                advanced()
                turns.put(index)
    finally:
        turns.finish()


def _say_interrupted(work: Scoring, folder: Path | None) -> None:
    """Say on stderr what was done, and how to go on."""
    done = f"Interrupted: {len(work.verdicts)} of {len(work.rows)} completions were judged."
    text = f"{done} Nothing was kept; with --run DIR the same command would resume."
    if folder is not None:
        text = f"{done} They are kept in {folder}; run the same command to resume."
    remarks().print(text, soft_wrap=True)


def _apply_threshold(batch: Batch, fail_under: float | None) -> None:
    """Exit codes 1 and 3 for what the batch as a whole came to."""
    mean = batch.report().mean_reward
    if mean is None:
        raise SandboxError(f"nothing could be scored; first: {batch.verdicts[0].reason}")
    if fail_under is not None and mean < fail_under:
        remarks().print(f"mean score {mean:.3f} is below {fail_under}", style="red")
        raise typer.Exit(1)
