"""Agents that call tools, as players: their conversation is what the episode answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from tests.unit.environments.rectangles import RIGHT, rectangles

from unhack.agents.chat.messages import AgentTurn, ChatMessage, Speaker, ToolCall, ToolSpec
from unhack.agents.scripted import RandomAgent, ScriptedAgent
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.episode import EpisodeLimits
from unhack.environments.episode_pool import FinishedEpisode, play, play_all
from unhack.environments.observation import Refusal
from unhack.environments.players.acting import ActingPlayer


class Recording:
    """Passes on an agent's turns and keeps the conversations that it was given."""

    def __init__(self, *script: AgentTurn) -> None:
        self.name, self.script = "recording", script
        self.given: list[list[ChatMessage]] = []

    async def act(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> AgentTurn:
        assert [tool.name for tool in tools][-1] == "submit"
        self.given.append(list(messages))
        return self.script[len(self.given) - 1]


def played(agent: Recording | ScriptedAgent | RandomAgent, *, turns: int = 20) -> FinishedEpisode:
    async def main() -> FinishedEpisode:
        limits = EpisodeLimits(turns=turns, refusals=4)
        async with RepositoryWorkshop(slots=1, limits=limits) as workshop:
            return await play(workshop.begin(rectangles()), ActingPlayer(agent))

    return asyncio.run(main())


def call(number: int, name: str, **arguments: object) -> ToolCall:
    return ToolCall(f"c{number}", name, arguments)


@pytest.mark.slow
def test_a_scripted_agent_solves_the_task_through_tools() -> None:
    write = ToolCall("", "write", {"path": "shapes/core.py", "text": RIGHT})
    agent = ScriptedAgent("script", ((write,), (ToolCall("", "submit", {}),)))
    found = played(agent)
    assert (found.solved, len(found.turns), found.error) == (True, 2, "")


@pytest.mark.slow
def test_each_call_of_a_turn_is_played_and_answered_by_its_id() -> None:
    several = AgentTurn("I look round.", (call(1, "list"), call(2, "read", path="shapes/core.py")))
    agent = Recording(several, AgentTurn("", (call(3, "submit"),)))
    found = played(agent)
    assert [turn.result.observation.ok for turn in found.turns] == [True, True, True]
    first, second = agent.given
    assert [one.speaker for one in first] == [Speaker.SYSTEM, Speaker.USER]
    assert second[2].calls == several.calls
    assert [one.call_id for one in second[3:]] == ["c1", "c2"]
    assert "def area" in second[4].text


def test_words_without_a_call_are_refused_and_end_after_some() -> None:
    agent = Recording(*[AgentTurn("I am done.")] * 4)
    found = played(agent)
    assert [turn.result.observation.refusal for turn in found.turns] == [Refusal.BAD_ACTION] * 4
    assert found.outcome is not None
    assert found.outcome.scored
    assert agent.given[-1][-1].speaker is Speaker.USER


def test_arguments_that_could_not_be_read_are_told() -> None:
    bad = AgentTurn("", (ToolCall("c1", "read", {}, problem="no JSON"),))
    agent = Recording(bad, AgentTurn("", (call(2, "submit"),)))
    played(agent)
    assert "no JSON" in agent.given[1][-1].text


@pytest.mark.slow
def test_a_random_agent_comes_to_an_end_and_is_judged() -> None:
    found = played(RandomAgent(3), turns=12)
    assert found.outcome is not None
    assert found.outcome.scored
    assert found.error == ""


def test_a_fork_goes_on_from_what_its_episode_has_seen() -> None:
    async def main() -> None:
        agent = Recording(
            AgentTurn("", (call(1, "list"),)), AgentTurn("", (call(2, "submit"),))
        )  # fmt: skip
        async with RepositoryWorkshop(slots=1) as workshop:
            player = ActingPlayer(agent)
            episode = workshop.begin(rectangles())
            await episode.step(await player.act(episode))
            [fork] = episode.fork(1)
            await fork.step(await player.act(fork))
            assert fork.ended
            told = [one.speaker for one in agent.given[1]]
            assert told == [Speaker.SYSTEM, Speaker.USER, Speaker.AGENT, Speaker.TOOL]

    asyncio.run(main())


def test_one_player_plays_many_episodes_at_once() -> None:
    async def main() -> None:
        write = ToolCall("", "write", {"path": "shapes/core.py", "text": RIGHT})
        agent = ScriptedAgent("script", ((write,), (ToolCall("", "submit", {}),)))
        async with RepositoryWorkshop(slots=1) as workshop:
            tasks = [rectangles()] * 1
            found = [one async for one in play_all(workshop, tasks * 12, ActingPlayer(agent))]
            assert [one.solved for one in found] == [True] * 12

    asyncio.run(main())
