"""Play episodes: all states of a moment are read by the policy together, then act together.

Covered: token ids and log-probabilities as they were sampled, cuts judged like ends, potentials of
every state for the law that makes process rewards. Not covered: asynchronous environments; these
are played by their own loop and exported (`unhack.integrations`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from torch import Generator, Tensor

from unhack.core.shaping import newly_passing, shaped
from unhack.training.episodes.episode import PlayedEpisode, PlayedTurn
from unhack.training.objectives.plain import numbers
from unhack.training.policy.policy import ModelPolicy
from unhack.training.worlds.turns import State, TurnResult, TurnWorld

Law = Callable[[Sequence[float]], list[float]]
"""Process rewards [T] from the potentials [T + 1] of an episode."""
LAWS: dict[str, Law] = {
    "none": lambda potentials: [0.0] * (len(potentials) - 1),
    "shaped": shaped,
    "newly_passing": newly_passing,
}
"""`shaped` keeps the best policy; `newly_passing` is naive and can be pumped."""


@dataclass(slots=True)
class _Running(Generic[State]):
    """An episode under way."""

    task: str
    state: State
    potentials: list[float]
    turns: list[PlayedTurn] = field(default_factory=list[PlayedTurn])
    last: TurnResult[State] | None = None

    def take(self, turn: PlayedTurn, result: TurnResult[State]) -> None:
        """Note a turn and what came of it."""
        self.turns.append(turn)
        self.state, self.last = result.state, result
        self.potentials.append(result.potential)

    def played(self, law: Law) -> PlayedEpisode:
        """The record."""
        assert self.last is not None
        return PlayedEpisode(
            task=self.task,
            turns=tuple(self.turns),
            outcome=self.last.outcome,
            cut=self.last.cut,
            process=tuple(law(self.potentials)),
            potentials=tuple(self.potentials),
        )


def play(
    world: TurnWorld[State],
    policy: ModelPolicy,
    states: Sequence[State],
    *,
    generator: Generator,
    law: Law = LAWS["none"],
    temperature: float = 1.0,
) -> list[PlayedEpisode]:
    """One episode from each state, in order; a state that stands there G times is played G times.

    Raises BatchUnscoredError where the judge broke.
    """
    begun = world.potentials(states)
    episodes = [
        _Running(world.task_id(state), state, [potential])
        for state, potential in zip(states, begun, strict=True)
    ]
    running = episodes
    while running:
        before = [one.state for one in running]
        prompts = [world.prompt(state) for state in before]
        drawn = policy.sample(
            prompts,
            group=1,
            max_new=world.max_new,
            temperature=temperature,
            generators={False: generator},
        )
        actions = _rows(drawn.tokens_B_T, drawn.mask_B_T)
        logs = _rows(drawn.logprobs_B_T, drawn.mask_B_T)
        results = world.act(before, actions)
        for one, prompt, action, log, result in zip(
            running, prompts, actions, logs, results, strict=True
        ):
            written = (True,) * len(action)
            state = world.state_id(one.state)
            turn = PlayedTurn(prompt, action, written, log, state)
            one.take(turn, result)
        running = [one for one in running if one.last is not None and not one.last.ended]
    return [one.played(law) for one in episodes]


def _rows(values_B_T: Tensor, mask_B_T: Tensor) -> list[tuple[Any, ...]]:
    """Plain numbers of each row up to its end."""
    values: Any = values_B_T
    lengths = mask_B_T.sum(1)
    return [
        tuple(row[: int(length)])
        for row, length in zip(values.tolist(), numbers(lengths), strict=True)
    ]
