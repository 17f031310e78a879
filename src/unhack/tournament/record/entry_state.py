"""The steps of one agent in one round, and the order in which they may follow each other."""

from __future__ import annotations

from enum import StrEnum

from unhack.core.errors import UnhackError


class EntryState(StrEnum):
    """The steps that have been done. Each is stored before the next begins."""

    PLANNED = "planned"
    """Terms, seeds and limits are fixed."""
    RUNNING = "running"
    """The agent was started; ended or not, its cost counts."""
    FROZEN = "frozen"
    """The files that it declared are stored by content; nothing that it does matters any more."""
    JUDGED = "judged"
    """Scanned and measured."""
    AUDITED = "audited"
    """Measured on fresh data; the flags are final."""
    COMMITTED = "committed"
    """It counts."""


ORDER: tuple[EntryState, ...] = tuple(EntryState)


class StateError(UnhackError):
    """A step was to be stored out of order: the run folder and the program disagree."""


def check_step(before: EntryState | None, after: EntryState) -> None:
    """Raises StateError unless `after` may follow `before`.

    Only the next state may, or RUNNING again: an interrupted attempt is repeated.
    """
    if before is None:
        allowed: tuple[EntryState, ...] = (EntryState.PLANNED,)
    elif before is EntryState.RUNNING:
        allowed = (EntryState.RUNNING, EntryState.FROZEN)
    else:
        allowed = ORDER[ORDER.index(before) + 1 :][:1]
    if after not in allowed:
        raise StateError(f"{after} cannot follow {before or 'nothing'}")
