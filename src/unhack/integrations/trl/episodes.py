"""Episodes of several turns for TRL: environments for its trainer, and its rollouts' columns.

    trainer = GRPOTrainer(
        model, train_dataset=rows, args=config,
        environment_factory=environment_factory(TextWorld(world, starts, ...)),
    )

`environment_factory` gives a class as TRL asks for: `reset` begins the task that the row's column
`task` names and returns its text, the public method `act` is the tool, `get_reward` is the outcome
plus the process rewards. `rollout_columns` turns played episodes into what a `rollout_func`
returns, tool output masked by `env_mask`.

Covered: TRL 1.16's shapes; tool output never enters the loss; an episode that the trainer ends is
judged as its files stand; an unscored one has no reward, which TRL leaves out.
Not covered: advantages per turn, which TRL has no word for: it sees an episode's sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from unhack.core.errors import UnknownNameError
from unhack.core.shaping import check_weight, shaped
from unhack.training.episodes.episode import PlayedEpisode
from unhack.training.episodes.sequences import join_whole
from unhack.training.worlds.turns import State, TurnWorld


@dataclass(frozen=True, slots=True)
class TextWorld(Generic[State]):
    """A world of turns with its start states, read and written as text.

    Example:

        text_world = TextWorld(
            world, starts={"count": Counting(0)}, encode=tokenizer.encode,
            decode=tokenizer.decode, judge_left=lambda state: 0.0,
        )
        trainer = GRPOTrainer(model, environment_factory=environment_factory(text_world))
    """

    world: TurnWorld[State]
    starts: Mapping[str, State]
    """Task -> the state in which it begins."""
    encode: Callable[[str], Sequence[int]]
    decode: Callable[[Sequence[int]], str]
    judge_left: Callable[[State], float | None]
    """The outcome of a state that the trainer leaves before its end."""


def environment_factory(text: TextWorld[State], *, process: float = 0.0) -> type[Any]:
    """The class of an environment, for `GRPOTrainer(environment_factory=...)`.

    `process`: weight of shaped step rewards beside the outcome; as potentials are paid back at
    every end, they shift an episode's sum by a constant of its start. Raises UsageError for a
    weight that is negative or not finite.
    """
    check_weight(process, "process rewards")
    world = text.world

    class TurnEnvironment:
        """One rollout's environment, used again after `reset`."""

        def reset(self, **row: Any) -> str:
            """Begin the task of a row. Raises UnknownNameError."""
            name = str(row.get("task"))
            if name not in text.starts:
                raise UnknownNameError("task", name, valid=tuple(text.starts))
            self._state: Any = text.starts[name]
            self._outcome: float | None = None
            self._ended = False
            self._potentials = world.potentials([self._state])
            return text.decode(world.prompt(self._state))

        def act(self, action: str) -> str:
            """Carry out one action in the workspace and tell what it shows.

            Args:
                action: The action, as the task's text describes it.

            Returns:
                What the workspace shows after it.
            """
            if self._ended:
                return "The episode has ended."
            [found] = world.act([self._state], [text.encode(action)])
            self._state, self._ended, self._outcome = found.state, found.ended, found.outcome
            self._potentials.append(found.potential)
            return (
                "The episode has ended." if found.ended else text.decode(world.prompt(found.state))
            )

        def get_reward(self) -> float | None:
            """Outcome and process rewards; None where the judge could not score."""
            outcome = self._outcome if self._ended else text.judge_left(self._state)
            if outcome is None:
                return None
            # A policy that never acted leaves the state in which it began.
            potentials = [*self._potentials, *self._potentials][: max(2, len(self._potentials))]
            return outcome + process * sum(shaped(potentials))

    return TurnEnvironment


def rollout_columns(episodes: Sequence[PlayedEpisode]) -> dict[str, list[Any]]:
    """The answer of a `rollout_func`: `prompt_ids`, `completion_ids`, `logprobs`, `env_mask` (1 at
    what the policy wrote), and the columns `outcome` and `process` for reward functions.

    Raises UsageError for an episode whose prompts were rendered anew.
    """
    joined = [join_whole(one) for one in episodes]
    return {
        "prompt_ids": [list(one.prompt) for one in joined],
        "completion_ids": [list(one.completion) for one in joined],
        "logprobs": [list(one.logprobs) for one in joined],
        "env_mask": [[int(mark) for mark in one.written] for one in joined],
        "outcome": [one.outcome for one in episodes],
        "process": [sum(one.process) for one in episodes],
    }
