"""`unhack tournament`: agents compete, and only what the judge measured counts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unhack.cli import terminal
from unhack.cli.options import arg, opt, takes
from unhack.cli.tournament.option_values import check_packages, pairs, seconds
from unhack.cli.tournament.own import check_own, find_again, find_contest, new, validate
from unhack.cli.tournament.review import read, review
from unhack.core.errors import UsageError

if TYPE_CHECKING:
    from unhack.tournament.contest import Contest
    from unhack.tournament.record.records import TournamentRecord
    from unhack.tournament.record.settings import TournamentPlan

tournament = typer.Typer(
    no_args_is_help=True, help="Let agents compete; only what the judge measured counts."
)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a tournament.")]
Json = Annotated[bool, typer.Option("--json", help="As one JSON object.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, help="Concurrent agents (default: one per core)."),
]

Where = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="NAME",
        help="Where agents play and are judged: local (the default) or ray.",
    ),
]


@dataclass(frozen=True)
class RunOrder:
    """The arguments and options of `run`."""

    contest: str = arg(
        ..., "A folder, or a name that `unhack tournament contests` lists.", metavar="CONTEST"
    )
    out: Path = opt(..., "A new folder that holds the tournament.", metavar="DIR")
    agent: list[str] | None = opt(
        None, "An agent that plays; may be given several times.", metavar="NAME"
    )
    rounds: int = opt(3, "Number of rounds.", metavar="N", least=1)
    time_limit: str = opt("10m", "Time limit of an agent per round: 90s, 10m, 1h.", metavar="TIME")
    cost_limit: float = opt(
        5.0, "Cost limit of an agent per round in USD; 0 for none.", metavar="USD", least=0
    )
    seeding: str = opt(
        "champion", "Starting point of a round: champion, own_best or none.", metavar="POLICY"
    )
    impossible: int = opt(0, "Number of rounds with an impossible target.", metavar="N", least=0)
    seed: int | None = opt(None, "Seed of all random draws (default: a secret one).", metavar="N")
    option: list[str] | None = opt(
        None, "A setting of the contest; may be repeated.", metavar="KEY=VALUE"
    )
    model: str | None = opt(
        None, "The model on disk, for a contest that needs one.", metavar="PATH"
    )
    agent_option: list[str] | None = opt(
        None, "A setting of the agents; may be repeated.", metavar="KEY=VALUE"
    )
    jobs: Jobs = None
    executor: Where = None
    as_json: Json = False


@tournament.command("run")
@takes(RunOrder)
def run(order: RunOrder) -> None:
    """Run a tournament from its first round to its last.

    CONTEST is a name, or the folder of a contest of one's own (`unhack tournament new`).

    Each round, every agent gets the statement, the champion and a fresh workspace; what it hands
    in is frozen, scanned, measured, and measured again on fresh data. Everything is stored as it
    happens: after Ctrl-C, a kill or a power cut, `resume` continues.

    \b
    unhack tournament run quantization --agent baseline --agent search --out out
    unhack tournament run kernels --agent claude --agent codex --rounds 5 --cost-limit 3 --out out
    unhack tournament run ./packing --option size=demo --agent baseline --agent cheater --out out
    """
    check_packages()
    from unhack.cli.tournament.playing import (
        check_place,
        makes,
        play_shown,
        reaching,
        with_card,
    )
    from unhack.tournament.round.rounds import begin

    with reaching(order.executor) as connect:
        plan, contest = find_contest(with_card(_plan(order), connect))
        check_place(contest, plan.options, connect)
        makes(contest, plan.agent_options, check=plan.agents)
        check_own(contest)
        with begin(order.out, plan, contest, seed=order.seed) as archive:
            played = play_shown(archive, contest, jobs=order.jobs, connect=connect)
            _show(played, as_json=order.as_json)
            _say_next(archive.path)


@tournament.command("resume")
def resume(
    folder: Folder, jobs: Jobs = None, executor: Where = None, as_json: Json = False
) -> None:
    """Resume a tournament that was interrupted.

    Finished steps are kept; a step that was cut off is repeated, and its cost counts.

    \b
    unhack tournament resume out
    """
    check_packages()
    from unhack.cli.tournament.playing import check_place, play_shown, reaching
    from unhack.tournament.round.rounds import reopen

    with reopen(folder) as archive, reaching(executor) as connect:
        contest = find_again(archive.settings)
        check_place(contest, archive.settings.options, connect)
        _show(play_shown(archive, contest, jobs=jobs, connect=connect), as_json=as_json)
        _say_next(archive.path)


@tournament.command("show")
def show(
    folder: Folder,
    head: Annotated[
        str,
        typer.Option(
            "--head", metavar="HASH", help="A head noted down earlier; the record must contain it."
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Show the state of a tournament: standings, rounds, champions.

    Works while the tournament runs, and changes nothing. Records, submissions and transcripts are
    checked against their hashes first; anything that was edited ends it with exit code 3.

    \b
    unhack tournament show out
    """
    check_packages()
    from unhack.tournament.record.archive import read_record

    if head and (len(head) < 12 or set(head.lower()) - set("0123456789abcdef")):
        raise UsageError(f"--head {head}: at least the first 12 hexadecimal digits are needed")
    _show(read_record(folder, head=head), as_json=as_json)


