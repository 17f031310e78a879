"""The sum of the events of one attempt.

Covered: lines that are no JSON, events of unknown kinds, numbers of the wrong type: they count as
nothing. Arrays of events count as the events.
Not covered: whether what they say is true.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

Event = dict[str, Any]
_MAX_NUMBER = 1 << 53


@dataclass(slots=True)
class EventTally:
    """The sums."""

    turns: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    """With those that came out of a cache."""
    output_tokens: int = 0
    cost_usd: float = 0.0
    error: str = ""
    """The last thing that it called an error."""
    events: int = 0
    last_message: str = ""
    """An id, so that parts of one message count as one turn."""


Parser = Callable[[Event, EventTally], None]


def read_line(line: bytes, parser: Parser, tally: EventTally) -> None:
    """Add what one line of output says."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return
    for item in cast("list[Any]", value) if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            tally.events += 1
            parser(cast("Event", item), tally)


def inner(event: Event, *names: str) -> Event:
    """The object under these names; empty where there is none."""
    for name in names:
        value = event.get(name)
        event = cast("Event", value) if isinstance(value, dict) else {}
    return event


def items(event: Event, name: str) -> list[Event]:
    """The objects of a list; empty where there is none."""
    value = event.get(name)
    held = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Event", item) for item in held if isinstance(item, dict)]


def count(event: Event, *names: str) -> int:
    """The sum of these whole numbers; what is none counts as 0."""
    values = (event.get(name) for name in names)
    return sum(v for v in values if type(v) is int and 0 <= v < _MAX_NUMBER)


def amount(event: Event, name: str) -> float:
    """A finite number of at least 0; what is none counts as 0."""
    value = event.get(name)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return 0.0
    return float(value) if 0 <= value < _MAX_NUMBER else 0.0


def text(event: Event, name: str) -> str:
    """A short text; empty where there is none."""
    value = event.get(name)
    return value[:500] if isinstance(value, str) else ""
