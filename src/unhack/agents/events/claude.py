"""The stream of `claude -p --output-format stream-json --verbose`, and of `qwen`, which has its
form: system, assistant, user and one result.

Covered: the parts of one message count as one turn; where no result comes (killed), what was said
until then counts; a result's own sums take its place.
Not covered: partial messages, which the flags do not ask for.
"""

from __future__ import annotations

from unhack.agents.events.tally import (
    Event,
    EventTally,
    amount,
    count,
    inner,
    items,
    text,
)

_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def read(event: Event, tally: EventTally) -> None:
    """Add one event."""
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
