"""Strict readers of an endpoint's responses: a reply, or the reason why there is none.

Covered: OpenAI's chat completions, Anthropic's messages, and the transcript of earlier replies.
Not covered: tools, images, and more than one choice.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import UnhackError
from unhack.store.errors import storing
from unhack.store.files import read_whole_lines

_SHOWN = 300
_INPUT = (
    "prompt_tokens",
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)
_OUTPUT = ("completion_tokens", "output_tokens")


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


UNREAD = frozenset({Trouble.REJECTED, Trouble.BUSY})
"""Requests that the endpoint turned away unread: they cost nothing."""
WORTH_RETRYING = frozenset({Trouble.TIMEOUT, Trouble.BUSY, Trouble.SERVER, Trouble.UNREACHABLE})
_FIRST_PAUSE_S, _LONGEST_PAUSE_S, _LONGEST_ASKED_S = 0.5, 8.0, 60.0


class ModelError(UnhackError):
    """The model gave no reply; whoever asked goes on without it."""

    def __init__(
        self, reason: Trouble, text: str, *, reached: bool = True, wait_s: float | None = None
    ) -> None:
        """`reached`: whether the endpoint may have read the request; `wait_s`: seconds that it
        asks to be left alone."""
        super().__init__(f"{reason.value}: {text}")
        self.reason, self.reached, self.wait_s = reason, reached, wait_s


def retry_pause_s(error: ModelError, retry: int) -> float:
    """Seconds before the next try: what the server asks for, else longer from one to the next."""
    if error.wait_s is not None:
        return min(error.wait_s, _LONGEST_ASKED_S)
    # Those who were turned away together do not come back together.
    return min(_FIRST_PAUSE_S * 2**retry, _LONGEST_PAUSE_S) * random.uniform(0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a model."""

    text: str
    """Never empty."""
    input_tokens: int
    output_tokens: int


def read_text(body: str, protocol: str) -> str:
    """The text of a response, which is never empty. Raises ModelError."""
    return _anthropic_text(body) if protocol == "anthropic" else _openai_text(body)


def read_usage(body: str) -> tuple[int, int] | None:
    """(input tokens, output tokens) that a response says it used; None where it does not say."""
    try:
        usage = _dict(_object(body).get("usage"))
    except ModelError:
        return None
    given = [usage.get(name) for name in _INPUT if name in usage]
    taken = [usage.get(name) for name in _OUTPUT if name in usage]
    if not given or not taken or not any(map(_whole, [*given, *taken])):
        return None
    return sum(map(_whole, given)), sum(map(_whole, taken))


def _openai_text(body: str) -> str:
    choices = _object(body).get("choices")
    choice = _dict(cast("list[Any]", choices)[0] if isinstance(choices, list) and choices else None)
    message = _dict(choice.get("message"))
    if not message:
        raise ModelError(Trouble.MALFORMED, f"no message in {_show(body)}")
    ended = choice.get("finish_reason")
    if message.get("refusal") or ended == "content_filter":
        raise ModelError(Trouble.REFUSED, str(message.get("refusal") or ended)[:_SHOWN])
    return _some(message.get("content"), ended)


def _anthropic_text(body: str) -> str:
    top = _object(body)
    content = top.get("content")
    if not isinstance(content, list):
        raise ModelError(Trouble.MALFORMED, f"no content in {_show(body)}")
    blocks = [_dict(block) for block in cast("list[Any]", content)]
    text = "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
    ended = top.get("stop_reason")
    if ended == "refusal":
        raise ModelError(Trouble.REFUSED, text[:_SHOWN] or "the model declined")
    return _some(text, ended)


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


def read_transcript(path: Path) -> tuple[dict[str, Reply], tuple[int, int]]:
    """(the replies of a transcript by the key of their request, the input and output tokens of all
    its requests); lines that were cut off are none.

    Raises StoreError.
    """
    found: dict[str, Reply] = {}
    given = taken = 0
    with storing(path.parent):
        lines = read_whole_lines(path, repair=True)
    for line in lines:
        try:
            entry = _dict(json.loads(line))
        except ValueError:
            continue
        counts = _whole(entry.get("input_tokens")), _whole(entry.get("output_tokens"))
        given, taken = given + counts[0], taken + counts[1]
        if "reply" in entry and "key" in entry:
            found[str(entry["key"])] = Reply(str(entry["reply"]), *counts)
    return found, (given, taken)


def asked_wait_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to be left alone; None where it names none."""
    for name, unit_s in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * unit_s)
        except (KeyError, ValueError):
            continue
    return None


def trouble_of_status(code: int) -> Trouble:
    """The reason that an HTTP status of an error stands for."""
    known = {408: Trouble.TIMEOUT, 429: Trouble.BUSY}
    return known.get(code, Trouble.SERVER if code >= 500 else Trouble.REJECTED)
