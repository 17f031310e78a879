"""Judges every frozen submission again and says where the stored record differs.

Covered: the same data by the same seeds, in the order of the rounds, with the reviews of flags that
each round began with, and what was judged held against it; submissions that were changed
or lost (StoreError). Of a contest that measures time, what cannot repeat is compared by intervals,
and so is a submission that draws lots by itself: two judgings of today differ as well.
Not covered: what agents did; only what they handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unhack.core.errors import UsageError
from unhack.tournament.contest import Contest, Measurement
from unhack.tournament.judging.machine_lock import MACHINE
from unhack.tournament.record.archive import Archive
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import Entry
from unhack.tournament.record.settings import check_same
from unhack.tournament.review.canonical import canonical_judgement, canonical_measurement
from unhack.tournament.round.champion import beats
from unhack.tournament.round.lineup import Lineup
from unhack.tournament.round.rounds import confirm_champion
from unhack.tournament.round.turn import judge_entry, judged


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that came out otherwise."""

    round: int
    agent: str
    what: str
    stored: Any
    again: Any


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of judging again.

    Example:

        again = replay(archive, contest)
        again.judged, again.differences
    """

    judged: int
    """Submissions and confirmations that were measured again."""
    differences: tuple[Difference, ...]
    unsteady: tuple[Difference, ...]
    """Items that differ because a submission does not repeat itself, within its intervals."""
    other_rules: str
    """The changes since in contest or judge; empty for none."""


def replay(
    archive: Archive, contest: Contest, *, watch: Callable[[Entry], None] = lambda entry: None
) -> Replay:
    """Judge all over again. Raises StoreError, SandboxError."""
    lineup = Lineup(archive, contest, archive.settings, archive.folder.secret, (), MACHINE)
    stored = archive.entries(reviews=0)
    done = [entry for entry in stored if entry.state is EntryState.COMMITTED]
    known = {number: archive.entries_at(number) for number in {entry.round for entry in done}}
    found: list[Difference] = []
    unsteady: list[Difference] = []
    lots: set[str] = set()
    for entry in done:
        earlier = [other for other in known[entry.round] if other.round < entry.round]
        again = _judged(lineup, entry, earlier)
        differences = _compared(entry, again, timed=contest.exclusive)
        if differences and not contest.exclusive and _agree(entry, again):
            once_more = _judged(lineup, entry, earlier)
            if _compared(again, once_more, timed=False) and _agree(entry, once_more):
                lots.add(entry.digest)
                unsteady += differences
                differences = []
        found += differences
        watch(entry)
    confirmations = archive.confirmations()
    reigns = {(reign.digest, reign.round): reign for reign in archive.reigns()}
    for item in confirmations:
        reign = reigns[item.digest, item.round]
        [entry] = [e for e in done if (e.round, e.agent) == (reign.round, reign.agent)]
        again = confirm_champion(lineup, reign, entry)
        pairs = (item.confirmed, again.confirmed)
        if not _same(*pairs, timed=contest.exclusive or item.digest in lots):
            found.append(Difference(item.round, item.agent, "confirmation", *map(_shown, pairs)))
    judgings = len(done) + len(confirmations)
    return Replay(judgings, tuple(found), tuple(unsteady), _other_rules(lineup))


def _judged(lineup: Lineup, entry: Entry, earlier: list[Entry]) -> Entry:
    with lineup.quiet():
        word = judge_entry(lineup, entry, earlier)
    return judged(entry, word)


def _agree(stored: Entry, again: Entry) -> bool:
    """Tell whether the two differ in numbers alone, and those within their intervals."""
    kinds = [{flag.kind for flag in entry.flags} for entry in (stored, again)]
    pairs = ((stored.measured, again.measured), (stored.audited, again.audited))
    return kinds[0] == kinds[1] and all(_same(*pair, timed=True) for pair in pairs)


def _compared(stored: Entry, again: Entry, *, timed: bool) -> list[Difference]:
    one, other = (canonical_judgement(entry, timed=timed) for entry in (stored, again))
    found = [
        Difference(stored.round, stored.agent, name, one[name], other[name])
        for name in one
        if one[name] != other[name]
    ]
    pair = (stored.measured, again.measured)
    if timed and not found and None not in pair and not _same(*pair, timed=True):
        found.append(Difference(stored.round, stored.agent, "measured", *map(_shown, pair)))
    return found


def _same(one: Measurement | None, other: Measurement | None, *, timed: bool) -> bool:
    if one is None or other is None:
        return one is other
    if timed:
        within = not (beats(one, other) or beats(other, one))
        return one.valid == other.valid and within
    return canonical_measurement(one, timed=False) == canonical_measurement(other, timed=False)


def _shown(measured: Measurement | None) -> str:
    if measured is None:
        return "nothing"
    return measured.reason or f"{measured.fitness:.6g} [{measured.low:.6g}, {measured.high:.6g}]"


def _other_rules(lineup: Lineup) -> str:
    try:
        check_same(lineup.settings, lineup.contest)
    except UsageError as error:
        return str(error)
    return ""
