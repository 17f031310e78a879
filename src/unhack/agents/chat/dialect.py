"""Requests and answers with tools in the words of two interfaces.

Covered: Chat Completions and what speaks like it, Anthropic's Messages; several calls in a turn;
arguments that are no JSON object, calls without an id, two calls with one id; a conversation that
another agent began; results of calls that stand in another order than the calls.
Not covered: streaming; hosted tools; reasoning that has to be sent back.
Sources: the providers' public interface references (Chat Completions, Messages).
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from unhack.agents.chat.messages import (
    AgentTurn,
    ChatMessage,
    Speaker,
    ToolCall,
    ToolSpec,
    TurnEnding,
)
from unhack.agents.language_models.replies import ModelError, Trouble
from unhack.agents.metering.prices import TokenCounts
from unhack.agents.proxy.dialects import Dialect
from unhack.core.errors import UsageError

Document = dict[str, Any]
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SHOWN = 300
_NO_ANSWER = "(no answer)"


def write_request(
    dialect: Dialect, model: str, messages: Sequence[ChatMessage], *, tools: Sequence[ToolSpec]
) -> Document:
    """The body of a request, without a limit of output. Raises UsageError for a conversation or a
    tool that no provider would take."""
    _check(messages, tools)
    if dialect is Dialect.ANTHROPIC:
        system = "\n\n".join(said.text for said in messages if said.speaker is Speaker.SYSTEM)
        body: Document = {"model": model, "messages": list(_anthropic_turns(messages))}
        body |= {"system": system} if system else {}
        shown = [
            {"name": one.name, "description": one.description, "input_schema": dict(one.parameters)}
            for one in tools
        ]
    else:
        body = {"model": model, "messages": [_openai_message(said) for said in messages]}
        shown = [{"type": "function", "function": _function(one)} for one in tools]
    return {**body, "tools": shown} if shown else body


def read_turn(dialect: Dialect, answer: Document, tokens: TokenCounts) -> AgentTurn:
    """The turn that an answer holds. Raises ModelError."""
    if dialect is Dialect.ANTHROPIC:
        return _anthropic_turn(answer, tokens)
    choices = answer.get("choices")
    first = cast("list[Any]", choices)[0] if isinstance(choices, list) and choices else None
    choice = _dict(first)
    message = _dict(choice.get("message"))
    if not message:
        raise ModelError(Trouble.MALFORMED, f"no message in {str(answer)[:_SHOWN]}")
    ended = choice.get("finish_reason")
    if message.get("refusal") or ended == "content_filter":
        raise ModelError(Trouble.REFUSED, str(message.get("refusal") or ended)[:_SHOWN])
    made: list[ToolCall] = []
    for call in _list(message.get("tool_calls")):
        told = _dict(_dict(call).get("function"))
        made.append(_call(_dict(call).get("id"), told.get("name"), told.get("arguments")))
    return _turn(_text(message.get("content")), made, cut=ended == "length", tokens=tokens)


def _anthropic_turn(answer: Document, tokens: TokenCounts) -> AgentTurn:
    content = answer.get("content")
    if not isinstance(content, list):
        raise ModelError(Trouble.MALFORMED, f"no content in {str(answer)[:_SHOWN]}")
    blocks = [_dict(block) for block in cast("list[Any]", content)]
    if answer.get("stop_reason") == "refusal":
        raise ModelError(Trouble.REFUSED, _text(content)[:_SHOWN] or "the model declined")
    made = [
        _call(block.get("id"), block.get("name"), block.get("input"))
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    return _turn(_text(content), made, cut=answer.get("stop_reason") == "max_tokens", tokens=tokens)


def read_json(text: str) -> Any:
    """A JSON value; numbers that JSON does not have are none. Raises ValueError, RecursionError."""

    def refuse(name: str) -> float:
        raise ValueError(f"{name} is no number of JSON")

    return json.loads(text, parse_constant=refuse)


def _turn(text: str, made: list[ToolCall], *, cut: bool, tokens: TokenCounts) -> AgentTurn:
    if cut:
        # the arguments of the last call stop somewhere: nobody asked for what is left of it
        made = [call for call in made[:-1] if not call.problem]
    calls = tuple(_own_ids(made))
    ending = TurnEnding.CUT if cut else TurnEnding.CALLS if calls else TurnEnding.SAID
    return AgentTurn(text, calls, ending, tokens)


def _own_ids(made: list[ToolCall]) -> Iterator[ToolCall]:
    """The calls, each with an id of its own."""
    seen: set[str] = set()
    for call in made:
        name = call.id if call.id and call.id not in seen else f"call_{secrets.token_hex(8)}"
        seen.add(name)
        yield ToolCall(name, call.name, call.arguments, call.problem)


def _call(name_of_call: Any, name: Any, arguments: Any) -> ToolCall:
    made = name_of_call if isinstance(name_of_call, str) else ""
    called = name if isinstance(name, str) else ""
    read: Any = arguments
    problem = "" if called else "the call names no tool"
    if isinstance(arguments, str):
        try:
            read = read_json(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            said = f"the arguments are no JSON ({error}): {arguments[:_SHOWN]}"
            return ToolCall(made, called, {}, problem or said)
    if read is None:
        read = {}
    if not isinstance(read, dict):
        return ToolCall(made, called, {}, problem or "the arguments are no JSON object")
    return ToolCall(made, called, cast("Document", read), problem)


def _openai_message(said: ChatMessage) -> Document:
    match said.speaker:
        case Speaker.TOOL:
            return {"role": "tool", "tool_call_id": said.call_id, "content": _plain(said.text)}
        case Speaker.AGENT:
            body: Document = {"role": "assistant", "content": _plain(said.text) or None}
            if said.calls:
                body["tool_calls"] = [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {
                            "name": _sent_name(call),
                            "arguments": json.dumps(dict(call.arguments)),
                        },
                    }
                    for call in said.calls
                ]
            elif not said.text:
                body["content"] = _NO_ANSWER
            return body
        case _:
            return {"role": said.speaker.value, "content": _plain(said.text)}


def _anthropic_turns(messages: Sequence[ChatMessage]) -> Iterator[Document]:
    """Turns of two speakers who alternate; results of tools are the user's, and come first."""
    held: list[Document] = []
    role = ""
    for said in messages:
        if said.speaker is Speaker.SYSTEM:
            continue
        now = "assistant" if said.speaker is Speaker.AGENT else "user"
        if now != role and held:
            yield {"role": role, "content": held}
            held = []
        role = now
        held += _anthropic_blocks(said)
    if held:
        yield {"role": role, "content": held}


