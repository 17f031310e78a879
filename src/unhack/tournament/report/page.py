"""A tournament's page: no script, no font, nothing to load.

Covered: every text that an agent had a hand in is escaped, its control and bidirectional characters
are shown as escapes, and the page forbids itself to load anything. Light, dark and print.
Not covered: evidence beyond 600 characters; its middle is left out.

Submissions on a tournament's page: rejected ones and why, endings of turns, measurements.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from unhack.reporting.page import card, document, figure, section, table
from unhack.reporting.text import number, safe
from unhack.store.files import write_whole
from unhack.tournament.contest import Flag, Metric
from unhack.tournament.judging.flags import FLAG_KINDS, GROUPS, title
from unhack.tournament.record.outcome import (
    both_numbers,
    ending,
    grouped_flags,
    label,
    review_words,
    went_wrong,
)
from unhack.tournament.record.records import Entry, PlayerRole, TournamentRecord, Transcript
from unhack.tournament.report import plots, sections
from unhack.tournament.report.turns import READING_NOTE, Pages, write_turns

_MAX_LETTERS = 600
"""Letters of one text of an agent; the middle of a longer one is left out."""
_ENDINGS_NOTE = "How each agent's turn ended in each round, with what it cost."
_LINKS_NOTE = " The links lead into the folder of the tournament."


def rejected(record: TournamentRecord) -> str:
    """Flagged submissions with what shows it and what people said of it, those of one agent with
    the same flags together."""
    groups = grouped_flags(record.entries)
    if not groups:
        return section("Rejected submissions", card("<p>None was flagged.</p>"))
    return section("Rejected submissions", "\n".join(map(_rejected, groups)))


def _rejected(entries: Sequence[Entry]) -> str:
    first = entries[0]
    rounds = ", ".join(str(entry.round) for entry in entries)
    word = "round" if len(entries) == 1 else "rounds"
    rows = "".join(_flag(flag) for flag in first.flags)
    rows += "".join(_flag(flag, overruled=True) for flag in first.overruled)
    reviews = "".join(f"<p>{_safe(review_words(item))}</p>" for item in first.reviews)
    tone, badge = ("bad", "credited 0") if first.flags else ("unsure", "overruled")
    told = "; ".join(_told(entry, several=len(entries) > 1) for entry in entries)
    shown = f" · evidence of round {first.round}" if len(entries) > 1 else ""
    return (
        f'<article class="card finding tone-{tone}"><header><h3>{_safe(label(first.agent))}, '
        f'{word} {rounds}</h3><span class="badge">{badge}</span></header>'
        f'<p class="soft small">{told}{shown}</p>'
        f'<dl class="flags">{rows}</dl>{reviews}</article>'
    )


def _told(entry: Entry, *, several: bool) -> str:
    """A rejected submission and what it would have been worth."""
    measured = entry.measured
    would = both_numbers(entry) or (
        f"it would have had {number(measured.fitness)}"
        if measured is not None and measured.valid
        else f"not valid: {_safe(measured.reason)}"
        if measured is not None
        else "not measured"
    )
    head = f"round {entry.round}: " if several else "submission "
    return f"{head}<code>{_safe(entry.digest[:12])}</code>, {would}"


def _flag(flag: Flag, *, overruled: bool = False) -> str:
    kind, word = FLAG_KINDS.get(flag.kind), ", overruled" if overruled else ""
    group = f"{kind.group}: {GROUPS[kind.group]}" if kind else ""
    text = f'<p class="soft small">{_safe(kind.text)} ({group})</p>' if kind else ""
    return (
        f"<dt>{_safe(title(flag.kind))}<br><code>{_safe(flag.kind)}</code> "
        f'<span class="soft small">{_safe(flag.source)}{word}</span></dt>'
        f"<dd><p>{_evidence(flag.evidence)}</p>{text}</dd>"
    )


def _evidence(text: str) -> str:
    """The place in front of it as code: `solution.py:12: ...`."""
    place = re.match(r"([A-Za-z0-9._/ +-]{1,160}(?::\d+)?): ", text)
    if place is None:
        return _safe(text)
    return f"<code>{_safe(place[1])}</code> {_safe(text[place.end() :])}"


def endings(record: TournamentRecord, *, run: str, turns: Pages) -> str:
    """How each agent ended each round; with a run folder, links to what it said and handed in."""
    known = {(item.round, item.agent): item for item in record.transcripts}
    rows = [
        (
            _safe(label(entry.agent)),
            str(entry.round),
            *([_read_as(record, entry)] if record.readings else ()),
            f'<span class="{"unsure" if went_wrong(entry) else ""}">{_safe(ending(entry))}</span>',
            *([_links(entry, known, run, turns)] if run else ()),
        )
        for entry in record.entries
        if entry.role is PlayerRole.AGENT
    ]
    if not rows:
        return ""
    read = ("read as",) if record.readings else ()
    names = ("agent", "round", *read, "how it ended", *(["files"] if run else ()))
    note = _ENDINGS_NOTE + (_LINKS_NOTE if run else "") + (f" {READING_NOTE}" if read else "")
    return section("How each agent ended", card(table(names, rows, words=(0, 2, 3, 4)), note=note))


def _read_as(record: TournamentRecord, entry: Entry) -> str:
    """The newest word of a language model on a transcript, and whose it is."""
    mine = [r for r in record.readings if (r.round, r.agent) == (entry.round, entry.agent)]
    if not mine:
        return "-"
    return f'{_safe(mine[-1].intent)} <span class="soft small">{_safe(mine[-1].model)}</span>'


def _links(
    entry: Entry, known: Mapping[tuple[int, str], Transcript], run: str, turns: Pages
) -> str:
    place = (entry.round, entry.agent)
    transcript, page = known.get(place), turns.get(place)
    links = [_link(page, "turn by turn")] if page else []
    links += [
        _link(f"{run}/submissions/{entry.digest}/{name}", name) for name in sorted(entry.files)
    ]
    if transcript is not None:
        last = f"attempt-{entry.attempts}/"
        links += [
            _link(f"{run}/{transcript.folder}/{name}", name.removeprefix(last))
            for name in sorted(transcript.files)
            if name.startswith(last)
        ]
    return " · ".join(links) or "-"


def _link(address: str, name: str) -> str:
    return f'<a href="{safe(quote(address))}">{_safe(name)}</a>'


def metrics(record: TournamentRecord) -> str:
    """The metrics of each submission, folded up."""
    parts = [
        _metrics(entry)
        for entry in record.entries
        if entry.measured is not None and entry.measured.metrics
    ]
    if not parts:
        return ""
    head = f"Metrics of {len(parts)} submissions, one by one"
    folded = f'<details class="card"><summary>{head}</summary>{"".join(parts)}</details>'
    return section("What was measured", folded)


def _metrics(entry: Entry) -> str:
    assert entry.measured is not None
    facts = "".join(
        f"<dt>{_safe(name)}</dt><dd><code>{_safe(_value(value))}</code></dd>"
        for name, value in entry.measured.metrics.items()
    )
    head = f"<b>{_safe(label(entry.agent))}</b>, round {entry.round}: {number(entry.fitness)}"
    return (
        f'<details class="block"><summary>{head}, {entry.size_bytes:,} bytes</summary>'
        f'<dl class="facts">{facts}{_left_out(entry)}</dl></details>'
    )


def _left_out(entry: Entry) -> str:
    told = "; ".join(f"{path}: {reason}" for path, reason in entry.left_out.items())
    return f"<dt>left out</dt><dd>{_safe(told)}</dd>" if told else ""


def _value(value: Metric) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _safe(text: str) -> str:
    return safe(text, most=_MAX_LETTERS)


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
        rejected(record),
        sections.cheating(record),
        endings(record, run=run, turns=turns or {}),
        metrics(record),
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
