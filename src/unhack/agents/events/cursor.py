"""The stream of Cursor's agent (`-p --output-format stream-json`): system, user, assistant,
tool_call (started, completed) and one result.

Covered: turns by message, finished tool calls, errors of the result, tokens where it tells them.
Not covered: cost, which it does not tell.
"""

from __future__ import annotations

from unhack.agents.events.tally import Event, EventTally, count, inner, text


def read(event: Event, tally: EventTally) -> None:
    """Add one event."""
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
