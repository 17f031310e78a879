"""`unhack tournament new` and `validate`: contests of one's own, and how the others find them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from unhack.cli import terminal
from unhack.cli.tournament.option_values import check_packages, pairs
from unhack.core.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from unhack.tournament.contest import Contest
    from unhack.tournament.proving.proof import ContestProof, ProvedEntry
    from unhack.tournament.record.records import TournamentSettings
    from unhack.tournament.record.settings import TournamentPlan


def new(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
) -> None:
    """Write a small, sound contest of your own to start from.

    \b
    unhack tournament new ./packing
    """
    check_packages()
    from unhack.tournament.contests.own.template import new_contest
    from unhack.tournament.contests.registry import installed_contests

    names = new_contest(directory, taken=tuple(installed_contests()))
    plain = directory.is_absolute() or str(directory).startswith(".")
    place = directory if plain else f"./{directory}"
    check = f"unhack tournament validate {place}"
    terminal.say_made(f"{directory}: a contest", names, check)


def validate(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a contest.")],
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="A setting; size=demo if none."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> None:
    """Prove a contest of your own before it is played; exits 1 if something is wrong.

    The null entry must earn nothing, every cheat its flag, no honest entry one. Measurements must
    repeat, and hold on fresh data within their intervals. A spy in a submission's place must find
    nothing that is sealed. Warnings cost nothing.

    \b
    unhack tournament validate ./packing
    unhack tournament validate ./packing --option size=default
    """
    check_packages()
    from unhack.tournament.contests.harbor.contest import is_harbor
    from unhack.tournament.contests.own.contest import folder_options
    from unhack.tournament.contests.own.folder import SETTINGS
    from unhack.tournament.contests.own.settings import DEMO
    from unhack.tournament.contests.registry import load_contest
    from unhack.tournament.proving.proof import prove

    if not (directory / SETTINGS).is_file() and is_harbor(directory):
        _validate_harbor(directory, as_json=as_json)
        return
    options = {"size": DEMO, **pairs("--option", option)}
    contest: Any = load_contest("", folder_options(directory, options))
    with terminal.progress("proving", total=steps_of(contest)) as advance:
        proof = prove(contest, watch=lambda name: advance())
    if as_json:
        terminal.write_json(proof_fields(proof))
    else:
        console = terminal.results()
        console.print(proof_table(proof), "")
        for line in proof_lines(proof, directory):
            console.print(line, soft_wrap=True)
    if not proof.ok:
        raise typer.Exit(1)


def _validate_harbor(directory: Path, *, as_json: bool) -> None:
    """Prove Harbor folders: each solution passes, and nothing earns nothing. Raises typer.Exit."""
    from unhack.tournament.contests.harbor.contest import FOLDER, load
    from unhack.tournament.proving.harbor import harbor_problems

    contest = load({FOLDER: str(directory)})
    with terminal.progress("proving"):
        problems = harbor_problems(contest)
    if as_json:
        fields = {"ok": not problems, "problems": problems, "warnings": []}
        terminal.write_json({**fields, "tasks": list(contest.tasks)})
    else:
        for problem in problems:
            terminal.results().print(f"problem: {problem}", soft_wrap=True, markup=False)
        word = f"{len(problems)} problems" if problems else "sound"
        terminal.results().print(f"{directory}: {contest.title}, {word}", soft_wrap=True)
    if problems:
        raise typer.Exit(1)


def find_contest(plan: TournamentPlan) -> tuple[TournamentPlan, Contest]:
    """The plan with the name of its contest, and the contest, by name or folder. Raises
    UsageError."""
    from unhack.tournament.contests.own.contest import folder_options
    from unhack.tournament.contests.own.folder import is_folder
    from unhack.tournament.contests.registry import installed_contests, load_contest

    if plan.contest in installed_contests() or not is_folder(plan.contest):
        return plan, load_contest(plan.contest, plan.options)
    options = folder_options(Path(plan.contest), plan.options)
    contest = load_contest("", options)
    return replace(plan, contest=contest.name, options=options), contest


def check_own(contest: Contest) -> None:
    """Measure the entries of a contest of one's own once, before anything is spent. Raises
    UsageError."""
    from unhack.tournament.contests.harbor.contest import HarborContest
    from unhack.tournament.contests.own.contest import OwnContest
    from unhack.tournament.proving.harbor import harbor_problems
    from unhack.tournament.proving.proof import check_ready

    if isinstance(contest, OwnContest):
        with terminal.progress("checking the contest"):
            check_ready(contest)
    elif isinstance(contest, HarborContest):
        with terminal.progress("checking the tasks"):
            problems = harbor_problems(contest)
        if problems:
            raise UsageError(f"{contest.name}: {problems[0]}")


def find_again(settings: TournamentSettings) -> Contest:
    """The contest of a tournament that was begun. Raises UsageError where the folder of one's own
    is another by now."""
    from unhack.tournament.contests.own.contest import FOLDER
    from unhack.tournament.contests.registry import load_contest
    from unhack.tournament.contests.unchanged import check_unchanged

    folder = settings.options.get(FOLDER)
    if folder is not None and not Path(folder).is_dir():
        raise UsageError(
            f"this tournament plays the contest in {folder}, and there is no such folder: put it "
            "back as it was"
        )
    contest = load_contest(settings.contest, settings.options)
    if folder is not None:
        check_unchanged(contest, Path(folder), settings.contest_settings)
    return contest


def steps_of(contest: Any) -> int:
    """How many steps a proof has, for its progress."""
    honest, cheats = len(contest.submissions.honest()), len(contest.submissions.cheats())
    return 2 + 2 + honest + cheats + honest * 4


def proof_fields(proof: ContestProof) -> dict[str, Any]:
    """The fields of a proof in `--json`."""
    return {
        "ok": proof.ok,
        "problems": list(proof.problems),
        "warnings": list(proof.warnings),
        "entries": [_entry_fields(entry) for entry in proof.entries],
        "checks": [{"check": name, "problem": text} for name, text in proof.checks],
    }


def _entry_fields(entry: ProvedEntry) -> dict[str, Any]:
    word = entry.judgement
    return {
        "kind": entry.kind,
        "name": entry.name,
        "credited": word.fitness,
        "measured": word.measured.fitness,
        "low": word.measured.low,
        "high": word.measured.high,
        "reason": word.measured.reason,
        "flags": [{"kind": flag.kind, "evidence": flag.evidence} for flag in word.flags],
        "problem": entry.problem,
    }


def proof_table(proof: ContestProof) -> Table:
    """The entries, one a row."""
    from unhack.cli.verdict_table import plain_table

    table = plain_table(dict.fromkeys(("entry", "measured", "credited", "flags", ""), "fold"))
    for entry in proof.entries:
        word = entry.judgement
        name = f"{entry.kind} {entry.name}".strip()
        measured = word.measured
        shown = (
            f"{measured.fitness:.3g}  [{measured.low:.3g} … {measured.high:.3g}]"
            if measured.valid
            else "not valid"
        )
        kinds = ", ".join(dict.fromkeys(flag.kind for flag in word.flags))
        right = Text("wrong", style="red") if entry.problem else Text("right", style="green")
        table.add_row(Text(name), Text(shown), Text(f"{word.fitness:.3g}"), Text(kinds), right)
    return table


def proof_lines(proof: ContestProof, directory: Path) -> list[Text]:
    """All else that was tried, what is wrong, and the last word."""
    lines = [
        Text(f"{'wrong' if text else 'right'}: {name}", style="red" if text else "")
        for name, text in proof.checks
    ]
    lines.append(Text(""))
    lines += [Text(f"problem: {text}", style="red") for text in proof.problems]
    lines += [Text(f"warning: {text}", style="yellow") for text in proof.warnings]
    count = len(proof.problems)
    word = "sound" if not count else f"{count} problem{'s' if count > 1 else ''}"
    lines.append(Text(f"{directory}: {word}", style="red" if count else "green"))
    return lines
