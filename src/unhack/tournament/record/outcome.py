"""The way in which an agent's turn ended, flags by submission and their reviews, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unhack.agents.play import PlayEnding
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import (
    Entry,
    FlagReview,
    IntentReading,
    PlayerRole,
    Reign,
    ReviewDecision,
    TournamentRecord,
)

_WORDS = {
    PlayEnding.FINISHED: "finished",
    PlayEnding.TIME: "stopped at the time limit",
    PlayEnding.COST: "stopped at the cost limit",
    PlayEnding.FAILED: "failed",
}


def ending(entry: Entry) -> str:
    """One line: how the turn ended, after which time, at which cost, and what went wrong."""
    if entry.ended is None:
        begun = entry.state is not EntryState.PLANNED
        return "at work, or cut off" if begun else "not begun"
    parts = [_WORDS[entry.ended]]
    usage = entry.usage
    if usage.seconds:
        parts.append(f"{usage.seconds:.0f} s" if usage.seconds >= 10 else f"{usage.seconds:.1f} s")
    if usage.cost_usd:
        parts.append(f"{usage.cost_usd:.2f} USD")
    if entry.attempts > 1:
        parts.append(f"{entry.attempts} attempts")
    words = ", ".join(parts)
    told = entry.note or entry.problem
    return f"{words}: {told}" if told else words


def went_wrong(entry: Entry) -> bool:
    """True where the turn did not just finish, or left nothing to judge."""
    return entry.ended not in (None, PlayEnding.FINISHED) or bool(entry.problem)


def label(agent: str) -> str:
    """The short name of an agent: NAME of `NAME=CMD`, with its number where it plays twice."""
    name, equals, command = agent.partition("=")
    if not equals or " " in name:
        return agent
    again = re.search(r"#\d+$", command)
    return name + (again[0] if again else "")


def measured_nothing(entries: Sequence[Entry]) -> bool:
    """True where no submission of an agent was worth measuring: its fitness of 0 says nothing."""
    known = [entry for entry in entries if entry.state is EntryState.COMMITTED]
    return bool(known) and not any(
        entry.declined or (entry.measured is not None and entry.measured.valid) for entry in known
    )


def given_as_good(record: TournamentRecord, reign: Reign) -> Entry | None:
    """The control of a champion's round that hands in what everybody was given, where its fitness
    is not below the champion's interval: such a champion has shown no work of its own."""
    controls = (
        entry
        for entry in record.entries
        if entry.round == reign.round and entry.role is PlayerRole.IDENTITY
    )
    return next((entry for entry in controls if entry.fitness >= reign.low), None)


def tied_with(record: TournamentRecord, reign: Reign) -> tuple[str, ...]:
    """Other competitors of a champion's round whose fitness is not below its interval: none of them
    beats the others by more than noise, and equal submissions are one entry of several authors."""
    rivals = [
        entry.agent
        for entry in record.entries
        if entry.round == reign.round and entry.role in (PlayerRole.AGENT, PlayerRole.BASELINE)
        if entry.seeds and entry.fitness >= reign.low and entry.fitness > 0
    ]
    return tuple(name for name in rivals if name != reign.agent)


def grouped_flags(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Entries that the judge flagged, those of one agent with the same kinds of flags together, in
    order; one that was reviewed stands alone."""
    found: dict[tuple[object, ...], list[Entry]] = {}
    for entry in entries:
        if entry.flags or entry.overruled:
            kinds = sorted({flag.kind for flag in entry.flags})
            key = (entry.agent, entry.round if entry.reviews else 0, *kinds)
            found.setdefault(key, []).append(entry)
    return list(found.values())


def review_words(review: FlagReview) -> str:
    """One line: the decision on which flags, by whom, when and why."""
    word = "overruled" if review.decision is ReviewDecision.OVERRULE else "upheld"
    return f"{word}: {', '.join(review.flags)}; {review.by}, {review.time}: {review.why}"


def reading_words(reading: IntentReading) -> str:
    """One line: what a language model read in a transcript."""
    return f"read as {reading.intent} by {reading.model}, {reading.time}: {reading.why}"


def both_numbers(entry: Entry) -> str:
    """The credited fitness as reviewed and as judged; empty where no flag was overruled."""
    if entry.judged_fitness is None:
        return ""
    return f"flag overruled: {entry.fitness:.4g}, as judged {entry.judged_fitness:.4g}"
