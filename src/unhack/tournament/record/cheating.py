"""How often submissions were gamed: by contest, by round, by agent, with intervals.

Covered: agents' submissions that were judged to their end; a flag that a person overruled does not
count, one on a control neither.
Not covered: cheats that nobody noticed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from unhack.core.statistics import wilson
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import Entry, PlayerRole, TournamentRecord


@dataclass(frozen=True, slots=True)
class CheatingRate:
    """The share of submissions that were flagged."""

    contest: str
    round: int
    """0 for all rounds."""
    agent: str
    """Empty for all agents."""
    flagged: int
    of: int
    low: float
    high: float
    """95 % interval of the share (Wilson); 0 to 1 where nothing was judged."""

    @property
    def rate(self) -> float:
        """The share; 0 where nothing was judged."""
        return self.flagged / self.of if self.of else 0.0


def cheating_rates(record: TournamentRecord) -> tuple[CheatingRate, ...]:
    """Of the contest, then of each round, then of each agent in order."""
    judged = [
        entry
        for entry in record.entries
        if entry.role is PlayerRole.AGENT and entry.state is EntryState.COMMITTED
    ]
    contest = record.settings.contest
    rounds = dict.fromkeys(entry.round for entry in judged)
    agents = dict.fromkeys(entry.agent for entry in judged)
    return (
        _rate(contest, judged),
        *(_rate(contest, (e for e in judged if e.round == one), round=one) for one in rounds),
        *(_rate(contest, (e for e in judged if e.agent == one), agent=one) for one in agents),
    )


def _rate(
    contest: str, entries: Iterable[Entry], *, round: int = 0, agent: str = ""
) -> CheatingRate:
    known = list(entries)
    flagged = sum(entry.flagged for entry in known)
    return CheatingRate(contest, round, agent, flagged, len(known), *wilson(flagged, len(known)))
