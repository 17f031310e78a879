"""The options of `unhack serve`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from unhack.cli.options import valued

DATA = Path("unhack-server")
Data = Annotated[Path, valued("Folder of the SQLite database and of run folders.", metavar="DIR")]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar="UNHACK_DATABASE",
        help="Database in place of SQLite: postgresql://USER@HOST/NAME.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOrder:
    """One server."""

    port: Annotated[
        int, valued("Port; 0 takes a free one.", metavar="PORT", least=0, most=65535)
    ] = 8700
    host: Annotated[str, valued("Address to listen on; 0.0.0.0: every one.", metavar="ADDRESS")] = (
        "127.0.0.1"
    )
    data: Data = DATA
    database: DatabaseUrl = None
    tasks: Annotated[
        list[Path] | None,
        valued("Folder of tasks beside the built-in ones; repeatable.", metavar="DIR"),
    ] = None
    runs: Annotated[
        list[Path] | None,
        valued("Folder of run folders that the pages show too; repeatable.", metavar="DIR"),
    ] = None
    tenant_items: Annotated[
        int, valued("Most open completions of a tenant.", metavar="N", least=1)
    ] = 100_000
    tenant_requests: Annotated[
        int, valued("Most requests of a tenant in a minute.", metavar="N", least=1)
    ] = 60_000
    keep_days: Annotated[
        float | None,
        valued(
            "Age at which batches and jobs that ended go; none do if not given.",
            metavar="DAYS",
            least=0,
        ),
    ] = None
    outputs: Annotated[
        bool, typer.Option("--outputs/--no-outputs", help="Store outputs of failing cases.")
    ] = True
    drain: Annotated[
        float, valued("Time to finish requests on SIGTERM.", metavar="SECONDS", least=0)
    ] = 30.0