@tournament.command("replay")
def replay(folder: Folder, as_json: Json = False) -> None:
    """Judge every stored submission again; exits 1 if any result differs.

    \b
    unhack tournament replay out
    """
    check_packages()
    from unhack.cli.tournament import screen
    from unhack.tournament.review.replay import replay as judge_again
    from unhack.tournament.round.rounds import reopen

    with reopen(folder, read_only=True) as archive:
        total = sum(bool(entry.digest) for entry in archive.entries())
        with terminal.progress("judging again", total=total) as advance:
            found = judge_again(
                archive, find_again(archive.settings), watch=lambda entry: advance()
            )
    terminal.write_result([screen.as_fields(found)], screen.replay_lines(found), as_json=as_json)
    if found.differences:
        raise typer.Exit(1)


@tournament.command("degame")
def degame(
    folder: Folder,
    submission: Annotated[
        str, typer.Argument(metavar="SUBMISSION", help="A digest, its start, or ROUND/AGENT.")
    ],
    as_json: Json = False,
) -> None:
    """Measure a submission again without the part that games the measurement.

    \b
    unhack tournament degame out 3/cheater
    """
    check_packages()
    from unhack.cli.tournament import screen
    from unhack.tournament.review.degame import degame as strip
    from unhack.tournament.review.degame import find_submission
    from unhack.tournament.round.rounds import reopen

    with reopen(folder, read_only=True) as archive:
        contest = find_again(archive.settings)
        entry = find_submission(archive.record(), submission)
        frozen = archive.submission(entry.digest, contest)
        with terminal.progress("measuring variants of the submission"):
            found = strip(contest, frozen, secret=archive.folder.secret)
    fields = {"variants": [screen.as_fields(item) for item in found]}
    terminal.write_result([fields], [screen.degame_table(found)], as_json=as_json)


tournament.command("review")(review)
tournament.command("read")(read)
tournament.command("new")(new)
tournament.command("validate")(validate)


@tournament.command("report")
def report(
    folder: Folder,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="The page (default: DIR/report.html)."),
    ] = None,
) -> None:
    """Write one page: standings, plots, rejected submissions, how each agent ended, lineage.

    \b
    unhack tournament report out
    """
    check_packages()
    from unhack.store.errors import storing
    from unhack.tournament.record.archive import read_record
    from unhack.tournament.report.page import write_report

    path = html or folder / "report.html"
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path}: no such directory: {path.parent}")
    with storing(path.absolute().parent):
        write_report(read_record(folder), path, run=folder)
    terminal.remarks().print(f"wrote {path.absolute().as_uri()}", soft_wrap=True)


@tournament.command("contests")
def contests(as_json: Json = False) -> None:
    """List the contests with their settings, honest strategies and known cheats.

    \b
    unhack tournament contests
    """
    check_packages()
    from unhack.cli.tournament import screen
    from unhack.sandbox.distributions import to_install
    from unhack.tournament.contests.registry import PACKAGES, installed_contests, load_contest

    found: list[Contest] = []
    for name in installed_contests():
        try:
            found.append(load_contest(name))
        except Exception as error:  # of whatever a distribution brings: the others are there
            line = f"{name} is left out: {type(error).__name__}: {error}"
            terminal.remarks().print(line, style="yellow", soft_wrap=True)
    if not installed_contests():
        own = "or write one of your own: unhack tournament new"
        raise UsageError(f"{to_install('contest', *PACKAGES)}, {own}")
    fields = {item.name: screen.contest_fields(item) for item in found}
    terminal.write_result([fields], [screen.contest_table(found)], as_json=as_json)


@tournament.command("agents")
def agents(as_json: Json = False) -> None:
    """List the agents: built-in ones, and command-line agents with whether they are installed.

    \b
    unhack tournament agents
    """
    from unhack.cli.tournament import screen
    from unhack.tournament.players.registry import PLAYERS

    terminal.write_result([PLAYERS], [screen.agent_table(PLAYERS)], as_json=as_json)


def _plan(order: RunOrder) -> TournamentPlan:
    from unhack.tournament.contests.registry import installed_contests
    from unhack.tournament.record.settings import TournamentPlan

    options = pairs("--option", order.option)
    installed = installed_contests().get(order.contest)
    for name in set(installed.paths if installed else ()) & set(options):
        options[name] = str(Path(options[name]).absolute())
    if order.model is not None:
        options["model"] = order.model
    return TournamentPlan(
        contest=order.contest,
        agents=tuple(order.agent or ()),
        rounds=order.rounds,
        options=options,
        agent_options=pairs("--agent-option", order.agent_option),
        impossible=order.impossible,
        seeding=order.seeding,
        time_limit_s=seconds(order.time_limit),
        cost_limit_usd=order.cost_limit,
    )


def _show(record: TournamentRecord, *, as_json: bool) -> None:
    from unhack.cli.tournament import screen

    terminal.write_result([screen.record_fields(record)], screen.screen(record), as_json=as_json)


def _say_next(folder: Path) -> None:
    """Say on stderr what can be done with a tournament that has ended."""
    from unhack.cli.tournament import screen

    for line in screen.next_lines(folder):
        terminal.remarks().print(line, soft_wrap=True)
