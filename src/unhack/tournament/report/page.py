"""A tournament's page: no script, no font, nothing to load.

Covered: every text that an agent had a hand in is escaped, its control and bidirectional characters
are shown as escapes, and the page forbids itself to load anything. Light, dark and print.
Not covered: evidence beyond 600 characters; its middle is left out.
"""

from __future__ import annotations

from pathlib import Path

from unhack.reporting.page import document, figure
from unhack.store.files import write_whole
from unhack.tournament.record.records import TournamentRecord
from unhack.tournament.report import plots, sections


def page(record: TournamentRecord) -> str:
    """The whole page."""
    cliff, names = plots.cliff_chart(record), sections.agent_legend(record)
    parts = [
        sections.head(record),
        figure("Fitness by round", [plots.fitness_chart(record)], note=sections.FITNESS_NOTE,
               legend=names),
        figure("The cliff", [cliff], note=sections.CLIFF_NOTE, legend=names) if cliff else "",
        sections.rejected(record),
        sections.standings(record),
        sections.confirmations(record),
        sections.impossible(record),
        figure("Lineage", [plots.lineage_chart(record)], note=sections.LINEAGE_NOTE),
        sections.cost(record),
        sections.terms(record),
        sections.footer(record),
    ]  # fmt: skip
    return document(f"Tournament: {record.settings.title}", parts)


def write_report(record: TournamentRecord, path: Path) -> None:
    """Write the page to `path`, whole or not at all. Raises OSError."""
    write_whole(path.absolute(), page(record).encode(), mode=0o644)
