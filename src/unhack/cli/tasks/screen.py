"""Tasks and their validation reports as tables, for people, and as fields, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from unhack.cli.verdict_table import ColumnStyle, plain_table
from unhack.sandbox.limits import Limits
from unhack.tasks.directory import TaskFolder
from unhack.tasks.task import Task
from unhack.tasks.validate import ValidationReport
from unhack.verifiers.function import FunctionVerifier
from unhack.verifiers.stdio import StdioVerifier

__all__ = [
    "ValidationReport",
    "as_fields",
    "facts_table",
    "report_summary",
    "report_table",
    "task_table",
]

_DIFFICULTY = {"easy": "green", "medium": "yellow", "hard": "red"}


def as_fields(folder: TaskFolder) -> dict[str, Any]:
    """The fields of a task for `--json`."""
    settings = folder.settings
    return {
        "id": settings.id,
        "kind": settings.kind.value,
        "entry_point": settings.entry_point,
        "title": settings.title,
        "difficulty": _difficulty(folder) or None,
        "tags": list(settings.tags),
        "path": str(folder.path),
    }


def _difficulty(folder: TaskFolder) -> str:
    level = folder.settings.difficulty
    return "" if level is None else level.value


def task_table(folders: Sequence[TaskFolder]) -> Table:
    """One row for each task."""
    table = plain_table({"id": "fold", "kind": "whole", "difficulty": "whole", "title": "fold"})
    for folder in folders:
        level = _difficulty(folder)
        table.add_row(
            Text(folder.settings.id),
            folder.settings.kind.value,
            Text(level, style=_DIFFICULTY.get(level, "")),
            Text(folder.settings.title),
        )
    return table


def facts_table(folder: TaskFolder, tasks: Sequence[Task]) -> Table:
    """The facts about one task, one a line."""
    settings = folder.settings
    verifier = tasks[0].verifier
    cases = len(verifier.cases) if isinstance(verifier, (FunctionVerifier, StdioVerifier)) else 0
    rows = {
        "id": settings.id if len(tasks) > 1 else tasks[0].id,
        "title": settings.title,
        "kind": settings.kind.value,
        "entry point": settings.entry_point or "",
        "difficulty": _difficulty(folder),
        "tags": ", ".join(settings.tags),
        "problems": f"{len(tasks)}; the first one is shown" if len(tasks) > 1 else "",
        "cases": str(cases or ""),
        "fresh cases": "from its generator" if folder.generator_path.exists() else "",
        "checked by": _how(folder),
        "limits": _limits(folder.limits),
        "directory": str(folder.path),
    }
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        if value:
            table.add_row(name, Text(value))
    return table


def _how(folder: TaskFolder) -> str:
    """The verifier's options that differ from their defaults, and the checker."""
    options = folder.options
    chosen = {key: getattr(options, key) for key in sorted(options.model_fields_set)}
    parts = [f"{key} = {value}" for key, value in chosen.items()]
    return ", ".join(parts + (["checker.py"] if folder.checker is not None else []))


def _limits(limits: Limits) -> str:
    mib = limits.memory_bytes >> 20
    text = f"{limits.wall_s:g} s wall, {limits.cpu_s:g} s cpu, {mib} MiB memory"
    default = asdict(Limits())
    others = {
        key: value for key, value in asdict(limits).items()
        if value != default[key] and key not in {"wall_s", "cpu_s", "memory_bytes"}
    }  # fmt: skip
    return ", ".join([text, *(f"{key} {value}" for key, value in others.items())])


def readable(prompt: str) -> RenderableType:
    """A prompt, set as the Markdown that it is."""
    return Markdown(prompt)


def report_table(reports: Sequence[ValidationReport]) -> Table:
    """One row for each validated task, its problems below each other."""
    numbers: dict[str, ColumnStyle] = dict.fromkeys(("right", "wrong", "cases", "fresh"), "number")
    table = plain_table({"task": "fold", **numbers, "problems": "fold"})
    for report in reports:
        said = Text("none", style="green") if report.ok else Text("\n".join(report.problems), "red")
        counts = (report.right, report.wrong, report.cases, report.fresh_cases)
        table.add_row(Text(report.id), *map(str, counts), said)
    return table


def report_summary(reports: Sequence[ValidationReport]) -> str:
    """All reports in one line."""
    bad = sum(not report.ok for report in reports)
    judged = sum(report.judged for report in reports)
    noun = "task" if len(reports) == 1 else "tasks"
    verdict = f"{bad} with problems" if bad else "no problems"
    return f"{len(reports)} {noun}, {judged} completions judged: {verdict}"
