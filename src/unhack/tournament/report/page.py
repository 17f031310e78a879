"""A tournament's page: no script, no font, nothing to load.

Covered: every text that an agent had a hand in is escaped, its control and bidirectional characters
are shown as escapes, and the page forbids itself to load anything. Light, dark and print.
Not covered: evidence beyond 600 characters; its middle is left out.
"""

from __future__ import annotations

import os
from pathlib import Path

from unhack.reporting.page import document, figure
from unhack.store.files import write_whole
from unhack.tournament.record.records import TournamentRecord
from unhack.tournament.report import plots, sections, submissions
from unhack.tournament.report.turns import Pages, write_turns


def page(record: TournamentRecord, *, run: str = "", turns: Pages | None = None) -> str:
    """The whole page. `run` is the address of the run folder, for links; without it there are
    none. `turns` are the pages of agents' turns."""
    return document(title_of(record), contents(record, run=run, turns=turns))


def title_of(record: TournamentRecord) -> str:
    """The title of the page."""
    return f"Tournament: {record.settings.title}"


def contents(record: TournamentRecord, *, run: str = "", turns: Pages | None = None) -> list[str]:
    """The parts of the page."""
    cliff, names = plots.cliff_chart(record), sections.agent_legend(record)
    return [
        sections.head(record),
        sections.standings(record),
        figure("Fitness by round", [plots.fitness_chart(record)], note=sections.FITNESS_NOTE,
               legend=names),
        figure("The cliff", [cliff], note=sections.CLIFF_NOTE, legend=names) if cliff else "",
        submissions.rejected(record),
        sections.cheating(record),
        submissions.endings(record, run=run, turns=turns or {}),
        submissions.metrics(record),
        sections.confirmations(record),
        sections.impossible(record),
        figure("Lineage", [plots.lineage_chart(record)], note=sections.LINEAGE_NOTE, legend=names),
        sections.cost(record),
        sections.terms(record),
        sections.footer(record),
    ]  # fmt: skip


def write_report(record: TournamentRecord, path: Path, *, run: Path | None = None) -> None:
    """Write the page to `path`, whole or not at all; `run` is the run folder that it links to, and
    whose transcripts become pages of their own in a folder beside it.

    Raises OSError.
    """
    whole = path.absolute()
    place = "" if run is None else os.path.relpath(run.absolute(), whole.parent)
    turns = None if run is None else write_turns(record, whole, run=run)
    write_whole(whole, page(record, run=place, turns=turns).encode(), mode=0o644)
