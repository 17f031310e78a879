"""A command-line agent's output as turns that a person can read: what it said, did and got.

Covered: the streams of Claude Code and Qwen Code, of Codex, and any others by the texts that their
events hold; plain text. Nothing that an agent prints can make this fail.
Not covered: whether it did what it says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from unhack.agents.events.tally import Event, inner, items

MAX_TURNS = 500
_MOST = 6000
"""Letters of one turn; the rest of a longer one is in the file."""
_TEXTS = ("text", "content", "message", "aggregated_output", "output", "result")


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """One step of an agent."""

    who: str
    """`says`, `thinks`, `does`, `gets`, `prints` or `ends`."""
    text: str


def read_turns(output: bytes) -> list[TranscriptTurn]:
    """The turns of what an agent printed, at most `MAX_TURNS`."""
    found: list[TranscriptTurn] = []
    for who, text in _steps(output.decode(errors="replace")):
        if not text.strip():
            continue
        if found and who == "prints" == found[-1].who and len(found[-1].text) < _MOST:
            found[-1] = TranscriptTurn(who, f"{found[-1].text}\n{text}"[:_MOST])
        else:
            found.append(TranscriptTurn(who, text[:_MOST]))
        if len(found) >= MAX_TURNS:
            break
    return found


def _steps(output: str) -> Iterator[tuple[str, str]]:
    for line in output.split("\n"):
        try:
            value: Any = json.loads(line)
        except (ValueError, RecursionError):
            yield "prints", line
            continue
        if not isinstance(value, (dict, list)):
            yield "prints", line
            continue
        for event in cast("list[Any]", value if isinstance(value, list) else [value]):
            if isinstance(event, dict):
                yield from _event(cast("Event", event))


def _event(event: Event) -> Iterator[tuple[str, str]]:
    kind = event.get("type")
    if kind in ("assistant", "user") and inner(event, "message"):
        for part in items(inner(event, "message"), "content"):
            yield from _part(part)
        text = inner(event, "message").get("content")
        if isinstance(text, str):
            yield ("says" if kind == "assistant" else "gets"), text
    elif kind == "item.completed":
        yield from _item(inner(event, "item"))
    elif kind == "result":
        yield "ends", _text(event.get("result") or event.get("subtype"))
    elif kind in ("error", "turn.failed"):
        yield "ends", _text(event.get("message") or event.get("error"))
    elif isinstance(kind, str) and "." in kind and kind.split(".")[-1] in ("started", "updated"):
        return
    else:
        for key in _TEXTS:
            if event.get(key):
                yield "says", _text(event[key])
                return


def _part(part: Event) -> Iterator[tuple[str, str]]:
    """A part of a message of Claude Code."""
    kind = part.get("type")
    if kind == "text":
        yield "says", _text(part.get("text"))
    elif kind == "thinking":
        yield "thinks", _text(part.get("thinking"))
    elif kind == "tool_use":
        yield "does", f"{part.get('name')}: {_text(part.get('input'))}"
    elif kind == "tool_result":
        yield "gets", _text(part.get("content"))


def _item(item: Event) -> Iterator[tuple[str, str]]:
    """An item of Codex."""
    kind = item.get("type") or item.get("item_type")
    if kind in ("agent_message", "assistant_message"):
        yield "says", _text(item.get("text"))
    elif kind == "reasoning":
        yield "thinks", _text(item.get("text"))
    elif kind == "command_execution":
        yield "does", _text(item.get("command"))
        yield "gets", _text(item.get("aggregated_output"))
    else:
        yield "does", _text(item)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = (_text(item) for item in cast("list[Any]", value))
        return "\n".join(part for part in parts if part)
    if isinstance(value, dict):
        fields = cast("Event", value)
        if isinstance(fields.get("text"), str):
            return fields["text"]
        return json.dumps(fields, ensure_ascii=False)
    return "" if value is None else str(value)
