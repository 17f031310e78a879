"""Places where attacks are played: own episodes, or the containers of a foreign grader.

Covered: the end of each play, the declared files that it left, what its steps were paid.
Not covered: judging that a win is wrong (`oracle`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from unhack.audit.environments.attack import AgentView, EnvironmentAttack, Sent
from unhack.audit.environments.foreign.container import Containers
from unhack.audit.environments.foreign.grader import EpisodeEnd, ForeignGrader
from unhack.environments.actions import Submit
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.episode import Episode, EpisodeLimits, StepRewards
from unhack.environments.judging import submission
from unhack.environments.task import RepositoryTask
from unhack.sandbox.job import Backend
from unhack.verifiers.reward import reward_of

_TURNS = 40
_COMMAND_S, _COMMANDS_S = 15.0, 40.0


@dataclass(frozen=True, slots=True)
class AttackPlay:
    """An episode with an attack in it."""

    outcome: EpisodeEnd
    files: Mapping[str, bytes]
    """All declared files as they were handed in; empty where the container was lost."""
    said: str
    """The judge's reason, or the end of the grader's output."""
    paid: float = 0.0
    """The sum of the step rewards, the outcome left out; 0 where none are given."""


class EpisodeRunner(Protocol):
    """A place where episodes are played and judged."""

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


class OwnEpisodeRunner:
    """The environment's own episodes and judge."""

    def __init__(self, *, backend: Backend | None = None) -> None:
        limits = EpisodeLimits(turns=_TURNS, commands_s=_COMMANDS_S)
        limits = replace(limits, command=limits.command.with_(wall_s=_COMMAND_S))
        self.workshop = RepositoryWorkshop(limits=limits, backend=backend)

    async def play(
        self, task: RepositoryTask, actions: Sequence[Sent], *, before: Sequence[Sent] = ()
    ) -> AttackPlay:
        """See `EpisodeRunner`. Actions that never hand in are begun anew until it is cut."""
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
        paid = sum(turn.result.reward for turn in episode.turns) - final
        return AttackPlay(outcome, _handed_in(task, episode), verdict.reason, paid)

    def close(self) -> None:
        """End the supervisors."""
        self.workshop.close()

    def begin(self, task: RepositoryTask) -> Episode:
        """An episode of a task; its steps are paid where there are tests for it."""
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


def _handed_in(task: RepositoryTask, episode: Episode) -> dict[str, bytes]:
    """All declared files of the last state."""
    found = {path: data for path, data in task.files.items() if task.may_change(path)}
    for path, text in (submission(task, episode.state) or {}).items():
        if text is None:
            found.pop(path, None)
        else:
            found[path] = text.encode(errors="surrogateescape")
    return found


class ForeignEpisodeRunner:
    """The containers of a foreign grader."""

    def __init__(self, grader: ForeignGrader) -> None:
        self._containers = Containers(grader)

    async def play(
        self, task: RepositoryTask, actions: Sequence[Sent], *, before: Sequence[Sent] = ()
    ) -> AttackPlay:
        """See `EpisodeRunner`."""
        play = await self._containers.play(task, actions, before=before)
        return AttackPlay(play.outcome, play.files, play.log[-400:])

    def close(self) -> None:
        """End every process."""
        self._containers.close()
