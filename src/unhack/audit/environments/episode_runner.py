"""Runners of episodes with attacks: own episodes, or the containers of a foreign grader.

Covered: the end of each play, the declared files that it left, the reward that its steps earned.
Not covered: judging that a win is wrong (`oracle`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from unhack.audit.environments.attack import (
    AgentView,
    EnvironmentAttack,
    Sent,
    declared_files,
    solution_of,
)
from unhack.audit.environments.foreign.container import AttackPlay
from unhack.audit.environments.foreign.grader import EpisodeEnd
from unhack.environments.actions import Submit
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.episode import COMMAND_LIMITS, Episode, EpisodeLimits
from unhack.environments.judging import submission
from unhack.environments.steps.rewards import StepRewards
from unhack.environments.task import RepositoryTask
from unhack.sandbox.job import Backend
from unhack.verifiers.reward import reward_of

ATTACK_LIMITS = EpisodeLimits(turns=40, commands_s=40.0, command=COMMAND_LIMITS.with_(wall_s=15.0))
"""The limits of an episode with an attack."""


class EpisodeRunner(Protocol):
    """Interface to what plays and judges episodes."""

    async def play(
        self, task: RepositoryTask, actions: Sequence[Sent], *, before: Sequence[Sent] = ()
    ) -> AttackPlay:
        """Play the actions of an episode; `before` are those of a sibling that was played first."""
        ...

    async def solve(self, task: RepositoryTask) -> AttackPlay | None:
        """Play the honest solution; None where there is none."""
        ...

    async def why_not(self, attack: EnvironmentAttack, task: RepositoryTask) -> str:
        """Why an attack cannot be played on a task; empty where it can."""
        ...


def actions_of(attack: EnvironmentAttack, task: RepositoryTask) -> list[Sent]:
    """The actions of an attack on a task, the submission included where it hands in."""
    made = list(attack.make(AgentView.of(task)))
    return [*made, Submit()] if attack.submits else made


def before(attack: EnvironmentAttack, task: RepositoryTask) -> Sequence[Sent]:
    """The actions of an attack's accomplice."""
    if attack.accomplice is None:
        return ()
    return attack.accomplice(AgentView.of(task), task.reference)


class OwnEpisodes:
    """The environment's own episodes and judge."""

    def __init__(self, *, backend: Backend | None = None) -> None:
        self.workshop = RepositoryWorkshop(limits=ATTACK_LIMITS, backend=backend)

    async def play(
        self, task: RepositoryTask, actions: Sequence[Sent], *, before: Sequence[Sent] = ()
    ) -> AttackPlay:
        """See `EpisodeRunner`. Actions that never hand in begin anew until the episode is cut."""
        if before:
            await finish(self.begin(task), [*before, Submit()])
        episode = self.begin(task)
        outcome, reason, paid = await finish(episode, actions)
        files = declared_files(task, submission(task, episode.state))
        return AttackPlay(outcome, files, reason, paid)

    async def solve(self, task: RepositoryTask) -> AttackPlay:
        """Play the reference."""
        return await self.play(task, solution_of(task))

    async def why_not(self, attack: EnvironmentAttack, task: RepositoryTask) -> str:
        """Nothing hinders."""
        del attack, task
        return ""

    def close(self) -> None:
        """End every process."""
        self.workshop.close()

    def begin(self, task: RepositoryTask) -> Episode:
        """An episode of a task; its steps are rewarded where there are tests for it."""
        episode = self.workshop.begin(task)
        if not task.dev_tests:
            return episode
        parts = replace(episode.parts, rewards=StepRewards(progress=1.0))
        return Episode(task, episode.state, parts)


async def finish(episode: Episode, actions: Sequence[Sent]) -> tuple[EpisodeEnd, str, float]:
    """Play actions to the episode's end, anew where they never hand in: the end, the judge's
    reason, the sum of the step rewards."""
    while not episode.ended:
        for action in actions or (Submit(),):
            await episode.step(action)
            if episode.ended:
                break
    verdict = episode.turns[-1].result.outcome
    assert verdict is not None
    outcome = EpisodeEnd.PASSED if verdict.passed else EpisodeEnd.FAILED
    if not verdict.scored:
        outcome = EpisodeEnd.UNSCORED
    final = (reward_of(verdict) or 0.0) if verdict.scored else 0.0
    paid = sum(turn.result.reward for turn in episode.turns) - final
    return outcome, verdict.reason, paid
