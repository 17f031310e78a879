"""`unhack tournament read`: a language model reads transcripts, beside the judge."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from unhack.cli import terminal
from unhack.cli.language_model import LanguageModelOptions
from unhack.cli.options import arg, opt, takes
from unhack.core.errors import UsageError

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
