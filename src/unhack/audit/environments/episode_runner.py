"""Runners of episodes with attacks: own episodes, or the containers of a foreign grader.

Covered: the end of each play, the declared files that it left, the reward that its steps earned.
Not covered: judging that a win is wrong (`oracle`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from unhack.audit.environments.attack import AgentView, EnvironmentAttack, Sent, declared_files
from unhack.audit.environments.foreign.container import AttackPlay
from unhack.audit.environments.foreign.grader import EpisodeEnd
from unhack.environments.actions import Submit
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.episode import Episode, EpisodeLimits
from unhack.environments.judging import submission
from unhack.environments.steps.rewards import StepRewards
from unhack.environments.task import RepositoryTask
from unhack.sandbox.job import Backend
from unhack.verifiers.reward import reward_of

_TURNS = 40
_COMMAND_S, _COMMANDS_S = 15.0, 40.0


class EpisodeRunner(Protocol):
    """Interface to what plays and judges episodes."""

    async def play(
        self, task: RepositoryTask, actions: Sequence[Sent], *, before: Sequence[Sent] = ()
    ) -> AttackPlay:
        """Play the actions of an episode; `before` are those of a sibling that was played first."""
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
        limits = EpisodeLimits(turns=_TURNS, commands_s=_COMMANDS_S)
        limits = replace(limits, command=limits.command.with_(wall_s=_COMMAND_S))
        self.workshop = RepositoryWorkshop(limits=limits, backend=backend)

    async def play(
        self, task: RepositoryTask, actions: Sequence[Sent], *, before: Sequence[Sent] = ()
    ) -> AttackPlay:
        """See `EpisodeRunner`. Actions that never hand in begin anew until the episode is cut."""
        if before:
            await _through(self.begin(task), [*before, Submit()])
        episode = self.begin(task)
        await _through(episode, actions)
        last = episode.turns[-1].result
        verdict = last.outcome
        assert verdict is not None
        outcome = EpisodeEnd.PASSED if verdict.passed else EpisodeEnd.FAILED
        if not verdict.scored:
            outcome = EpisodeEnd.UNSCORED
        final = (reward_of(verdict) or 0.0) if verdict.scored else 0.0
        step_reward = sum(turn.result.reward for turn in episode.turns) - final
        files = declared_files(task, submission(task, episode.state))
        return AttackPlay(outcome, files, verdict.reason, step_reward)

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


async def _through(episode: Episode, actions: Sequence[Sent]) -> None:
    while not episode.ended:
        for action in actions or (Submit(),):
            await episode.step(action)
            if episode.ended:
                return
