"""A chat model that acts: turns with tools in two interfaces, the cap under load, failures."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.agents.model_server import KEY, ModelServer, Step, fails, says

from unhack.agents.chat.agent import ChatAgent, make_meter
from unhack.agents.chat.messages import ChatMessage, Speaker, ToolSpec, TurnEnding
from unhack.agents.language_models.endpoint import Endpoint
from unhack.agents.language_models.replies import ModelError, Trouble
from unhack.core.errors import UsageError

PRICES = (3.0, 15.0)
OUTPUT = 500
READ = ToolSpec(
    "read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}
)
START = (ChatMessage(Speaker.SYSTEM, "Be brief."), ChatMessage(Speaker.USER, "Mend it."))
PROTOCOLS = ("openai", "anthropic")


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def endpoint_of(server: ModelServer, protocol: str = "openai", **changes: Any) -> Endpoint:
    made = Endpoint(
        protocol, server.url(protocol), "scripted", KEY, timeout_s=60.0, retries=0,
        prices=PRICES, max_output_tokens=OUTPUT,
    )  # fmt: skip
    return replace(made, **changes)


def agent_of(server: ModelServer, protocol: str = "openai", **changes: Any) -> ChatAgent:
    cap = changes.pop("cost_limit_usd", 1.0)
    endpoint = endpoint_of(server, protocol, **changes)
    return ChatAgent(endpoint, make_meter(endpoint, cost_limit_usd=cap))


def calls(protocol: str, *arguments: dict[str, Any]) -> Step:
    """An answer that calls `read` once for each of the arguments."""
    top = json.loads(says("Looking.", protocol).body)
    if protocol == "anthropic":
        top["content"] += [
            {"type": "tool_use", "id": f"t{number}", "name": "read", "input": held}
            for number, held in enumerate(arguments)
        ]
        top["stop_reason"] = "tool_use"
    else:
        top["choices"][0]["message"]["tool_calls"] = [
            {
                "id": f"t{number}",
                "type": "function",
                "function": {"name": "read", "arguments": json.dumps(held)},
            }
            for number, held in enumerate(arguments)
        ]
        top["choices"][0]["finish_reason"] = "tool_calls"
    return Step(json.dumps(top).encode())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_episode_of_many_turns_goes_through_tools_to_an_end(protocol: str) -> None:
    async def play(agent: ChatAgent) -> list[TurnEnding]:
        messages, endings = [*START], list[TurnEnding]()
        while True:
            turn = await agent.act(messages, [READ])
            messages.append(turn.message)
            endings.append(turn.ending)
            if not turn.calls:
                return endings
            messages += [
                ChatMessage(Speaker.TOOL, f"text of {call.arguments['path']}", call_id=call.id)
                for call in turn.calls
            ]

    steps = (calls(protocol, {"path": "a"}, {"path": "b"}), calls(protocol, {"path": "c"}))
    with ModelServer(*steps, says("done", protocol)) as server:
        agent = agent_of(server, protocol)
        endings = asyncio.run(play(agent))
        last = server.requests[-1].body
    assert endings == [TurnEnding.CALLS, TurnEnding.CALLS, TurnEnding.SAID]
    assert agent.meter.requests == 3
    assert agent.meter.spent_usd == pytest.approx(3 * (100 * 3 + 50 * 15) / 1e6)
    roles = [said["role"] for said in last["messages"]]
    if protocol == "anthropic":
        assert roles == ["user", "assistant", "user", "assistant", "user"]
        assert [part["tool_use_id"] for part in last["messages"][2]["content"]] == ["t0", "t1"]
        assert last["system"] == "Be brief."
        assert last["tools"][0]["input_schema"]["type"] == "object"
    else:
        assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "tool"]
        assert last["tools"][0]["function"]["name"] == "read"


@pytest.mark.slow
def test_the_cap_holds_however_many_episodes_ask_at_once(tmp_path: Path) -> None:
    cap = 0.05

    async def load(agent: ChatAgent) -> list[Trouble]:
        async def one(number: int) -> list[Trouble]:
            for turn in range(50):
                said = ChatMessage(Speaker.USER, f"episode {number}, turn {turn}")
                try:
                    await agent.act([said], [READ])
                except ModelError as error:
                    return [error.reason]
            return []

        found = await asyncio.gather(*(one(number) for number in range(24)))
        return [reason for reasons in found for reason in reasons]

    with ModelServer(says("go on", "openai", tokens=(60, OUTPUT))) as server:
        endpoint = endpoint_of(server)
        meter = make_meter(endpoint, cost_limit_usd=cap, log=tmp_path / "costs.jsonl")
        reasons = asyncio.run(load(ChatAgent(endpoint, meter)))
        answered = len(server.requests)
    assert reasons == [Trouble.SPENT] * 24
    spent = answered * (60 * 3.0 + OUTPUT * 15.0) / 1e6
    assert spent <= cap
    assert spent > cap - 2 * OUTPUT * 15.0 / 1e6
    assert len((tmp_path / "costs.jsonl").read_text().splitlines()) == answered


def test_two_agents_with_one_meter_share_its_cap() -> None:
    with ModelServer(says("hm", "openai", tokens=(100, OUTPUT))) as server:
        endpoint = endpoint_of(server)
        meter = make_meter(endpoint, cost_limit_usd=0.02)
        agents = [ChatAgent(endpoint, meter), ChatAgent(endpoint, meter)]

        async def ask() -> int:
            for turn in range(20):
                try:
                    await agents[turn % 2].act(START, [])
                except ModelError:
                    return turn
            return 20

        assert asyncio.run(ask()) == 2
        assert meter.spent_usd <= 0.02


def test_a_busy_server_is_asked_again_and_an_unread_request_costs_nothing() -> None:
    busy, down = fails(429, retry_after_ms="1"), fails(503, retry_after_ms="1")
    with ModelServer(busy, down, says("done", "openai")) as server:
        agent = agent_of(server, retries=2)
        turn = asyncio.run(agent.act(START, [READ]))
    assert turn.text == "done"
    assert len(server.requests) == 3
    # the failed server may have read the request: it is charged as it was reserved
    assert agent.meter.spent_usd > OUTPUT * 15.0 / 1e6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (fails(401, f"bad key {KEY}"), Trouble.REJECTED),
        (fails(500), Trouble.SERVER),
        (Step(b"<html>"), Trouble.MALFORMED),
        (Step(b"[1]"), Trouble.MALFORMED),
        (Step(b'{"choices": []}'), Trouble.MALFORMED),
        (Step(b'{"choices": [{"message": {"content": NaN}}]}'), Trouble.MALFORMED),
        (Step(b"", drips=True), Trouble.TIMEOUT),
    ],
)
def test_an_answer_that_is_none_is_told_with_its_reason(step: Step, reason: Trouble) -> None:
    with ModelServer(step) as server:
        agent = agent_of(server, timeout_s=2.0 if step.drips else 60.0)
        with pytest.raises(ModelError) as caught:
            asyncio.run(agent.act(START, [READ]))
    assert caught.value.reason is reason
    assert KEY not in str(caught.value)


def test_a_server_that_is_not_there_costs_nothing() -> None:
    with ModelServer(says("x", "openai")) as server:
        agent = agent_of(server)
    with pytest.raises(ModelError) as caught:
        asyncio.run(agent.act(START, []))
    assert caught.value.reason is Trouble.UNREACHABLE
    assert agent.meter.spent_usd == 0


def test_a_cancelled_turn_is_charged_as_it_was_reserved() -> None:
    async def cancel(agent: ChatAgent, server: ModelServer) -> None:
        task = asyncio.create_task(agent.act(START, []))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with ModelServer(Step(b"", waits=True)) as server:
        agent = agent_of(server)
        asyncio.run(cancel(agent, server))
    assert agent.meter.spent_usd >= OUTPUT * 15.0 / 1e6
    assert agent.meter.reserved_usd == 0


def test_an_older_server_is_asked_by_the_older_name_of_the_limit() -> None:
    refuses = fails(400, "unknown field max_completion_tokens")
    with ModelServer(refuses, says("one", "openai"), says("two", "openai")) as server:
        agent = agent_of(server)
        assert asyncio.run(agent.act(START, [])).text == "one"
        assert asyncio.run(agent.act(START, [])).text == "two"
    names = [[name for name in one.body if name.startswith("max_")] for one in server.requests]
    assert names == [["max_completion_tokens"], ["max_tokens"], ["max_tokens"]]


def test_a_model_without_prices_is_capped_by_tokens() -> None:
    with ModelServer(says("x", "openai", tokens=(100, OUTPUT))) as server:
        endpoint = endpoint_of(server, prices=None)
        agent = ChatAgent(endpoint, make_meter(endpoint, token_limit=1800))

        async def ask() -> str:
            for _ in range(9):
                await agent.act(START, [])
            return ""

        with pytest.raises(ModelError, match="spent"):
            asyncio.run(ask())
    assert agent.meter.tokens().output + agent.meter.tokens().input <= 1800


def test_a_listed_model_has_the_price_of_the_table() -> None:
    endpoint = Endpoint("anthropic", "http://127.0.0.1:9", "claude-sonnet-4-5")
    assert make_meter(endpoint).prices.of("claude-sonnet-4-5")[:2] == (3.0, 15.0)


@pytest.mark.parametrize(
    ("messages", "tools", "words"),
    [
        ([START[0]], [], "needs a message"),
        ([*START, ChatMessage(Speaker.TOOL, "x", call_id="t")], [], "answers no open call"),
        (START, [READ, READ], "the same name"),
        (START, [ToolSpec("read me", "", {"type": "object"})], "is no tool"),
        (START, [ToolSpec("read", "", {"type": "string"})], "is no tool"),
    ],
)
def test_what_no_provider_takes_is_refused_before_it_costs(
    messages: list[ChatMessage], tools: list[ToolSpec], words: str
) -> None:
    agent = ChatAgent(
        endpoint := Endpoint("openai", "http://127.0.0.1:9", "m", prices=PRICES),
        make_meter(endpoint),
    )
    with pytest.raises(UsageError, match=words):
        asyncio.run(agent.act(messages, tools))
