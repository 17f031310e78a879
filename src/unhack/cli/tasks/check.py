"""`unhack tasks check`: the rows of published data sets, proved on what they hold themselves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from unhack.cli.options import arg, opt, takes

if TYPE_CHECKING:
    from rich.table import Table

    from unhack.tasks.loaders.proof import LoadedRows

_SHOWN_ROWS = 20
DataSetName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The rows' layout (default: told by their columns)."),
]
ColumnMap = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="OURS=THEIRS,…",
        help="Names of columns, as in prompt=question,answer=gold.",
    ),
]


@dataclass(frozen=True, slots=True)
class CheckArguments:
    """Arguments and options of `unhack tasks check`.

    Example:

        CheckArguments(["rows.jsonl"], rows=100)
    """

    files: list[str] = arg(..., "JSON, JSON Lines, Parquet, or a saved folder.", metavar="FILE...")
    data_set: DataSetName = None
    columns: ColumnMap = None
    rows: int | None = opt(None, "The first N rows of each file.", metavar="N", least=1)
    preload: list[str] | None = opt(
        None, "An installed package that solutions import.", metavar="MODULE"
    )
    no_check: bool = opt(False, "Read the rows, but run nothing.", "--no-check")
    as_json: bool = opt(False, "One JSON object for each row.", "--json")


@takes(CheckArguments)
def check(arguments: CheckArguments) -> None:
    """Check the rows of data sets; exits 1 if one is left out.

    Each row's reference must pass, and a text that is no answer, an empty one and a program that
    does nothing must score nothing.

    \b
    unhack tasks check apps.jsonl math.parquet
    unhack tasks check rows.jsonl --map prompt=question,answer=solution
    """
    from unhack.cli import terminal

    as_json = arguments.as_json
    console = terminal.remarks() if as_json else terminal.results()
    found: list[tuple[str, LoadedRows]] = []
    for file in arguments.files:
        loaded = load_data_set(
            file, arguments.data_set, arguments.columns, check=not arguments.no_check,
            most=arguments.rows, preload=arguments.preload,
        )  # fmt: skip
        found.append((file, loaded))
        if as_json:
            for row in loaded.rows:
                terminal.write_json({"file": file, **asdict(row)})
    console.print(_table(found), "")
    left_out = [row for _, loaded in found for row in loaded.left_out]
    for row in left_out[: 0 if as_json else _SHOWN_ROWS]:
        console.print(str(row), soft_wrap=True, style="red")
    if len(left_out) > _SHOWN_ROWS and not as_json:
        console.print(f"and {len(left_out) - _SHOWN_ROWS} more; --json lists all")
    cost = sum(loaded.cpu_s for _, loaded in found)
    rows = [row for _, loaded in found for row in loaded.rows]
    judged = sum(row.spoiled + row.has_reference + row.others for row in rows)
    said = f"{judged} texts judged in {cost:.1f} s of CPU time"
    console.print(f"{len(rows)} rows, {len(left_out)} left out; {said}")
    if left_out:
        raise typer.Exit(1)


def load_data_set(
    file: str,
    data_set: str | None,
    columns: str | None,
    *,
    check: bool,
    most: int | None = None,
    preload: list[str] | None = None,
) -> LoadedRows:
    """The rows of a file, with progress. Raises TaskError, UsageError."""
    from unhack.cli import terminal
    from unhack.cli.progress import CommandProgress
    from unhack.tasks.loaders.proof import NoSoundRowError, RowReading, load_rows

    reading = RowReading(
        data_set=data_set, columns=_columns(columns), most=most, preload=tuple(preload or ())
    )
    state = CommandProgress(f"checking {file}")
    with terminal.working(state) as show:

        def advance(done: int, total: int) -> None:
            state.done, state.total = done, total
            show()

        try:
            return load_rows(file, reading, check=check, on_progress=advance)
        except NoSoundRowError as error:
            return error.loaded


def _columns(text: str | None) -> dict[str, str]:
    """`prompt=question,answer=gold` as a dict. Raises UsageError."""
    from unhack.core.errors import UsageError

    found: dict[str, str] = {}
    for part in (text or "").split(","):
        ours, equals, theirs = (word.strip() for word in part.partition("="))
        if ours and equals and theirs:
            found[ours] = theirs
        elif text is not None:
            raise UsageError(f"--map {text!r}: write OURS=THEIRS, as in prompt=question")
    return found


def _table(found: list[tuple[str, LoadedRows]]) -> Table:
    """One row for each data set of a file."""
    from rich.text import Text

    from unhack.cli.verdict_table import plain_table

    table = plain_table()
    several = len(found) > 1
    if several:
        table.add_column("file", overflow="fold")
    table.add_column("data set", no_wrap=True)
    for name in ("rows", "references right", "spoiled wrong", "left out", "seconds"):
        table.add_column(name, justify="right")
    table.add_column("by reason", overflow="fold")
    for file, loaded in found:
        for number, name in enumerate(dict.fromkeys(row.data_set for row in loaded.rows)):
            rows = [row for row in loaded.rows if row.data_set == name]
            problems = loaded.problems(name)
            said = ", ".join(f"{kind} {count}" for kind, count in problems.items())
            given = sum(row.has_reference for row in rows)
            spoiled = sum(row.spoiled for row in rows)
            table.add_row(
                *([Text("" if number else file)] if several else ()),
                name,
                str(len(rows)),
                f"{sum(row.reference_passed for row in rows)} of {given}" if loaded.checked else "",
                f"{sum(row.spoiled_wrong for row in rows)} of {spoiled}" if loaded.checked else "",
                str(sum(problems.values())),
                "" if number else f"{loaded.wall_s:.1f}",
                Text(said),
            )
    return table
