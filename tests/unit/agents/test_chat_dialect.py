"""Conversations in two interfaces' words: odd calls, odd texts, cut answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unhack.agents.chat.dialect import read_turn, write_request
from unhack.agents.chat.messages import ChatMessage, Speaker, ToolCall, TurnEnding
from unhack.agents.language_models.replies import ModelError, Trouble
from unhack.agents.metering.prices import TokenCounts
from unhack.agents.proxy.dialects import Dialect
from unhack.core.errors import UsageError

NONE = TokenCounts()


def openai(calls: Any, *, content: Any = None, ended: str = "tool_calls") -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "tool_calls": calls}
    return {"choices": [{"message": message, "finish_reason": ended}]}


def function(arguments: Any, *, name: Any = "read", made: Any = "c1") -> dict[str, Any]:
    return {"id": made, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("arguments", "read", "problem"),
    [
        ('{"path": "a"}', {"path": "a"}, ""),
        ({"path": "a"}, {"path": "a"}, ""),
        ("", {}, ""),
        (None, {}, ""),
        ('{"path": ', {}, "no JSON"),
        ('["a"]', {}, "no JSON object"),
        ('{"n": NaN}', {}, "no number of JSON"),
        (3, {}, "no JSON object"),
    ],
)
def test_arguments_are_read_or_their_problem_told(
    arguments: Any, read: dict[str, Any], problem: str
) -> None:
    [call] = read_turn(Dialect.OPENAI, openai([function(arguments)]), NONE).calls
    assert call.arguments == read
    assert bool(call.problem) == bool(problem)
    assert problem in call.problem


def test_calls_without_an_id_of_their_own_get_one() -> None:
    told = [function("{}"), function("{}"), function("{}", made=None), {"function": None}]
    turn = read_turn(Dialect.OPENAI, openai(told), NONE)
    assert len({call.id for call in turn.calls}) == 4
    assert all(call.id for call in turn.calls)
    assert turn.calls[3].problem == "the call names no tool"


def test_a_cut_answer_loses_the_call_that_was_not_complete() -> None:
    told = [function('{"path": "a"}'), function('{"path": "b', made="c2")]
    turn = read_turn(Dialect.OPENAI, openai(told, ended="length"), NONE)
    assert turn.ending is TurnEnding.CUT
    assert [call.arguments for call in turn.calls] == [{"path": "a"}]
    blocks = [{"type": "text", "text": "so"}, {"type": "tool_use", "id": "t", "name": "write"}]
    answer = {"content": blocks, "stop_reason": "max_tokens"}
    assert read_turn(Dialect.ANTHROPIC, answer, NONE).calls == ()


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        (Dialect.OPENAI, openai([], content="no", ended="content_filter")),
        (Dialect.ANTHROPIC, {"content": [], "stop_reason": "refusal"}),
    ],
)
def test_a_model_that_declines_is_told_apart(dialect: Dialect, answer: dict[str, Any]) -> None:
    with pytest.raises(ModelError) as caught:
        read_turn(dialect, answer, NONE)
    assert caught.value.reason is Trouble.REFUSED


def test_a_text_in_parts_is_one_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert read_turn(Dialect.OPENAI, openai([], content=parts, ended="stop"), NONE).text == "ab"


def test_results_and_words_of_the_user_are_one_turn_of_messages() -> None:
    messages = [
        ChatMessage(Speaker.USER, "one"),
        ChatMessage(Speaker.USER, "two"),
        ChatMessage(Speaker.AGENT, " \n", (ToolCall("t", "bad name!", {"a": 1}),)),
        ChatMessage(Speaker.TOOL, "no such tool", call_id="t"),
        ChatMessage(Speaker.USER, "half \ud800 a character"),
        ChatMessage(Speaker.AGENT, ""),
        ChatMessage(Speaker.USER, "go on"),
    ]
    body = write_request(Dialect.ANTHROPIC, "m", messages, tools=[])
    roles = [said["role"] for said in body["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    called = body["messages"][1]["content"]
    assert [part["type"] for part in called] == ["tool_use"]
    assert called[0]["name"] == "unknown"
    assert [part["type"] for part in body["messages"][2]["content"]] == ["tool_result", "text"]
    assert "tools" not in body
    json.dumps(body, ensure_ascii=False).encode()
    plain = write_request(Dialect.OPENAI, "m", messages, tools=[])["messages"]
    assert all(said["content"] or said.get("tool_calls") for said in plain)


def test_a_call_without_its_result_is_refused() -> None:
    asked = ChatMessage(Speaker.AGENT, "", (ToolCall("t", "read"),))
    for rest in ([], [ChatMessage(Speaker.USER, "well?")]):
        with pytest.raises(UsageError, match="no answer from its tool"):
            write_request(
                Dialect.OPENAI, "m", [ChatMessage(Speaker.USER, "x"), asked, *rest], tools=[]
            )
