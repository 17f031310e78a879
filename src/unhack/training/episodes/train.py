"""The loop over batches of episodes: play, credit, loss, backward, step.

Covered: any credit, process rewards by a law of potentials, the objectives' policy terms with the
constant divisor episodes x tokens, one update a batch. Not covered: routing, KL to the base, run
folders; a caller keeps what it wants of the yielded steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import torch

from unhack.core.errors import UnknownNameError
from unhack.core.shaping import check_weight
from unhack.training import objectives
from unhack.training.config.settings import ObjectiveSettings, OptimiserSettings
from unhack.training.episodes.batch import TurnBatch, credited, turn_batch
from unhack.training.episodes.credit import CreditSettings
from unhack.training.episodes.episode import PlayedEpisode
from unhack.training.episodes.play import LAWS, play
from unhack.training.loop.optimiser import Optimiser
from unhack.training.policy.policy import ModelPolicy
from unhack.training.worlds.turns import State, TurnWorld


@dataclass(frozen=True, slots=True)
class EpisodeSettings:
    """Settings of training over episodes. Raises UnknownNameError for an unknown law,
    UsageError for a weight that is none.

    Example:

        settings = EpisodeSettings(law="shaped", process=0.5, group=16, steps=100)
        for step in train_episodes(world, policy, draw, settings=settings):
            print(step.solved)
    """

    credit: CreditSettings = field(default_factory=CreditSettings)
    law: str = "none"
    """Makes process rewards of potentials: `none`, `shaped`, `newly_passing`."""
    process: float = 1.0
    """Weight of process rewards beside the outcome."""
    group: int = 8
    """Episodes of a start state."""
    steps: int = 40
    temperature: float = 1.0
    seed: int = 0
    objective: ObjectiveSettings = field(default_factory=ObjectiveSettings)
    optimiser: OptimiserSettings = field(default_factory=OptimiserSettings)

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise UnknownNameError("law of process rewards", self.law, valid=LAWS)
        check_weight(self.process, "process rewards")


@dataclass(frozen=True, slots=True)
class EpisodeStep:
    """Means over the episodes of one batch."""

    step: int
    episodes: int
    """Played so far, this batch included."""
    solved: float
    """Mean outcome of the scored ones."""
    process: float
    """Sum of process rewards of an episode."""
    turns: float
    falls: float
    """Sum of what the potential lost in an episode's turns before its end: what a law that rewards
    rises alone has given beyond the net rise."""
    cut: float
    """Share that a limit ended."""
    unscored: int
    norm: float
    """Of the gradient before clipping; 0 where nothing had a signal."""


def train_episodes(
    world: TurnWorld[State],
    policy: ModelPolicy,
    draw: Callable[[int], Sequence[State]],
    *,
    settings: EpisodeSettings,
) -> Iterator[EpisodeStep]:
    """Train in place; one record for each batch, after its update.

    `draw(step)` gives the start states of a batch. Raises BatchUnscoredError where the judge broke.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    optimiser = Optimiser(settings.optimiser, policy.adapters)
    played = 0
    for step in range(settings.steps):
        states = [state for state in draw(step) for _ in range(settings.group)]
        episodes = play(
            world,
            policy,
            states,
            generator=generator,
            law=LAWS[settings.law],
            temperature=settings.temperature,
        )
        advantages = credited(episodes, settings.credit, process=settings.process)
        tokens = world.max_turns * world.max_new
        batch = turn_batch(episodes, advantages, pad=world.pad, tokens=tokens)
        norm = 0.0
        if batch is not None:
            episode_loss(policy, batch, settings.objective).backward()  # pyright: ignore[reportUnknownMemberType]
            norm = optimiser.step().norm_deployed
        played += len(episodes)
        yield summarise(episodes, step=step, played=played, norm=norm)


def episode_loss(
    policy: ModelPolicy, batch: TurnBatch, settings: ObjectiveSettings
) -> torch.Tensor:
    """The loss of a batch, divided by episodes x tokens whatever `aggregation` says."""
    rollouts = batch.rollouts
    logprobs_B_T = policy.score(rollouts)
    losses_B, _ = objectives.policy_loss(
        logprobs_B_T,
        rollouts.logprobs_B_T,
        batch.advantages_B.unsqueeze(1).expand_as(logprobs_B_T),
        rollouts.mask_B_T,
        settings=settings.model_copy(update={"aggregation": "constant"}),
        group=1,
        max_new=batch.tokens,
        whole=batch.whole,
    )
    return losses_B.sum()


def summarise(
    episodes: Sequence[PlayedEpisode], *, step: int, played: int, norm: float = 0.0
) -> EpisodeStep:
    """The means of a batch."""
    outcomes = [one.outcome for one in episodes if one.outcome is not None]
    count = len(episodes)
    return EpisodeStep(
        step=step,
        episodes=played,
        solved=sum(outcomes) / max(1, len(outcomes)),
        process=sum(sum(one.process) for one in episodes) / count,
        turns=sum(len(one.turns) for one in episodes) / count,
        falls=sum(falls(one.potentials) for one in episodes) / count,
        cut=sum(one.cut for one in episodes) / count,
        unscored=count - len(outcomes),
        norm=norm,
    )


def falls(potentials: Sequence[float]) -> float:
    """The sum of what the potential lost from state to state; 0 without potentials."""
    return sum(max(0.0, before - after) for before, after in pairwise(potentials))
