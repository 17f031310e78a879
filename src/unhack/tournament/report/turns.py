"""A page for each turn of an agent: its submission, what it cost, how it ended, step by step.

Covered: what was printed, by the transcript's own files; text is escaped, the page loads nothing.
Not covered: more than 500 steps of an attempt, or 6,000 letters of one; the files have all of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from unhack.agents.events.turns import TranscriptTurn, read_turns
from unhack.reporting.page import card, document, section, table, top
from unhack.reporting.text import number, safe
from unhack.store.files import write_whole
from unhack.tournament.record.outcome import ending, label, reading_words, review_words
from unhack.tournament.record.records import Entry, TournamentRecord, Transcript
from unhack.tournament.record.transcripts import read_outputs

_LETTERS = 6000
READING_NOTE = (
    "A word beside the judge's: it changes no standing. A transcript may be written for its reader."
)
Pages = Mapping[tuple[int, str], str]
"""Address of the page of a round and an agent."""


def write_turns(record: TournamentRecord, path: Path, *, run: Path) -> Pages:
    """Write the pages into a folder beside the report at `path`. Raises OSError."""
    folder = path.with_name(f"{path.stem}-turns")
    pages: dict[tuple[int, str], str] = {}
    known = {(item.round, item.agent): item for item in record.transcripts}
    for entry in record.entries:
        transcript = known.get((entry.round, entry.agent))
        if transcript is None or not transcript.files:
            continue
        folder.mkdir(exist_ok=True)
        slug = re.sub(r"[^A-Za-z0-9._-]+", "-", label(entry.agent))[:40]
        name = f"{entry.round:04d}-{len(pages):03d}-{slug}.html"
        place = os.path.relpath(run.absolute(), folder.absolute())
        html = document(_title(entry), _parts(record, entry, transcript, run=run, place=place))
        write_whole(folder / name, html.encode(), mode=0o644)
        pages[entry.round, entry.agent] = f"{folder.name}/{name}"
    return pages


def _title(entry: Entry) -> str:
    return f"{label(entry.agent)}, round {entry.round}"


def _parts(
    record: TournamentRecord, entry: Entry, transcript: Transcript, *, run: Path, place: str
) -> Iterator[str]:
    usage = entry.usage
    yield top(
        safe(_title(entry)),
        why=safe(ending(entry), most=_LETTERS),
        figures={
            "credited": number(entry.fitness),
            "flags": str(len(entry.flags)),
            "seconds": f"{usage.seconds:.1f}",
            "turns": str(usage.turns),
            "tool calls": str(usage.tool_calls),
            "checks": str(usage.checks),
            "US dollars": f"{usage.cost_usd:.2f}",
        },
    )
    told = [f"<p><b>{safe(flag.kind)}</b> {safe(flag.evidence)}</p>" for flag in entry.flags]
    told += [
        f"<p><b>{safe(flag.kind)}</b> (overruled) {safe(flag.evidence)}</p>"
        for flag in entry.overruled
    ]
    told += [f"<p>{safe(review_words(item))}</p>" for item in entry.reviews]
    if told:
        yield section("Flags", card("".join(told)))
    said = [
        f"<p>{safe(reading_words(item), most=_LETTERS)}</p>"
        for item in record.readings
        if (item.round, item.agent) == (entry.round, entry.agent)
    ]
    if said:
        yield section("What a language model read", card("".join(said), note=READING_NOTE))
    files = [f"{place}/submissions/{entry.digest}/{name}" for name in sorted(entry.files)]
    files += [f"{place}/{transcript.folder}/{name}" for name in sorted(transcript.files)]
    links = " · ".join(
        f'<a href="{safe(quote(address))}">{safe(address.rsplit("/", maxsplit=1)[-1])}</a>'
        for address in files
    )
    yield section("Files", card(f"<p>{links}</p>"))
    for name, turns in _attempts(transcript, run):
        rows = [
            (str(at), safe(turn.who), f"<pre>{safe(turn.text, most=_LETTERS)}</pre>")
            for at, turn in enumerate(turns, start=1)
        ]
        body = table((), rows, words=(1, 2)) if rows else "<p>Nothing was printed.</p>"
        yield section(f"Turn by turn: {name}", card(body))


def _attempts(transcript: Transcript, run: Path) -> Iterator[tuple[str, list[TranscriptTurn]]]:
    """Each attempt by name, with its steps; embedded agents leave a log."""
    for name, data in read_outputs(transcript, run):
        yield name, read_turns(data)
