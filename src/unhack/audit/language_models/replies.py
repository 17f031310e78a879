"""Strict readers of an endpoint's responses: a reply, or the reason why there is none.

Covered: OpenAI's chat completions, Anthropic's messages, and the transcript of earlier replies.
Not covered: tools, images, and more than one choice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import UnhackError
from unhack.store.errors import storing
from unhack.store.files import read_whole_lines

_SHOWN = 300


class Trouble(StrEnum):
    """The reason why there is no reply."""

    REFUSED = "refused"
    """The model declined, or said nothing."""
    MALFORMED = "malformed"
    """The response is no reply of this protocol."""
    TIMEOUT = "timeout"
    REJECTED = "rejected"
    """The endpoint does not accept the request: its key, its model or its form (4xx)."""
    BUSY = "busy"
    """Too many requests (429), also after the retries."""
    SERVER = "server"
    """The endpoint failed (5xx), also after the retries."""
    UNREACHABLE = "unreachable"
    SPENT = "spent"
    """The cap leaves too little for the request, which was not sent."""


class ModelError(UnhackError):
    """The model gave no reply; the audit goes on without it."""

    def __init__(self, reason: Trouble, text: str) -> None:
        super().__init__(f"{reason.value}: {text}")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a model."""

    text: str
    """Never empty."""
    input_tokens: int
    output_tokens: int


def read_openai(body: str) -> tuple[str, int, int]:
    """(text, input tokens, output tokens) of a chat completion. Raises ModelError."""
    top = _object(body)
    choices = top.get("choices")
    choice = _dict(cast("list[Any]", choices)[0] if isinstance(choices, list) and choices else None)
    message = _dict(choice.get("message"))
    if not message:
        raise ModelError(Trouble.MALFORMED, f"no message in {_show(body)}")
    text = message.get("content")
    ended = choice.get("finish_reason")
    if message.get("refusal") or ended == "content_filter":
        raise ModelError(Trouble.REFUSED, str(message.get("refusal") or ended)[:_SHOWN])
    usage = _dict(top.get("usage"))
    counts = _whole(usage.get("prompt_tokens")), _whole(usage.get("completion_tokens"))
    return (_some(text, ended), *counts)


def read_anthropic(body: str) -> tuple[str, int, int]:
    """(text, input tokens, output tokens) of a message. Raises ModelError."""
    top = _object(body)
    content = top.get("content")
    if not isinstance(content, list):
        raise ModelError(Trouble.MALFORMED, f"no content in {_show(body)}")
    blocks = [_dict(block) for block in cast("list[Any]", content)]
    text = "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
    ended = top.get("stop_reason")
    if ended == "refusal":
        raise ModelError(Trouble.REFUSED, text[:_SHOWN] or "the model declined")
    usage = _dict(top.get("usage"))
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    given = sum(_whole(usage.get(name)) for name in names)
    return _some(text, ended), given, _whole(usage.get("output_tokens"))


def _some(text: object, ended: object) -> str:
    """The text, when there is any. Raises ModelError."""
    if isinstance(text, str) and text.strip():
        return text
    if ended in ("length", "max_tokens"):
        raise ModelError(Trouble.MALFORMED, "the output's limit was reached before any text")
    raise ModelError(Trouble.REFUSED, f"an empty reply, ended by {ended!s}"[:_SHOWN])


def _object(body: str) -> dict[str, Any]:
    """The JSON object that a body is. Raises ModelError."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise ModelError(Trouble.MALFORMED, f"no JSON: {_show(body)}") from None
    if not isinstance(found, dict):
        raise ModelError(Trouble.MALFORMED, f"no JSON object: {_show(body)}")
    return cast("dict[str, Any]", found)


def _dict(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _show(body: str) -> str:
    return repr(body[:_SHOWN])


def read_transcript(path: Path) -> dict[str, Reply]:
    """The replies of a transcript by the key of their request; lines that were cut off are none.

    Raises StoreError.
    """
    found: dict[str, Reply] = {}
    with storing(path.parent):
        lines = read_whole_lines(path, repair=True)
    for line in lines:
        try:
            entry = _dict(json.loads(line))
        except ValueError:
            continue
        if "reply" in entry and "key" in entry:
            counts = _whole(entry.get("input_tokens")), _whole(entry.get("output_tokens"))
            found[str(entry["key"])] = Reply(str(entry["reply"]), *counts)
    return found
