"""A tournament's page: no script, no font, nothing to load.

Covered: every text that an agent had a hand in is escaped, its control and bidirectional characters
are shown as escapes, and the page forbids itself to load anything. Light, dark and print.
Not covered: evidence beyond 600 characters; its middle is left out.
"""

from __future__ import annotations

import os
import tempfile
from importlib.resources import files
from pathlib import Path
from string import Template

from unhack.tournament.records import TournamentRecord
from unhack.tournament.report import drawing, plots, sections


def page(record: TournamentRecord) -> str:
    """The whole page."""
    frame = files("unhack.tournament.report").joinpath("page.html").read_text(encoding="utf-8")
    cliff, names = plots.cliff_chart(record), sections.legend(record)
    parts = [
        sections.head(record),
        sections.figure("Fitness by round", plots.fitness_chart(record), sections.FITNESS_NOTE,
                        legend=names),
        sections.figure("The cliff", cliff, sections.CLIFF_NOTE, legend=names) if cliff else "",
        sections.rejected(record),
        sections.standings(record),
        sections.confirmations(record),
        sections.impossible(record),
        sections.figure("Lineage", plots.lineage_chart(record), sections.LINEAGE_NOTE),
        sections.cost(record),
        sections.terms(record),
        sections.footer(record),
    ]  # fmt: skip
    return Template(frame).substitute(
        title=drawing.safe(f"Tournament: {record.settings.title}"), body="\n".join(parts)
    )


def write_report(record: TournamentRecord, path: Path) -> None:
    """Write the page to `path`, whole or not at all. Raises OSError."""
    text = page(record)
    fd, beside = tempfile.mkstemp(prefix=".report-", dir=path.absolute().parent)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
        Path(beside).chmod(0o644)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
