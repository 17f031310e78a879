"""The venue: where the turns of agents are played, on this machine or on those of a cluster.

    with venue.spot(player, machine) as spot:      # waits until there is room
        play = spot.play(attempt)

Covered: an agent's own failure ends its turn, and nobody else's.
Not covered: where its submission is judged; the bench says that.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from unhack.agents.play import AttemptClock, Play, PlayEnding
from unhack.core.errors import SandboxError, SandboxUnavailableError, UsageError
from unhack.store.errors import StoreError, check_room
from unhack.tournament.judging.machine_lock import Clock, Machine
from unhack.tournament.players.player import Player, Seat
from unhack.tournament.round.attempt import SeatedAttempt

_STOP = (UsageError, StoreError, SandboxError, SandboxUnavailableError)
"""No agent is to blame for these."""


class TurnSpot(Protocol):
    """Room for one turn of one agent."""

    @property
    def node(self) -> str:
        """The node of a cluster; empty for this machine."""
        ...

    def start_clock(self, machine: Machine) -> AttemptClock:
        """A clock of the agent's time there; it stands still while `machine`, or the node, has to
        be quiet."""
        ...

    def play(self, attempt: SeatedAttempt) -> Play:
        """The agent's play; its own failure ends it, nobody else.

        What it leaves is in the attempt's workspace, transcript and memory. Raises NodeLostError
        where the node is lost; then nothing of it counts but its cost.
        """
        ...


class Venue(Protocol):
    """The place where turns are played; several threads may ask at once."""

    def check(self, players: Sequence[Player]) -> None:
        """Raise UsageError, SandboxUnavailableError, SandboxError where one of them cannot be
        seated anywhere."""
        ...

    def spot(
        self, player: Player, machine: Machine, *, lost_on: Sequence[str] = ()
    ) -> AbstractContextManager[TurnSpot]:
        """Room for a turn, once there is some; on nodes that it was lost on (names) where there is
        no other. Raises Interrupted when `machine` is, SandboxError where no room is left."""
        ...


@dataclass(frozen=True, slots=True)
class SpotHere:
    """Room in this process."""

    player: Player
    node: str = ""

    def start_clock(self, machine: Machine) -> AttemptClock:
        """See `TurnSpot`."""
        return Clock(machine)

    def play(self, attempt: SeatedAttempt) -> Play:
        """See `TurnSpot`."""
        return play_guarded(self.player, attempt.seat)


class VenueHere:
    """All turns in this process."""

    def check(self, players: Sequence[Player]) -> None:
        """See `Venue`: each looked for what it needs when it was made."""
        del players

    @contextlib.contextmanager
    def spot(
        self, player: Player, machine: Machine, *, lost_on: Sequence[str] = ()
    ) -> Generator[TurnSpot]:
        """See `Venue`."""
        del machine, lost_on
        yield SpotHere(player)


PLAYED_HERE = VenueHere()


def play_guarded(player: Player, seat: Seat) -> Play:
    """The agent's play; its own failure ends it, nobody else. Raises what is none of its own."""
    try:
        return player.play(seat)
    except _STOP:
        raise
    except Exception as error:
        check_room(seat.workspace)
        return Play(PlayEnding.FAILED, note=f"{type(error).__name__}: {error}"[:400])
