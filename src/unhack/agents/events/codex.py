"""The stream of `codex exec --json`: thread, turn and item events.

Covered: finished items that are tools (commands, file changes, tools by protocol, searches); the
usage of each turn; errors.
Not covered: cost, which it does not tell.
"""

from __future__ import annotations

from unhack.agents.events.tally import Event, EventTally, count, inner, text

_TOOLS = {"command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"}


def read(event: Event, tally: EventTally) -> None:
    """Add one event."""
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
