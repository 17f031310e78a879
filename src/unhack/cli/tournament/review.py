"""`unhack tournament review` and `read`: a flag's whole evidence with the word of a person on it,
and transcripts that a language model reads, beside the judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from unhack.cli import terminal
from unhack.cli.language_model import LanguageModelOptions
from unhack.cli.options import arg, opt, takes
from unhack.core.errors import UsageError

if TYPE_CHECKING:
    from unhack.tournament.record.records import Entry


@dataclass(frozen=True)
class ReviewOrder:
    """The arguments and options of `review`."""

    folder: Path = arg(..., "The folder of a tournament.", metavar="DIR")
    submission: str = arg(..., "The submission, such as 2/codex.", metavar="ROUND/AGENT")
    flag: str = arg("", "The kind of flag (default: all of them).", metavar="[FLAG]")
    overrule: bool = opt(False, "The flag is wrong.", "--overrule")
    uphold: bool = opt(False, "The flag is right.", "--uphold")
    by: str = opt("", "Your name, for the record.", metavar="NAME")
    why: str = opt("", "The reason, for whoever reads the record.", metavar="TEXT")
    as_json: bool = opt(False, "As one JSON object.", "--json")


@takes(ReviewOrder)
def review(order: ReviewOrder) -> None:
    """Show the evidence of a submission's flags, or overrule or uphold them.

    A review is appended to the record with name, reason and time; what was judged stays, and both
    numbers are shown. Without --overrule and --uphold nothing is changed.

    \b
    unhack tournament review out 2/codex
    unhack tournament review out 2/codex library_call --overrule --by Ada --why "never timed"
    """
    from unhack.cli.tournament.screen import as_fields
    from unhack.tournament.review.flag_review import find_entry, same_elsewhere

    if order.overrule and order.uphold:
        raise UsageError("use --overrule or --uphold, not both")
    decided = order.overrule or order.uphold
    if not decided and (order.by or order.why or order.flag):
        raise UsageError("use --overrule or --uphold; without them the evidence is shown")
    entries = _decide(order) if decided else _read(order.folder)
    entry = find_entry(entries, order.submission)
    if order.as_json:
        terminal.write_json(as_fields(entry))
        return
    for line in review_lines(entry, same_elsewhere(entries, entry)):
        terminal.results().print(line, soft_wrap=True)


def review_lines(entry: Entry, same: Sequence[Entry]) -> list[Text]:
    """An entry's flags with their evidence and reviews, and what it is credited."""
    from unhack.reporting.text import visible
    from unhack.tournament.record.outcome import label, review_words

    lines = [Text(f"round {entry.round}, {label(entry.agent)}, submission {entry.digest[:12]}")]
    for flag, style, word in [
        *((flag, "red", "stands") for flag in entry.flags),
        *((flag, "yellow", "overruled") for flag in entry.overruled),
    ]:
        lines.append(Text(f"{flag.kind} ({flag.source}), {word}", style=style))
        lines.append(Text(f"  {visible(flag.evidence)}"))
    if not (entry.flags or entry.overruled):
        lines.append(Text("no flag"))
    lines += [Text(visible(review_words(item))) for item in entry.reviews]
    judged = entry.fitness if entry.judged_fitness is None else entry.judged_fitness
    told = f"credited: {judged:.4g} as judged"
    lines.append(Text(f"{told}, {entry.fitness:.4g} as reviewed" if entry.reviews else told))
    if entry.tainted and not entry.flags:
        lines.append(Text("tainted: it grew from a flagged submission, or has its files"))
    lines += [
        Text(f"the same files are flagged in {e.round}/{label(e.agent)}: review them there, too")
        for e in same
    ]
    return lines


def _decide(order: ReviewOrder) -> list[Entry]:
    from unhack.tournament.record.records import ReviewDecision
    from unhack.tournament.review.flag_review import review_flags
    from unhack.tournament.round.rounds import reopen

    decision = ReviewDecision.OVERRULE if order.overrule else ReviewDecision.UPHOLD
    with reopen(order.folder) as archive:
        archive.check_files()
        review_flags(
            archive,
            order.submission,
            kind=order.flag,
            decision=decision,
            by=order.by,
            why=order.why,
        )
        return list(archive.record().entries)


def _read(folder: Path) -> list[Entry]:
    from unhack.tournament.record.archive import read_record

    return list(read_record(folder).entries)


if TYPE_CHECKING:
    from unhack.tournament.record.records import IntentReading


@dataclass(frozen=True, kw_only=True)
class ReadOrder(LanguageModelOptions):
    """The arguments and options of `read`."""

    folder: Path = arg(..., "The folder of a tournament.", metavar="DIR")
    submissions: list[str] | None = arg(
        None, "Which transcripts (default: all).", metavar="[ROUND/AGENT]..."
    )
    as_json: bool = opt(False, "As one JSON object.", "--json")


@takes(ReadOrder)
def read(order: ReadOrder) -> None:
    """Let a language model read transcripts for intent; its word changes no standing.

    What it says is appended to the record and stands in the report, beside what was judged. A
    transcript may be written for its reader: look yourself, and use `review`.

    \b
    unhack tournament read out --llm-model claude-sonnet-4-5 --llm-prices 3,15 --llm-cost 2
    unhack tournament read out 2/codex --llm-model my-model --llm-url http://127.0.0.1:8000/v1
    """
    from unhack.agents.language_models.model import Model
    from unhack.agents.language_models.replies import ModelError
    from unhack.cli.tournament.screen import as_fields
    from unhack.tournament.record.archive import read_record
    from unhack.tournament.record.outcome import label, reading_words
    from unhack.tournament.review.intent import read_intents, transcripts_to_read
    from unhack.tournament.round.rounds import reopen

    endpoint = order.endpoint()
    if endpoint is None:
        raise UsageError("no language model is named: give --llm-model NAME, or UNHACK_LLM_MODEL")
    wanted = transcripts_to_read(read_record(order.folder), order.submissions or ())
    model = Model(endpoint, cost_limit_usd=order.llm_cost)
    done: list[IntentReading] = []
    trouble = ""
    with reopen(order.folder) as archive:
        try:
            for reading in read_intents(model, endpoint.model, wanted, run=order.folder):
                archive.add_reading(reading)
                done.append(reading)
                if not order.as_json:
                    place = f"{reading.round}/{label(reading.agent)}"
                    terminal.results().print(f"{place}: {reading_words(reading)}", soft_wrap=True,
                                             markup=False)  # fmt: skip
        except ModelError as error:
            trouble = str(error)
    if order.as_json:
        terminal.write_json({"readings": [as_fields(item) for item in done], "trouble": trouble})
    if trouble:
        left = len(wanted) - len(done)
        terminal.remarks().print(f"{left} of {len(wanted)} were not read: {trouble}",
                                 soft_wrap=True, markup=False)  # fmt: skip
        raise typer.Exit(4)
