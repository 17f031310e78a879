"""Tasks that were read as one HTML page, to sort and to filter.

Covered: one file that loads nothing; its one script is allowed by its hash. Every text of a task is
escaped. Without the script the table stands in the order of names.
Not covered: the whole text of a statement or a test; a suspicion shows its line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from unhack.audit.environments.reading.summary import ReadingSummary
from unhack.audit.environments.reading.suspicion import KINDS, LAYOUT, TaskReading
from unhack.reporting.page import card, document, section, sorting, table, top
from unhack.reporting.text import one_line, safe

_QUOTED = 150


def reading_page(
    readings: Sequence[TaskReading], summary: ReadingSummary, *, source: str, made: datetime
) -> str:
    """The whole page. `source` is the folder as the user named it."""
    policy, script = sorting()
    kinds = [
        (f"<code>{kind.value}</code>", safe(KINDS[kind]), safe(summary.share(count)))
        for kind, count in summary.counts.items()
    ]
    options = "".join(f"<option>{kind.value}</option>" for kind in KINDS if kind not in LAYOUT)
    pick = (
        '<p class="picks"><label>Only tasks with <select data-filter><option value="">any kind'
        f"</option>{options}</select></label></p>"
    )
    rows = [_row(one) for one in readings if not one.failed]
    heads = ("task", "kinds", "suspicions", "what was read")
    why = (
        "A suspicion is a place to look at, no verdict: nothing was run. A task without one was "
        "read; that does not make it sound."
    )
    figures = {
        "tasks read": f"{summary.read:,}",
        "not read": f"{len(summary.failed):,}",
        "nothing suspicious": f"{summary.quiet:,}",
    }
    parts = (
        top(f"Tasks of <code>{safe(source)}</code>, read and not run", why=why, figures=figures),
        section("Kinds", card(table(("kind", "meaning", "tasks, 95 %"), kinds, words=(0, 1)))),
        _missing("Not read", summary.failed),
        section("Tasks", card(pick + table(heads, rows, words=(0, 3)))),
        _missing("Read in part", summary.partly),
        f'<footer class="soft small"><p>{made.astimezone(UTC):%Y-%m-%d %H:%M} UTC</p></footer>',
    )
    return document(
        "Tasks read, not run", parts, foot=f"<script>{script}</script>\n", policy=policy
    )


def _row(one: TaskReading) -> tuple[str, str, str, str]:
    told = [each for each in one.suspicions if each.kind not in LAYOUT]
    kinds = [kind.value for kind in KINDS if kind in one.kinds]
    if not kinds:
        return safe(one.name), "0", "0", f'<span class="soft">{safe(one.said)}</span>'
    lines = "".join(
        f"<li><b>{each.kind.value}</b> <code>{safe(f'{each.file}:{each.line}')}</code> "
        f"{safe(each.about, most=_QUOTED)}<br><code>"
        f"{safe(one_line(each.quote.strip(), most=_QUOTED))}</code></li>"
        for each in told
    )
    listed = f'<ul class="plain small">{lines}</ul>'
    shown = f"<details><summary>{' '.join(kinds)}</summary>{listed}</details>"
    return safe(one.name), str(len(kinds)), str(len(told)), shown


def _missing(title: str, named: Mapping[str, str]) -> str:
    rows = [(safe(name), safe(why)) for name, why in named.items()]
    return section(title, card(table(("task", "why"), rows, words=(0, 1)))) if rows else ""
