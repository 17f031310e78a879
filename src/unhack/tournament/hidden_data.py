"""Contests that measure nothing before the judge does, since all their data are hidden."""

from __future__ import annotations

import typing

from unhack.tournament.contest import Contest


@typing.runtime_checkable
class HidesData(typing.Protocol):
    """A contest that measures nothing on `DataPool.DEV`, since all data are the judge's: there the
    metrics tell what the judge would take, and the fitness means nothing."""

    @property
    def hidden_because(self) -> str:
        """The reason, as agents are told."""
        ...


def hidden_reason(contest: Contest) -> str:
    """The reason why a check measures nothing; empty where it measures."""
    return contest.hidden_because if isinstance(contest, HidesData) else ""
