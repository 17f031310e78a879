"""The stream of `gemini -o stream-json`: init, message, tool_use, tool_result, error, result.

Covered: an answer of the model, in however many parts, counts as one turn; the result's own sums;
errors.
Not covered: cost, which it does not tell.
"""

from __future__ import annotations

from unhack.agents.events.tally import Event, EventTally, count, inner, text


def read(event: Event, tally: EventTally) -> None:
    """Add one event."""
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
