"""The record of an episode for training: turns of tokens, rewards, states, outcome.

Token ids are kept turn by turn as they were sampled: a rendered conversation that is tokenised
again gives other ids.

Covered: the policy's tokens apart from tool output, outcome and process rewards apart to the end,
cut episodes (an outcome like any other), unscored ones. Not covered: how states are made and judged
(`environments`).
"""

from __future__ import annotations

from dataclasses import dataclass

from unhack.core.errors import UsageError
from unhack.core.shaping import check_weight


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """One action and what the policy read before it."""

    prompt: tuple[int, ...]
    """Ids of everything that the policy read before it wrote."""
    completion: tuple[int, ...]
    """Ids that follow; tool output inside them is marked by `written`."""
    written: tuple[bool, ...]
    """True for each id of the completion that the policy wrote: only these enter a loss."""
    logprobs: tuple[float, ...]
    """Log-probability of each id under the policy that sampled; 0 where it did not write."""
    state: str
    """Id of the state before the action: the content hash of its files."""

    def __post_init__(self) -> None:
        if not len(self.completion) == len(self.written) == len(self.logprobs):
            raise UsageError(
                f"a turn has {len(self.completion)} ids, {len(self.written)} marks and "
                f"{len(self.logprobs)} log-probabilities: one of each for every id"
            )
        if not self.prompt:
            raise UsageError("a turn needs at least one id to read")


@dataclass(frozen=True, slots=True)
class PlayedEpisode:
    """A whole play of one task."""

    task: str
    """Id of the task and its start: episodes with the same one form a group."""
    turns: tuple[PlayedTurn, ...]
    outcome: float | None
    """Reward of the final judgement, of a cut episode too; None where it could not be judged."""
    cut: bool = False
    """True where a limit ended it. Its outcome counts all the same: else being cut would
    be rewarded."""
    process: tuple[float, ...] = ()
    """Reward of the step verifiers for each turn, [T], apart from the outcome; empty without."""
    potentials: tuple[float, ...] = ()
    """Potentials of the judged states, [T + 1], where there are any."""

    def __post_init__(self) -> None:
        turns = len(self.turns)
        if not turns:
            raise UsageError(f"{self.task}: an episode has at least one turn")
        if self.process and len(self.process) != turns:
            raise UsageError(f"{self.task}: {len(self.process)} process rewards, {turns} turns")

    def rewards(self, *, process: float = 1.0) -> list[float]:
        """Reward of each turn, [T]: `process` times the process reward, and the outcome at the
        last. Raises UsageError for an unscored episode, or a weight that is none."""
        check_weight(process, "process rewards")
        if self.outcome is None:
            raise UsageError(f"{self.task}: an unscored episode has no rewards; leave it out")
        found = [process * reward for reward in self.process or (0.0,) * len(self.turns)]
        found[-1] += self.outcome
        return found
