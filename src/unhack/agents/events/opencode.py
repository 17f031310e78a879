"""The stream of `opencode run --format json`: step_start, text, tool_use, step_finish, error.

Covered: steps as turns, tools, the tokens and the cost that each finished step tells.
Not covered: steps that do not finish.
"""

from __future__ import annotations

from unhack.agents.events.tally import Event, EventTally, amount, count, inner, text


def read(event: Event, tally: EventTally) -> None:
    """Add one event."""
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
