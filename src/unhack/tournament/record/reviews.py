"""Reviews of flags, applied to what was judged: which flags stand, and what is credited then.

Covered: several reviews of one flag (the newest counts), flags of several kinds on one submission,
both numbers of an entry and of a standing. What was judged stays as it was stored.
Not covered: champions; they stay as they were crowned, since rounds were seeded with them. Flags of
a confirmation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from unhack.tournament.record.records import Entry, FlagReview, ReviewDecision, Round, Standing
from unhack.tournament.record.standings import standings


def apply_reviews(entries: Iterable[Entry], reviews: Sequence[FlagReview]) -> list[Entry]:
    """The entries, in order, with the flags that stand after `reviews` (oldest first)."""
    known: dict[tuple[int, str], list[FlagReview]] = {}
    for item in reviews:
        known.setdefault((item.round, item.agent), []).append(item)
    return [_reviewed(entry, known.get((entry.round, entry.agent), ())) for entry in entries]


def reviewed_standings(rounds: Sequence[Round]) -> tuple[Standing, ...]:
    """The standings by what is credited now, with the mean as judged where that was another."""
    found = standings(rounds)
    if not any(entry.overruled for turn in rounds for entry in turn.entries):
        return found
    judged = {item.agent: item.mean for item in standings([_as_judged(turn) for turn in rounds])}
    return tuple(
        item if judged[item.agent] == item.mean else replace(item, judged_mean=judged[item.agent])
        for item in found
    )


def _reviewed(entry: Entry, reviews: Sequence[FlagReview]) -> Entry:
    decided = {kind: item.decision for item in reviews for kind in item.flags}
    gone = tuple(f for f in entry.flags if decided.get(f.kind) is ReviewDecision.OVERRULE)
    left = tuple(flag for flag in entry.flags if flag not in gone)
    found = replace(entry, flags=left, overruled=gone, reviews=tuple(reviews))
    if not gone or left:
        return found
    return replace(found, fitness=_without_flags(entry), judged_fitness=entry.fitness)


def _without_flags(entry: Entry) -> float:
    """The measured fitness, 0 where judge or audit could not measure: the credit without flags."""
    pair = entry.measured, entry.audited
    whole = all(item is not None and item.valid for item in pair) and not entry.declined
    return entry.measured.fitness if whole and entry.measured is not None else 0.0


def _as_judged(turn: Round) -> Round:
    entries = (
        replace(
            entry,
            flags=(*entry.flags, *entry.overruled),
            overruled=(),
            fitness=entry.fitness if entry.judged_fitness is None else entry.judged_fitness,
        )
        for entry in turn.entries
    )
    return replace(turn, entries=tuple(entries))
