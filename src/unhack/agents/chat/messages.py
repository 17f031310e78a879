"""A conversation with tools: what is said, which tools there are, what the model calls.

Covered: the words of no provider; `dialect` says the same in those of two.
Not covered: pictures; a model's hidden reasoning, which is neither kept nor sent back.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from unhack.agents.metering.prices import TokenCounts


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that an agent may call.

    Example:

        path = {"type": "object", "properties": {"path": {"type": "string"}}}
        ToolSpec("read", "Read a file.", path)
    """

    name: str
    """Letters, digits, `_` and `-`, 64 at most."""
    description: str
    parameters: Mapping[str, Any]
    """A JSON schema of type `object`."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, as the agent made it: nothing of it is checked against the schema.

    Example:

        ToolCall("call-1", "read", {"path": "src/core.py"})
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    problem: str = ""
    """Why the arguments could not be read; empty when they could."""


class Speaker(StrEnum):
    """The origin of a message."""

    SYSTEM = "system"
    USER = "user"
    AGENT = "agent"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation.

    Example:

        ask = ChatMessage(Speaker.USER, "Fix the failing test.")
        answer = ChatMessage(Speaker.TOOL, "2 passed", call_id="call-1")
    """

    speaker: Speaker
    text: str
    calls: tuple[ToolCall, ...] = ()
    """Of an agent's message."""
    call_id: str = ""
    """Of a tool's message: the call that it answers."""


class TurnEnding(StrEnum):
    """The reason for which the model stopped."""

    CALLS = "calls"
    """It waits for the results of its calls."""
    SAID = "said"
    """It said something and called nothing."""
    CUT = "cut"
    """The limit of output was reached: calls that were not complete are missing."""


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """The words and calls of an agent in one turn.

    Example:

        turn = await agent.act(messages, tools)
        turn.calls[0].name, turn.tokens.output
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    ending: TurnEnding = TurnEnding.SAID
    tokens: TokenCounts = field(default_factory=TokenCounts)

    @property
    def message(self) -> ChatMessage:
        """The turn as a message of the conversation."""
        return ChatMessage(Speaker.AGENT, self.text, self.calls)


class ActingAgent(typing.Protocol):
    """Somebody who acts in an environment by calling tools.

    Example:

        class Submitter:
            name = "submitter"

            async def act(self, messages, tools):
                return AgentTurn(calls=(ToolCall("1", "submit"),), ending=TurnEnding.CALLS)
    """

    @property
    def name(self) -> str:
        """A short name for reports."""
        ...

    async def act(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> AgentTurn:
        """The next turn of a conversation. It depends on the arguments alone, so one agent may
        play many episodes at once. Raises ModelError where a model gave no answer."""
        ...
