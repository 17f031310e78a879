"""Many episodes at once, with back-pressure: as many under way as wanted, results as they end.

    async for played in play_all(workshop, tasks, player, at_once=64):
        print(played.task, played.outcome)

Covered: tasks may come from a generator, which is read as episodes end; a task whose grades cannot
be believed here is not played, and its outcome is unscored with the reason; a player that raises
ends its own episode with the error, told apart from a loss; nothing is judged twice.
Not covered: which actions to take (`players`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Protocol

from unhack.core.errors import TaskError, UsageError
from unhack.core.verdict import Verdict, unscored_verdict
from unhack.environments.actions import Action
from unhack.environments.environment import EpisodeTask, RepositoryWorkshop
from unhack.environments.episode import Episode, Turn
from unhack.environments.task import PlayableTask


class EpisodePlayer(Protocol):
    """Chooses actions. One player plays many episodes at once: what it remembers of one stands in
    the episode's turns.

    Example:

        class Submitter:
            async def act(self, episode):
                return ("submit", {})
    """

    async def act(self, episode: Episode) -> Action | tuple[str, object]:
        """The next action of an episode that has not ended."""
        ...


@dataclass(frozen=True, slots=True)
class FinishedEpisode:
    """An episode that has ended.

    Example:

        async for played in play_all(workshop, tasks, player):
            print(played.task.id, played.reward, len(played.turns))
    """

    index: int
    """Its place in the order of tasks."""
    task: PlayableTask
    turns: tuple[Turn, ...]
    outcome: Verdict | None
    """None where the player raised before the end."""
    error: str = ""
    """The error that the player raised."""
    unpaid: str = ""
    """Why progress paid no steps, where it has a weight."""

    @property
    def reward(self) -> float:
        """The sum of its rewards."""
        return sum(turn.result.reward for turn in self.turns)

    @property
    def solved(self) -> bool:
        """True when every hidden test passed."""
        return self.outcome is not None and self.outcome.passed


async def play(episode: Episode, player: EpisodePlayer, *, index: int = 0) -> FinishedEpisode:
    """Play one episode to its end. A player's error ends it; the machinery's is raised."""
    error = ""
    while not episode.ended:
        try:
            action = await player.act(episode)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
            break
        await episode.step(action)
    outcome = episode.turns[-1].result.outcome if episode.turns else None
    unpaid = episode.parts.unpaid
    return FinishedEpisode(index, episode.task, tuple(episode.turns), outcome, error, unpaid)


async def play_all(
    workshop: RepositoryWorkshop,
    tasks: Iterable[EpisodeTask],
    player: EpisodePlayer,
    *,
    at_once: int = 64,
) -> AsyncIterator[FinishedEpisode]:
    """Play an episode of each task, at most `at_once` at a time; each as it ends.

    Raises UsageError for less than one at a time.
    """
    if at_once < 1:
        raise UsageError("at least one episode must be played at a time")
    waiting = enumerate(tasks)
    under_way: set[asyncio.Task[FinishedEpisode]] = set()

    async def checked(index: int, task: EpisodeTask) -> FinishedEpisode:
        try:
            reason = await workshop.check(task)
        except TaskError as error:  # its image is not built
            reason = str(error)
        if reason:
            return FinishedEpisode(index, task, (), unscored_verdict(reason))
        return await play(workshop.begin(task), player, index=index)

    def begin() -> bool:
        for index, task in waiting:
            one = checked(index, task)
            under_way.add(asyncio.ensure_future(one))
            return True
        return False

    try:
        while len(under_way) < at_once and begin():
            pass
        while under_way:
            done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                under_way.discard(one)
                begin()
                yield one.result()
    finally:
        for one in under_way:
            one.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
