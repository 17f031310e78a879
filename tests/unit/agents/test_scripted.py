"""Agents without a model choose from the conversation alone."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.agents.chat.dialect import write_request
from unhack.agents.chat.messages import ActingAgent, ChatMessage, Speaker, ToolCall, ToolSpec
from unhack.agents.proxy.dialects import Dialect
from unhack.agents.scripted import RandomAgent, ScriptedAgent

SEARCH = ToolSpec(
    "search",
    "Search.",
    {
        "type": "object",
        "required": ["text", "limit", "kind"],
        "properties": {
            "text": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 9},
            "kind": {"enum": ["plain", "regex"]},
            "paths": {"type": "array", "items": {"type": "string"}},
            "deep": {"type": "object", "properties": {"far": {"type": "boolean"}}},
            "share": {"type": "number"},
        },
    },
)
SUBMIT = ToolSpec("submit", "Hand in.", {"type": "object"})
START = [ChatMessage(Speaker.USER, "Mend src/core.py.")]


def test_a_script_is_played_turn_by_turn_and_then_ends() -> None:
    script = ((ToolCall("", "search", {"text": "a"}), ToolCall("x", "search")), (), ())
    agent: ActingAgent = ScriptedAgent("solver", (*script[:1], (ToolCall("", "submit"),)))
    messages = [*START]
    names: list[list[str]] = []
    for _ in range(3):
        turn = asyncio.run(agent.act(messages, [SEARCH, SUBMIT]))
        names.append([call.name for call in turn.calls])
        messages.append(turn.message)
        messages += [ChatMessage(Speaker.TOOL, "ok", call_id=call.id) for call in turn.calls]
    assert names == [["search", "search"], ["submit"], []]
    write_request(Dialect.ANTHROPIC, "m", messages, tools=[SEARCH])
    again = asyncio.run(agent.act(messages[:1], [SEARCH]))
    assert [call.name for call in again.calls] == ["search", "search"]


@pytest.mark.slow
@given(seed=st.integers(0, 200))
def test_a_random_call_fits_its_schema_and_repeats(seed: int) -> None:
    agent: ActingAgent = RandomAgent(seed)
    turn = asyncio.run(agent.act(START, [SEARCH]))
    [call] = turn.calls
    arguments = call.arguments
    assert {"text", "limit", "kind"} <= arguments.keys() <= SEARCH.parameters["properties"].keys()
    assert 1 <= arguments["limit"] <= 9
    assert arguments["kind"] in ("plain", "regex")
    assert arguments["text"] in ("Mend", "src/core.py.")
    assert asyncio.run(agent.act(START, [SEARCH])) == turn


def test_random_agents_differ_by_seed_and_by_conversation() -> None:
    turns = {str(asyncio.run(RandomAgent(seed).act(START, [SEARCH, SUBMIT]))) for seed in range(20)}
    assert len(turns) > 10
    longer = [*START, ChatMessage(Speaker.USER, "now")]
    later = {
        str(asyncio.run(RandomAgent(1).act(START[:1] * n, [SEARCH, SUBMIT]))) for n in range(1, 9)
    }
    assert len(later) > 3
    assert asyncio.run(RandomAgent(1).act(longer, [])).calls == ()
