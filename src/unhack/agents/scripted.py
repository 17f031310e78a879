"""Agents without a model: one that plays a script, one that calls at random.

Both choose from the conversation alone, so that an episode that was forked or replayed goes on as
it began.

Covered: the same script, seed and conversation give the same turn.
Not covered: what makes sense; a random call fits its schema and nothing more.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from unhack.agents.chat.messages import (
    AgentTurn,
    ChatMessage,
    Speaker,
    ToolCall,
    ToolSpec,
    TurnEnding,
)

_WORD = re.compile(r"[\w./-]{2,80}")
_HALF = 0.5
_MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class ScriptedAgent:
    r"""Plays the calls of a script, a turn for each entry, then says that it is done.

    Example:

        write = ToolCall("", "write", {"path": "core.py", "text": "LIMIT = 3\n"})
        agent = ScriptedAgent("fixer", ((write,), (ToolCall("", "submit"),)))
    """

    name: str
    script: tuple[tuple[ToolCall, ...], ...]
    """Ids of calls may be empty."""

    async def act(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> AgentTurn:
        """The turn of the script that comes after those of the conversation."""
        at = _turns(messages)
        if at >= len(self.script):
            return AgentTurn("done")
        calls = tuple(
            ToolCall(call.id or f"call_{at}_{number}", call.name, call.arguments)
            for number, call in enumerate(self.script[at])
        )
        return AgentTurn("", calls, TurnEnding.CALLS if calls else TurnEnding.SAID)


@dataclass(frozen=True, slots=True)
class RandomAgent:
    """Calls a tool at random, with arguments that fit its schema; words are taken from the
    conversation.

    Example:

        player = ActingPlayer(RandomAgent(seed=7))
    """

    seed: int
    name: str = "random"

    async def act(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> AgentTurn:
        """One call of one tool."""
        if not tools:
            return AgentTurn("nothing to call")
        said = json.dumps([asdict(message) for message in messages], default=str)
        digest = hashlib.sha256(f"{self.seed}\0{said}".encode("utf-8", "replace")).digest()
        rng = random.Random(digest)
        tool = rng.choice(list(tools))
        words = sorted({word for one in messages for word in _WORD.findall(one.text)}) or ["word"]
        arguments = _random_object(rng, tool.parameters, words, depth=0)
        call = ToolCall(f"call_{_turns(messages)}", tool.name, arguments)
        return AgentTurn("", (call,), TurnEnding.CALLS)


def _turns(messages: Sequence[ChatMessage]) -> int:
    return sum(message.speaker is Speaker.AGENT for message in messages)


def _random_object(
    rng: random.Random, schema: Mapping[str, Any], words: list[str], *, depth: int
) -> dict[str, Any]:
    properties = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties") or {})
    required = cast("Sequence[str]", schema.get("required") or ())
    return {
        name: _random_value(rng, held, words, depth=depth + 1)
        for name, held in properties.items()
        if name in required or rng.random() < _HALF
    }


def _random_value(
    rng: random.Random, schema: Mapping[str, Any], words: list[str], *, depth: int
) -> Any:
    if "enum" in schema:
        return rng.choice(list(schema["enum"]))
    kind = schema.get("type", "string")
    low, high = int(schema.get("minimum", 0)), int(schema.get("maximum", 100))
    match kind:
        case "integer":
            return rng.randint(low, max(low, high))
        case "number":
            return rng.uniform(low, max(low, high))
        case "boolean":
            return rng.random() < _HALF
        case "array":
            count = rng.randint(int(schema.get("minItems", 0)), 3) if depth < _MAX_DEPTH else 0
            held = cast("Mapping[str, Any]", schema.get("items") or {})
            return [_random_value(rng, held, words, depth=depth + 1) for _ in range(count)]
        case "object":
            return _random_object(rng, schema, words, depth=depth) if depth < _MAX_DEPTH else {}
        case _:
            return rng.choice(words)
