"""`unhack audit FOLDER --read-only`: Harbor tasks read, not run."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import typer
from rich.console import RenderableType
from rich.text import Text

from unhack.audit.environments.reading.page import reading_page
from unhack.audit.environments.reading.reader import read_task, task_folders
from unhack.audit.environments.reading.summary import ReadingSummary, summarised
from unhack.audit.environments.reading.suspicion import KINDS, TaskReading
from unhack.cli import terminal
from unhack.cli.audit.arguments import AuditArguments
from unhack.cli.options import check_output
from unhack.cli.verdict_table import plain_table
from unhack.core.errors import UsageError
from unhack.reporting.text import one_line

_WORK = frozenset({"target", "read_only", "as_json", "html"})
_NAMED = 20
_NOTHING_READ = 4


def run_reading(arguments: AuditArguments, given: frozenset[str]) -> None:
    """Read every task below the folder. Exits 4 when none could be read. Raises UsageError."""
    refused = [name for name in AuditArguments.__dataclass_fields__ if name in given - _WORK]
    if refused:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in refused)
        raise UsageError(f"{options}: not with --read-only, which runs nothing")
    folder = Path(arguments.target)
    if not folder.is_dir():
        raise UsageError(f"--read-only: {folder} is no directory; name one with Harbor tasks")
    check_output("--html", arguments.html)
    folders = task_folders(folder)
    readings: list[TaskReading] = []
    with terminal.progress("reading tasks", total=len(folders)) as advance:
        for one in folders:
            readings.append(read_task(one, below=folder))
            advance()
    summary = summarised(readings)
    if arguments.html is not None:
        text = reading_page(readings, summary, source=str(folder), made=datetime.now(UTC))
        terminal.write_file(arguments.html, text)
    objects = [*(one.to_json() for one in readings), {"summary": summary.to_json()}]
    terminal.write_result(objects, _screen(summary), as_json=arguments.as_json)
    if not summary.read:
        raise typer.Exit(_NOTHING_READ)


def _screen(summary: ReadingSummary) -> Iterable[RenderableType]:
    table = plain_table({"kind": "whole", "tasks, with 95 % interval": "whole", "meaning": ""})
    for kind, count in summary.counts.items():
        if count:
            table.add_row(kind.value, summary.share(count), KINDS[kind])
    yield table
    absent = [kind.value for kind, count in summary.counts.items() if not count]
    if absent:
        yield Text(f"In no task: {', '.join(absent)}.")
    quiet = summary.share(summary.quiet)
    yield Text(f"Nothing suspicious: {quiet}. Read, not run: no proof of soundness.")
    for title, named in (("Not read", summary.failed), ("Read in part", summary.partly)):
        if named:
            yield Text(f"{title}: {len(named):,}")
        for name, why in list(named.items())[:_NAMED]:
            yield Text(f"  {one_line(name, most=100)}: {one_line(why, most=200)}")
        if len(named) > _NAMED:
            yield Text(f"  and {len(named) - _NAMED:,} more; --json and --html name them all")
