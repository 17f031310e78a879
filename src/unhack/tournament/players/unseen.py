"""Contests whose data are the judge's alone, and the reason that agents are told."""

from __future__ import annotations

import typing

from unhack.tournament.contest import Contest


@typing.runtime_checkable
class MeasuresUnseen(typing.Protocol):
    """A contest that measures nothing on `DataPool.DEV`: the metrics tell what the judge would
    take, and the fitness means nothing."""

    @property
    def unseen(self) -> str:
        """The reason, as agents are told."""
        ...


def unseen_by(contest: Contest) -> str:
    """The reason why a check measures nothing; empty where it measures."""
    return contest.unseen if isinstance(contest, MeasuresUnseen) else ""
