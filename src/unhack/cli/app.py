"""The command `unhack`: commands, exit codes, and the one place where errors become words.

0 ok     1 the measured thing failed     2 bad usage     3 unhack failed     130 interrupted
"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from unhack.cli.audit.command import audit
from unhack.cli.audit.headings import AUDIT_HEADINGS
from unhack.cli.demo.command import demo
from unhack.cli.doctor.command import doctor
from unhack.cli.env.command import env
from unhack.cli.options import grouped
from unhack.cli.score.command import SCORE_HEADINGS, score
from unhack.cli.serve.command import serve
from unhack.cli.tasks.command import tasks
from unhack.cli.tournament.command import tournament
from unhack.cli.train import train
from unhack.core.errors import UnhackError, UsageError

OK, MEASURED_FAILED, BAD_USAGE, WE_FAILED, INTERRUPTED = 0, 1, 2, 3, 130

_WIDEST = 1000
"""Help is as wide as the terminal; without this, 80 columns at most."""

app = typer.Typer(
    name="unhack",
    no_args_is_help=True,
    context_settings={"max_content_width": _WIDEST},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command(short_help="Show on this machine what unhack does.")(demo)
app.command(short_help="Check what this machine can isolate.")(doctor)
app.add_typer(tasks, name="tasks", short_help="List, show, check, begin and mine tasks.")
app.command(cls=grouped(SCORE_HEADINGS), short_help="Score completions of a task.")(score)
app.command(
    cls=grouped(AUDIT_HEADINGS, bare={"--fix": "-"}),
    short_help="Find out whether a verifier can be gamed.",
)(audit)
app.add_typer(env, name="env", short_help="List, build, play, run and replay multi-turn tasks.")
app.add_typer(tournament, name="tournament", short_help="Let agents compete under one judge.")
app.add_typer(train, name="train", short_help="Train without the reward hack.")
app.add_typer(serve, name="serve", short_help="Serve verdicts over HTTP.")


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"unhack {version('unhack')}")
        raise typer.Exit()


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Sealed scoring of untrusted completions: rewards that hold up under optimisation pressure.

    Sealed: code under test never shares a process with the answers or with what judges it.

    \b
    unhack demo                                  see it work on this machine
    unhack doctor                                what this machine can isolate
    unhack tasks list                            the built-in tasks
    unhack score TASK FILE.jsonl                 verdicts for completions
    unhack audit TARGET --problems FILE.jsonl    can a verifier be gamed?
    unhack env run SUITE --agent NAME            what does an agent do over many turns?
    unhack tournament run CONTEST --agent NAME --out DIR   which agent really did better?
    unhack serve                                 one judge for many trainers, over HTTP
    unhack train run --out DIR                   can the hack be kept out of the model?

    Exit codes: 0 ok, 1 the measured thing failed, 2 bad usage, 3 unhack itself failed,
    130 interrupted. Completion of names in your shell: unhack --install-completion.
    """


def main() -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        # An ASCII pipe, or half a surrogate pair from a completion, must not end the command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        sys.exit(_explain(error))


def _explain(error: Exception) -> int:
    """Say on stderr what went wrong; the exit code."""
    if isinstance(error, UsageError):
        print(f"unhack: {error}", file=sys.stderr)
        return BAD_USAGE
    if isinstance(error, UnhackError):
        print(f"unhack: {type(error).__name__}: {error}", file=sys.stderr)
        return WE_FAILED
    import traceback

    traceback.print_exception(error)
    print(
        "unhack: this is a defect of unhack, not of what it was given. Please report the lines "
        "above, the command, and what `unhack doctor --json` prints.",
        file=sys.stderr,
    )
    return WE_FAILED
