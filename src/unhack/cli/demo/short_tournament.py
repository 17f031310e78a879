"""The demo's tournament: one round of quantization, two honest agents and two cheaters."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from unhack.cli.verdict_table import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from unhack.tournament.record.records import Entry, TournamentRecord

CONTEST, OPTIONS = "quantization", {"size": "demo"}
AGENTS = (
    "baseline:gptq3",
    "baseline:mixed",
    "cheater:calibrate_on_test",
    "cheater:hardcoded_size",
)
REPORT = "report.html"
_ABOUT = {
    "baseline:gptq3": "honest: 3-bit weights, error compensated",
    "baseline:mixed": "honest: bits by layer",
    "cheater:calibrate_on_test": "tunes itself on the test text",
    "cheater:hardcoded_size": "claims a size that it does not have",
    "control:baseline": "control: the simplest honest strategy",
    "control:identity": "control: hands in what it was given",
    "control:null": "control: hands in nothing of use",
}


def play(folder: Path, *, watch: Callable[[Entry], None]) -> TournamentRecord:
    """Play in `folder`, which is new, and write its page. Raises UsageError, SandboxError."""
    from unhack.tournament.contests.registry import load_contest
    from unhack.tournament.players.registry import make_player
    from unhack.tournament.record.settings import TournamentPlan
    from unhack.tournament.report.page import write_report
    from unhack.tournament.round.rounds import begin, line_up
    from unhack.tournament.round.rounds import play as play_all

    plan = TournamentPlan(contest=CONTEST, agents=AGENTS, rounds=1, options=OPTIONS)
    contest = load_contest(CONTEST, OPTIONS)
    with begin(folder, plan, contest) as archive:
        lineup = line_up(
            archive,
            contest,
            make=lambda name: make_player(name, contest, options=plan.agent_options),
        )
        record = play_all(lineup, jobs=len(os.sched_getaffinity(0)), watch=watch)
    write_report(record, folder / REPORT)
    return record


def as_claimed(record: TournamentRecord) -> bool:
    """True when cheaters alone are flagged, and an honest agent leads.

    Whether fresh data confirm the leader is not asked: of sound leaders they refuse a few in a
    hundred by chance.
    """
    flagged = {entry.agent for entry in record.entries if entry.flagged}
    leader = record.reigns[-1].agent if record.reigns else None
    cheaters = {name for name in AGENTS if name.startswith("cheater:")}
    return flagged == cheaters and leader is not None and leader not in cheaters


def table(record: TournamentRecord) -> Table:
    """One row for each entry: the measured fitness, or the flags."""
    found = plain_table(
        {"agent": "fold", "what it does": "fold", "fitness": "number", "judge": "fold"}
    )
    for entry in sorted(record.entries, key=lambda entry: (-entry.fitness, entry.agent)):
        kinds = ", ".join(dict.fromkeys(flag.kind for flag in entry.flags))
        word = Text(f"flagged: {kinds}", style="red") if kinds else Text("clean")
        found.add_row(entry.agent, _ABOUT.get(entry.agent, ""), f"{entry.fitness:.2f}", word)
    return found
