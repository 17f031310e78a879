"""`unhack serve`: the HTTP server with its options, and the keys to it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unhack.cli import terminal
from unhack.cli.options import opt, takes, valued
from unhack.core.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from unhack.server.access.directory import Directory

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

    port: int = opt(8700, "Port; 0 takes a free one.", metavar="PORT", least=0, most=65535)
    host: str = opt("127.0.0.1", "Address to listen on; 0.0.0.0 for all.", metavar="ADDRESS")
    data: Data = DATA
    database: DatabaseUrl = None
    tasks: list[Path] | None = opt(
        None, "Folder of tasks beside the built-in ones; repeatable.", metavar="DIR"
    )
    runs: list[Path] | None = opt(
        None, "Folder of run folders that the pages show too; repeatable.", metavar="DIR"
    )
    tenant_items: int = opt(100_000, "Maximum open completions per tenant.", metavar="N", least=1)
    tenant_requests: int = opt(
        60_000, "Maximum requests per tenant and minute.", metavar="N", least=1
    )
    keep_days: float | None = opt(
        None,
        "Delete finished batches and jobs of this age; none if not given.",
        metavar="DAYS",
        least=0,
    )
    outputs: bool = opt(True, "Store outputs of failing cases.", "--outputs/--no-outputs")
    drain: float = opt(30.0, "Time to finish requests on SIGTERM.", metavar="SECONDS", least=0)


serve = typer.Typer(help="Serve verdicts over HTTP.")
keys = typer.Typer(no_args_is_help=True, help="Add, list and revoke keys.")
serve.add_typer(keys, name="keys", short_help="Add, list and revoke keys.")


@serve.callback(invoke_without_command=True)
@takes(ServeOrder)
def run(order: ServeOrder, *, context: typer.Context) -> None:
    """Serve verdicts over HTTP. The first start prints a key, once.

    \b
    unhack serve
    unhack serve --host 0.0.0.0 --tasks ./my-tasks --database postgresql://user@host/name
    unhack serve keys add trainer-1 --scopes score,read
    """
    if context.invoked_subcommand is not None:
        return
    _require()
    from unhack.server.access.caller import Grant
    from unhack.server.running import serve as serve_until_signal
    from unhack.server.service import ServerSettings, Service

    service = Service(
        ServerSettings(
            data=order.data,
            database=order.database,
            tasks=tuple(order.tasks or ()),
            runs=tuple(order.runs or ()),
            tenant_items=order.tenant_items,
            tenant_requests=order.tenant_requests,
            keep_days=order.keep_days,
            outputs=order.outputs,
        )
    )
    if service.directory.is_empty():
        key = service.directory.add_key("default", list(Grant))
        typer.echo(f"key of the tenant 'default', shown this once: {key}")
    serve_until_signal(service, host=order.host, port=order.port, drain_s=order.drain)


@keys.command("add")
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tenant; a new name makes one.")],
    scopes: Annotated[
        str | None,
        typer.Option(metavar="SCOPES", help="Comma-separated names; all if not given."),
    ] = None,
    items: Annotated[
        int | None,
        valued("Maximum open completions; overrides the server's.", metavar="N", least=1),
    ] = None,
    requests: Annotated[
        int | None, valued("Maximum requests per minute for this key.", metavar="N", least=1)
    ] = None,
    data: Data = DATA,
    database: DatabaseUrl = None,
) -> None:
    """Make a key and print it, once. Works while the server runs."""
    _require()
    from unhack.server.access.caller import Grant

    # An empty text names no scope; taken for none given, it would grant every one.
    wanted = list(Grant) if scopes is None else [name.strip() for name in scopes.split(",")]
    for scope in wanted:
        if scope not in list(Grant):
            raise UnknownNameError("scope", scope, valid=list(Grant))
    granted = [Grant(scope) for scope in wanted]
    with _directory(data, database) as directory:
        typer.echo(directory.add_key(name, granted, items=items, requests=requests))


@keys.command("list")
def list_keys(data: Data = DATA, database: DatabaseUrl = None) -> None:
    """List the keys: id, tenant, state, scopes, limits of their own."""
    _require()
    from rich.table import Table

    table = Table("id", "tenant", "state", "scopes", "items", "requests", box=None, pad_edge=False)
    with _directory(data, database) as directory:
        for key in directory.key_lines():
            state = "in use" if key.revoked_at is None else "revoked"
            limits = (key.items_limit, key.requests_limit)
            told = ["" if limit is None else str(limit) for limit in limits]
            table.add_row(key.id, key.tenant, state, " ".join(key.scopes), *told)
    terminal.results().print(table)


@keys.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="A key's id, as `list` shows it.")],
    data: Data = DATA,
    database: DatabaseUrl = None,
) -> None:
    """End a key. A running server refuses it within two seconds."""
    _require()
    with _directory(data, database) as directory:
        directory.revoke(key_id)


@contextlib.contextmanager
def _directory(data: Path, database: str | None) -> Generator[Directory]:
    """The keys, for a command beside the server. Raises UsageError where no server was."""
    from unhack.server.access.directory import Directory
    from unhack.server.service import ServerSettings, open_database

    if database is None and not data.is_dir():
        raise UsageError(f"--data {data}: no such folder; `unhack serve` creates it")
    opened = open_database(ServerSettings(data=data, database=database))
    try:
        yield Directory(opened)
    finally:
        opened.close()


def _require() -> None:
    from unhack.core.optional_dependencies import require

    modules = (
        "fastapi",
        "jinja2",
        "uvicorn",
        "sqlalchemy",
        "alembic",
        "psycopg",
        "prometheus_client",
        "numpy",
    )
    require("server", *modules, purpose="a server")
