"""Formats of a command-line agent's events: turns, tool calls, tokens, cost.

`PARSERS` finds them by name. What an agent says is a claim: tokens and cost of a participant come
from the proxy wherever it stands between the agent and its model.

Covered: `claude -p --output-format stream-json --verbose` and `qwen`, which has its form (where no
result comes, what was said until then counts; a result's own sums take its place); `codex exec
--json`; Cursor's agent (`-p --output-format stream-json`); `gemini -o stream-json` (an answer, in
however many parts, is one turn); `opencode run --format json` (steps are turns).
Not covered: partial messages of claude, which the flags do not ask for; cost, which codex, Cursor
and gemini do not tell; steps of opencode that do not finish.
"""

from __future__ import annotations

from collections.abc import Mapping

from unhack.agents.events.tally import (
    Event,
    EventTally,
    Parser,
    amount,
    count,
    inner,
    items,
    text,
)

_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_TOOLS = {"command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"}


def _claude(event: Event, tally: EventTally) -> None:
    kind = event.get("type")
    if kind == "assistant":
        message = inner(event, "message")
        tally.tool_calls += sum(p.get("type") == "tool_use" for p in items(message, "content"))
        name = text(message, "id")
        if not name or name != tally.last_message:
            tally.turns += 1
            tally.input_tokens += count(inner(message, "usage"), *_INPUT)
            tally.output_tokens += count(inner(message, "usage"), "output_tokens")
        tally.last_message = name
    elif kind == "result":
        tally.turns = count(event, "num_turns") or tally.turns
        usage = inner(event, "usage")
        tally.input_tokens = count(usage, *_INPUT) or tally.input_tokens
        tally.output_tokens = count(usage, "output_tokens") or tally.output_tokens
        tally.cost_usd = amount(event, "total_cost_usd")
        if event.get("is_error") is True:
            tally.error = text(event, "result") or text(event, "subtype") or "error"


def _codex(event: Event, tally: EventTally) -> None:
    kind = event.get("type")
    if kind == "item.completed":
        item = inner(event, "item")
        tally.tool_calls += item.get("type") in _TOOLS or item.get("item_type") in _TOOLS
    elif kind == "turn.started":
        tally.turns += 1
    elif kind == "turn.completed":
        usage = inner(event, "usage")
        tally.input_tokens += count(usage, "input_tokens")
        tally.output_tokens += count(usage, "output_tokens")
    elif kind == "turn.failed":
        tally.error = text(inner(event, "error"), "message") or "the turn failed"
    elif kind == "error":
        tally.error = text(event, "message") or tally.error


def _cursor(event: Event, tally: EventTally) -> None:
    kind = event.get("type")
    if kind == "assistant":
        tally.turns += 1
    elif kind == "tool_call":
        tally.tool_calls += event.get("subtype") == "completed"
    elif kind == "result":
        usage = inner(event, "usage")
        tally.input_tokens += count(usage, "inputTokens", "cacheReadTokens", "cacheWriteTokens")
        tally.output_tokens += count(usage, "outputTokens")
        if event.get("is_error") is True or event.get("subtype") not in (None, "success"):
            tally.error = text(event, "result") or text(event, "subtype") or "error"


def _gemini(event: Event, tally: EventTally) -> None:
    kind = event.get("type")
    if kind in ("message", "tool_use"):
        speaks = kind == "tool_use" or event.get("role") in ("assistant", "model")
        if speaks and tally.last_message != "model":
            tally.turns += 1
        tally.last_message = "model" if speaks else ""
        tally.tool_calls += kind == "tool_use"
    elif kind == "tool_result":
        tally.last_message = ""
    elif kind == "result":
        stats = inner(event, "stats")
        tally.input_tokens = count(stats, "input_tokens") or tally.input_tokens
        tally.output_tokens = count(stats, "output_tokens") or tally.output_tokens
        if event.get("status") not in (None, "success"):
            tally.error = text(inner(event, "error"), "message") or "error"
    elif kind == "error":
        tally.error = text(event, "message") or "error"


def _opencode(event: Event, tally: EventTally) -> None:
    kind = event.get("type")
    if kind == "tool_use":
        tally.tool_calls += 1
    elif kind == "step_finish":
        part = inner(event, "part")
        tokens = inner(part, "tokens")
        tally.turns += 1
        tally.input_tokens += count(tokens, "input") + count(inner(tokens, "cache"), "read")
        tally.output_tokens += count(tokens, "output", "reasoning")
        tally.cost_usd += amount(part, "cost")
    elif kind == "error":
        error = inner(event, "error")
        tally.error = text(inner(error, "data"), "message") or text(error, "name") or "error"


def _nothing(event: Event, tally: EventTally) -> None:
    """For output without events."""


PARSERS: Mapping[str, Parser] = {
    "claude": _claude,
    "codex": _codex,
    "cursor": _cursor,
    "gemini": _gemini,
    "opencode": _opencode,
    "qwen": _claude,
    "text": _nothing,
}
"""Each adds one event to the sums."""
