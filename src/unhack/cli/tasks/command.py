"""`unhack tasks`: list, show, validate, check, begin and mine tasks, export them."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unhack.cli import terminal
from unhack.cli.tasks.check import check
from unhack.cli.tasks.mine import mine
from unhack.core.errors import UsageError

if TYPE_CHECKING:
    from unhack.tasks.directory import TaskFolder


class ExportFormat(StrEnum):
    """The formats that tasks are written in."""

    HARBOR = "harbor"


def export(
    names: Annotated[
        list[str],
        typer.Argument(metavar="TASK|SUITE|DIR...", help="Tasks, suites, repository tasks."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Write the folders into this one.")],
    to: Annotated[ExportFormat, typer.Option(help="The format.")] = ExportFormat.HARBOR,
) -> None:
    """Write tasks as folders that Harbor, TRL, verifiers, OpenEnv and rLLM read.

    A name is a task, a suite or a directory of tasks, or a suite or folder of repository tasks.

    \b
    unhack tasks export strings ./my-tasks --to harbor --out ./harbor
    unhack tasks export repos --out ./harbor
    """
    from unhack.integrations.harbor.writing import export_all

    console = terminal.results()
    count = 0
    for folder in export_all(names, out):
        console.print(str(folder), soft_wrap=True)
        count += 1
    console.print(f"{count} {'folder' if count == 1 else 'folders'} for {to.value} in {out}",
                  soft_wrap=True)  # fmt: skip


tasks = typer.Typer(
    no_args_is_help=True, help="List, show, validate, check, begin, mine and export tasks."
)

tasks.command("check")(check)
tasks.command("mine")(mine)
tasks.command("export")(export)


@tasks.command("list")
def list_tasks(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SUITE|DIR]...", help="What to list; all built-in suites if none."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each task.")] = False,
) -> None:
    """List tasks: id, kind, difficulty, title.

    \b
    unhack tasks list
    unhack tasks list strings ./my-tasks --json
    """
    from unhack.cli.tasks import screen

    folders = _folders(names)
    told = f"\n{len(folders)} tasks. `unhack tasks show ID` shows one."
    objects = map(screen.as_fields, folders)
    terminal.write_result(objects, [screen.task_table(folders), told], as_json=as_json)


@tasks.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="TASK", help="A task id or a task directory.")],
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Only the prompt, as the policy reads it.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> None:
    """Show what a task asks and how it is checked; never its answers.

    A text task holds several problems: `ID#3` is the prompt of its row 3.

    \b
    unhack tasks show strings/knit-rows
    unhack tasks show math/bag-draw#3 --prompt
    """
    from unhack.cli.tasks import screen
    from unhack.tasks.suite import find_folders, find_tasks

    folder, *others = find_folders(name)
    if others:
        few = ", ".join(item.settings.id for item in (folder, *others[:2]))
        raise UsageError(f"{name!r} matches {1 + len(others)} tasks; name one: {few}, …")
    found = find_tasks(name)
    console = terminal.results()
    if prompt:
        terminal.write_text(found[0].prompt)
    elif as_json:
        terminal.write_json(screen.as_fields(folder) | {"prompt": found[0].prompt})
    else:
        console.print(screen.facts_table(folder, found))
        console.print()
        if console.is_terminal:
            console.print(screen.readable(found[0].prompt))
        else:
            terminal.write_text(found[0].prompt)


@tasks.command("validate")
def validate(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TASK|SUITE|DIR]...", help="What to check; all built-in suites if none."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the fresh cases and of both orders.")] = 0,
    fresh: Annotated[
        int, typer.Option(min=1, metavar="N", help="Cases drawn from each generator.")
    ] = 12,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each task.")] = False,
) -> None:
    """Check that tasks judge rightly; exits 1 if one does not.

    The reference and right/* must pass, on fresh cases too, and wrong/* must fail; everything is
    judged twice in different orders.

    \b
    unhack tasks validate ./two-sum
    unhack tasks validate strings --seed 7 --json
    """
    from unhack.cli.tasks import screen
    from unhack.sandbox.pool.pool import Pool
    from unhack.tasks.suite import builtin_suites, find_paths
    from unhack.tasks.validate import validate as validate_task

    paths = [path for name in names or builtin_suites() for path in find_paths(name)]
    reports: list[screen.ValidationReport] = []
    with closing(Pool()) as backend, terminal.progress("validating", total=len(paths)) as advance:
        for path in paths:
            report = validate_task(path, backend=backend, fresh_count=fresh, seed=seed)
            reports.append(report)
            advance()
            if as_json:
                terminal.write_json(report.to_json())
    bad = sum(not report.ok for report in reports)
    if not as_json:
        terminal.results().print(screen.report_table(reports), "")
    console = terminal.remarks() if as_json else terminal.results()
    console.print(screen.report_summary(reports), style="red" if bad else "green")
    if bad:
        raise typer.Exit(1)


@tasks.command("new")
def new(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new directory.")],
    kind: Annotated[
        str, typer.Option(metavar="KIND", help="function, stdio, text, script or pytest.")
    ] = "function",
    task_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Its id; the directory's name if none.")
    ] = None,
) -> None:
    """Write a small, sound task to start from.

    \b
    unhack tasks new ./two-sum --kind function
    """
    from unhack.tasks.template import new_task

    path = new_task(directory, kind=kind, task_id=task_id)
    files = [item.relative_to(path) for item in sorted(path.rglob("*")) if item.is_file()]
    check = f"unhack tasks validate {_as_path(path)}"
    terminal.say_made(f"{path}: a task of kind {kind}", files, check)


def _as_path(path: Path) -> str:
    """The path so that no built-in name is meant."""
    return str(path) if path.is_absolute() else f"./{path}"


def _folders(names: list[str] | None) -> list[TaskFolder]:
    from unhack.tasks.suite import builtin_suites, find_folders

    return [folder for name in names or builtin_suites() for folder in find_folders(name)]
