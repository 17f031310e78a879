"""Output: results on stdout, progress and remarks on stderr; colour only on a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any

from rich.console import Console

from unhack.cli.progress import CommandProgress, progress_lines

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType
    from rich.progress import Progress

_PIPED_WIDTH = 120
"""Columns of a table that is written to a file or a pipe."""
_READER_GONE = 141
"""The exit code of a program that SIGPIPE ends."""


class _Console(Console):
    """A console that ends quietly when its reader (`head`) has gone."""

    def on_broken_pipe(self) -> None:
        end_without_reader()


def end_without_reader() -> None:
    """Exit at once, as the reader of stdout has gone. Raises SystemExit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    raise SystemExit(_READER_GONE)


def _console(file: IO[str]) -> Console:
    width = None if file.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return _Console(file=file, width=width, highlight=False, markup=False, emoji=False)


def results() -> Console:
    """Standard output."""
    return _console(sys.stdout)


def remarks() -> Console:
    """Standard error."""
    return _console(sys.stderr)


def write_json(value: Mapping[str, Any]) -> None:
    """One JSON object on one line of stdout, in ASCII, so that no text can steer a terminal."""
    write_text(json.dumps(value, ensure_ascii=True))


def write_result(
    objects: Iterable[Mapping[str, Any]], parts: Iterable[RenderableType], *, as_json: bool
) -> None:
    """The results of a command on stdout: JSON objects, or parts for people."""
    if as_json:
        for value in objects:
            write_json(value)
        return
    console = results()
    for part in parts:
        console.print(part)


def write_text(text: str) -> None:
    """Text on stdout as it stands, with one line end after it."""
    try:
        sys.stdout.write(text.rstrip("\n") + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        end_without_reader()


def say_made(what: str, files: Iterable[object], check: str) -> None:
    """Say what a command made on disk, and how its owner checks it once it is changed."""
    console = results()
    console.print(what, soft_wrap=True)
    for file in files:
        console.print(f"  {file}", soft_wrap=True)
    console.print("Change it into yours, then run:", f"\n  {check}", soft_wrap=True)


def write_file(path: Path, text: str) -> None:
    """Write a file that was asked for, and say so on stderr."""
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
    remarks().print(f"wrote {path}", soft_wrap=True)


@contextlib.contextmanager
def progress(what: str, *, total: int | None = None) -> Generator[Callable[[], None]]:
    """Show on stderr that the block is at work; its value is called once for each item done.

    A bar on a terminal, elsewhere a line every 20 seconds. Without `total` only the time is shown.
    """
    state = CommandProgress(what, total)
    with working(state) as show:

        def advance() -> None:
            state.advance()
            show()

        yield advance


@contextlib.contextmanager
def working(state: CommandProgress) -> Generator[Callable[[], None]]:
    """Show the progress on stderr while the block runs; its value is called after every change."""
    console = remarks()
    if not console.is_terminal:
        with progress_lines(state.line):
            yield lambda: None
        return
    with live_bar(console, note=True) as bar:
        task = bar.add_task(state.what, total=state.total or None, note="")

        def show() -> None:
            bar.update(
                task,
                description=state.what,
                completed=state.done,
                total=state.total or None,
                note=state.note,
            )

        show()
        yield show


def live_bar(console: Console, *, note: bool = False) -> Progress:
    """A bar that goes away when it is done: description, bar, count, `note` of the task, time.

    What is printed to stdout meanwhile stands above the bar where stdout is a terminal too, and
    goes where stdout goes otherwise.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [TextColumn("{task.description}"), BarColumn(bar_width=20), MofNCompleteColumn()]
    extra = [TextColumn("{task.fields[note]}")] if note else []
    return Progress(
        *columns,
        *extra,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
    )
