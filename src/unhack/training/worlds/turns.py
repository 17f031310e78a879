"""Worlds of several turns: a start state, actions as tokens, potentials of judged states.

Covered: the interface that `unhack.training.episodes` plays. States are immutable, so one may be
kept, forked and gone on from any number of times. Not covered: process rewards, which are made of
the potentials by a law (`unhack.core.shaping`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class TurnResult(Generic[State]):
    """The state that an action led to, and how it is judged."""

    state: State
    potential: float
    """How far the state has come, in [0, 1], by the judge of steps."""
    ended: bool
    cut: bool = False
    """True where a limit ended the episode."""
    outcome: float | None = None
    """At the end, a cut included: the reward of the final judgement; None where unscored."""


class TurnWorld(Protocol[State]):
    """Tasks that are played over several turns.

    Example:

        class Counting:
            pad, stop, max_new, max_turns = 0, 1, 4, 8

            def act(self, states, actions):
                return [TurnResult(s + len(a), 0.0, False) for s, a in zip(states, actions)]
    """

    @property
    def pad(self) -> int: ...

    @property
    def stop(self) -> int:
        """The token that ends an action."""
        ...

    @property
    def max_new(self) -> int:
        """Longest action in tokens, the stop token included."""
        ...

    @property
    def max_turns(self) -> int:
        """Turns after which an episode is cut."""
        ...

    def task_id(self, state: State) -> str:
        """Id of the task and its start."""
        ...

    def state_id(self, state: State) -> str:
        """Content hash of the state's files."""
        ...

    def prompt(self, state: State) -> tuple[int, ...]:
        """Everything that the policy reads in this state."""
        ...

    def potentials(self, states: Sequence[State]) -> list[float]:
        """Potentials of states. Raises BatchUnscoredError where the machinery broke."""
        ...

    def act(
        self, states: Sequence[State], actions: Sequence[Sequence[int]]
    ) -> list[TurnResult[State]]:
        """One action in each state, which runs; what it means is the world's business.

        Raises BatchUnscoredError where the machinery broke.
        """
        ...
