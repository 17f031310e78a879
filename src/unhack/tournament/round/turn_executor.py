"""Executors of turns: agents play on this machine, or on those of a cluster.

    with turns.slot(player, machine) as slot:      # waits until there is room
        play = slot.play(attempt)

Covered: an agent's own failure ends its turn, and nobody else's.
Not covered: where its submission is judged; the `JudgeExecutor` says that.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from unhack.agents.play import AttemptClock, Play, PlayEnding
from unhack.core.errors import SandboxError, SandboxUnavailableError, UsageError
from unhack.store.errors import StoreError, check_room
from unhack.tournament.judging.machine_lock import Clock, Machine
from unhack.tournament.players.player import Player, TurnInputs
from unhack.tournament.round.attempt import PreparedAttempt

_STOP = (UsageError, StoreError, SandboxError, SandboxUnavailableError)
"""No agent is to blame for these."""


class TurnSlot(Protocol):
    """Room for one turn of one agent."""

    @property
    def node(self) -> str:
        """The node of a cluster; empty for this machine."""
        ...

    def start_clock(self, machine: Machine) -> AttemptClock:
        """A clock of the agent's time there; it stands still while `machine`, or the node, has to
        be quiet."""
        ...

    def play(self, attempt: PreparedAttempt) -> Play:
        """The agent's play; its own failure ends it, nobody else.

        What it leaves is in the attempt's workspace, transcript and memory. Raises NodeLostError
        where the node is lost; then nothing of it counts but its cost.
        """
        ...


class TurnExecutor(Protocol):
    """Plays turns somewhere; several threads may ask at once."""

    def check(self, players: Sequence[Player]) -> None:
        """Raise UsageError, SandboxUnavailableError, SandboxError where one of them cannot be
        run anywhere."""
        ...

    def slot(
        self, player: Player, machine: Machine, *, lost_on: Sequence[str] = ()
    ) -> AbstractContextManager[TurnSlot]:
        """Room for a turn, once there is some; on nodes that it was lost on (names) where there is
        no other. Raises Interrupted when `machine` is, SandboxError where no room is left."""
        ...


@dataclass(frozen=True, slots=True)
class LocalTurnSlot:
    """Room in this process."""

    player: Player
    node: str = ""

    def start_clock(self, machine: Machine) -> AttemptClock:
        """See `TurnSlot`."""
        return Clock(machine)

    def play(self, attempt: PreparedAttempt) -> Play:
        """See `TurnSlot`."""
        return play_guarded(self.player.play, attempt.inputs)


class LocalTurns:
    """All turns in this process."""

    def check(self, players: Sequence[Player]) -> None:
        """See `TurnExecutor`: each looked for what it needs when it was made."""
        del players

    @contextlib.contextmanager
    def slot(
        self, player: Player, machine: Machine, *, lost_on: Sequence[str] = ()
    ) -> Generator[TurnSlot]:
        """See `TurnExecutor`."""
        del machine, lost_on
        yield LocalTurnSlot(player)


LOCAL_TURNS = LocalTurns()


def play_guarded(play: Callable[[TurnInputs], Play], inputs: TurnInputs) -> Play:
    """The agent's play; its own failure ends it, nobody else. Raises what is none of its own."""
    try:
        return play(inputs)
    except _STOP:
        raise
    except Exception as error:
        check_room(inputs.workspace)
        return Play(PlayEnding.FAILED, note=f"{type(error).__name__}: {error}"[:400])