def _anthropic_blocks(said: ChatMessage) -> list[Document]:
    text = _plain(said.text)
    if said.speaker is Speaker.TOOL:
        block = {"type": "tool_result", "tool_use_id": said.call_id, "content": text}
        return [block]
    # an empty block of text, and one of blanks alone at the end, is refused
    blocks: list[Document] = [{"type": "text", "text": text}] if text.strip() else []
    for call in said.calls:
        named = {"id": call.id, "name": _sent_name(call), "input": dict(call.arguments)}
        blocks.append({"type": "tool_use", **named})
    return blocks or [{"type": "text", "text": _NO_ANSWER}]


def _function(tool: ToolSpec) -> Document:
    parameters = dict(tool.parameters)
    return {"name": tool.name, "description": tool.description, "parameters": parameters}


def _check(messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> None:
    for tool in tools:
        if not _NAME.fullmatch(tool.name) or tool.parameters.get("type") != "object":
            raise UsageError(
                f"{tool.name!r} is no tool: its name needs 1 to 64 letters, digits, _ or -, and "
                'its parameters a JSON schema with "type": "object"'
            )
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise UsageError(f"two tools have the same name: {', '.join(sorted(names))}")
    if not any(said.speaker is not Speaker.SYSTEM for said in messages):
        raise UsageError("a conversation needs a message that is not the system's")
    open_calls: list[str] = []
    for said in messages:
        if said.speaker is Speaker.TOOL:
            if said.call_id not in open_calls:
                raise UsageError(f"a tool's message answers no open call: {said.call_id!r}")
            open_calls.remove(said.call_id)
            continue
        if open_calls:
            raise UsageError(f"the call {open_calls[0]!r} has no answer from its tool")
        open_calls = [call.id for call in said.calls]
    if open_calls:
        raise UsageError(f"the call {open_calls[0]!r} has no answer from its tool")


def _sent_name(call: ToolCall) -> str:
    """The name of a call as providers take it back; theirs may be none."""
    return call.name if _NAME.fullmatch(call.name) else "unknown"


def _text(content: Any) -> str:
    """The text of a message, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = [_dict(part) for part in _list(content)]
    return "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")


def _plain(text: str) -> str:
    """The text without halves of characters, which no request can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _dict(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
