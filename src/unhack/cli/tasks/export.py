"""`unhack tasks export`: tasks as the folders of other people's harnesses."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


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
    from unhack.cli import terminal
    from unhack.integrations.harbor.writing import export_all

    console = terminal.results()
    count = 0
    for folder in export_all(names, out):
        console.print(str(folder), soft_wrap=True)
        count += 1
    console.print(f"{count} {'folder' if count == 1 else 'folders'} for {to.value} in {out}",
                  soft_wrap=True)  # fmt: skip
