"""The environment's face: reset and step as Gymnasium has them, many episodes at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from tests.unit.environments.rectangles import rectangles

from unhack.core.errors import UsageError
from unhack.environments.actions import Action, ReadFile, Submit
from unhack.environments.environment import RepositoryEnvironment, RepositoryWorkshop
from unhack.environments.episode import Episode, EpisodeLimits
from unhack.environments.episode_pool import play_all
from unhack.environments.players.scripted import IdlePlayer, RandomPlayer, ReferencePlayer
from unhack.environments.task import RepositoryTask

TASKS = [rectangles(id=f"shapes/{number}") for number in range(4)]


def test_a_seed_names_a_task_and_an_option_too() -> None:
    async def main() -> None:
        async with RepositoryEnvironment(TASKS) as env:
            drawn = [(await env.reset(seed=7))[1]["task"] for _ in range(3)]
            assert len(set(drawn)) == 1
            more = {(await env.reset())[1]["task"] for _ in range(30)}
            assert len(more) == len(TASKS)
            observation, info = await env.reset(options={"task": "shapes/2"})
            assert (info["task"], info["turn"]) == ("shapes/2", 0)
            assert observation.text == TASKS[2].statement
            with pytest.raises(UsageError, match="no task"):
                await env.reset(options={"task": "absent"})

    asyncio.run(main())


@pytest.mark.slow
def test_a_step_returns_five_values_and_the_end_its_verdict() -> None:
    async def main() -> None:
        async with RepositoryEnvironment(TASKS) as env:
            with pytest.raises(UsageError, match="reset"):
                await env.step(("list", {}))
            await env.reset(seed=0)
            observation, reward, terminated, truncated, info = await env.step(("list", {}))
            assert "shapes/core.py" in observation.text
            assert (reward, terminated, truncated, info["turn"]) == (0.0, False, False, 1)
            assert "outcome" not in info
            fork, _ = env.fork(2)
            *_, info = await fork.step(("submit", {}))
            assert (info["outcome"], info["scored"], info["verdict"]["seal"]) == (0, True, "sealed")
            *_, info = await env.step(("list", {}))
            assert info["turn"] == 2

    asyncio.run(main())


@pytest.mark.slow
def test_many_episodes_are_played_at_once_and_no_more_than_wanted() -> None:
    begun: list[int] = []
    most = 0

    class Counting:
        """Reads for a while, then submits."""

        def __init__(self) -> None:
            self.under_way: set[int] = set()

        async def act(self, episode: Episode) -> Action:
            nonlocal most
            self.under_way.add(id(episode))
            most = max(most, len(self.under_way))
            await asyncio.sleep(0.001)
            if len(episode.turns) < 3:
                return ReadFile("shapes/core.py")
            self.under_way.discard(id(episode))
            return Submit()

    def tasks() -> Iterator[RepositoryTask]:
        for number in range(40):
            begun.append(number)
            yield TASKS[number % len(TASKS)]

    async def main() -> None:
        async with RepositoryWorkshop(slots=1) as workshop:
            found: list[int] = []
            async for one in play_all(workshop, tasks(), Counting(), at_once=8):
                found.append(one.index)
                assert len(begun) <= len(found) + 8
            assert sorted(found) == list(range(40))

    asyncio.run(main())
    assert most <= 8


@pytest.mark.slow
def test_the_scripted_players_are_the_controls() -> None:
    async def main() -> None:
        limits = EpisodeLimits(turns=12)
        async with RepositoryWorkshop(limits=limits) as workshop:
            for player, solves in (
                (ReferencePlayer(), True), (IdlePlayer(), False), (RandomPlayer(3), False)
            ):  # fmt: skip
                played = [one async for one in play_all(workshop, TASKS[:2], player)]
                assert [one.solved for one in played] == [solves] * 2
                assert all(one.outcome is not None and one.outcome.scored for one in played)

    asyncio.run(main())


def test_a_player_that_raises_ends_its_own_episode_alone() -> None:
    class Broken(IdlePlayer):
        """Fails on one task."""

        async def act(self, episode: Episode) -> Action:
            if episode.task.id == "shapes/1":
                raise RuntimeError("no more ideas")
            return await super().act(episode)

    async def main() -> None:
        async with RepositoryWorkshop(slots=1) as workshop:
            found = {one.task.id: one async for one in play_all(workshop, TASKS, Broken())}
            assert found["shapes/1"].error == "RuntimeError: no more ideas"
            assert found["shapes/1"].outcome is None
            assert all(found[task.id].outcome for task in TASKS if task.id != "shapes/1")

    asyncio.run(main())


def test_an_environment_without_tasks_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one task"):
        RepositoryEnvironment([])
