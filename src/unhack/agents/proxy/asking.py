"""The most that a request to a model may use, read off the request before it goes out.

Input is bounded by its text: byte-level tokenizers make at most one token of a byte, and fewer of
ordinary words. A part that the last request had too counts with what the provider counted then.
Output is bounded by the request's own limit, times the answers that it asks for; without a limit,
by the most that the model gives.

Covered: Messages, Responses, Chat Completions, generateContent; pictures and documents inside a
request; several answers; predicted outputs; limits that are no numbers.
Not covered: what a provider adds of its own; the meter learns that from the first answer.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import re
from collections.abc import Iterator
from typing import Any, cast

from unhack.agents.metering.prices import Prices
from unhack.agents.metering.requests import (
    PART_TOKENS,
    ModelRequest,
    RequestPart,
    tokens_of,
)
from unhack.agents.proxy.dialects import Dialect, Document
from unhack.core.errors import UsageError

_LEAST_OUTPUT = 16_000
"""The least limit that is set for an agent that set none: shorter ones would cut its answers. It is
also the most for a model whose own maximum is not known."""
_FRAME_TOKENS = 600
"""A provider's own words about tools."""
_PICTURE_TOKENS = 8000
_DOCUMENT_TOKENS_A_BYTE, _DOCUMENT_TOKENS = 20, 1_000_000
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")
_CALLS = {"functionCall", "function_call", "functionResponse", "function_response"}
_DATA = re.compile(r"data:([\w.+/-]+);base64,(.*)", re.DOTALL)


def read_request(dialect: Dialect, model: str, body: Document, prices: Prices) -> ModelRequest:
    """The most that a request may use. Raises UsageError for a limit that is no whole number."""
    parts = tuple(_parts(body))
    answers = max(1, _number(_settings(dialect, body), "n", "candidateCount", "candidate_count"))
    prediction = body.get("prediction")
    beside = tokens_of(json.dumps(prediction, ensure_ascii=False)) if prediction else 0
    asked = _number(_settings(dialect, body), *_names(dialect, body))
    if asked:
        return ModelRequest(model, parts, asked, asked, asked, answers, beside)
    most, known = prices.most_output_of(model)
    lowered = most if known else _LEAST_OUTPUT
    least = min(lowered, _LEAST_OUTPUT)
    return ModelRequest(model, parts, most, lowered, least, answers, beside)


def write_limit(dialect: Dialect, provider: str, body: Document, tokens: int) -> None:
    """Put a limit of output into a request that has none."""
    if dialect is Dialect.GEMINI:
        settings = _settings(dialect, body)
        body.pop("generation_config", None)
        body["generationConfig"] = {**settings, "maxOutputTokens": tokens}
        return
    names = _names(dialect, body)
    body[names[0] if provider == "openai" else names[-1]] = tokens


def _parts(body: Document) -> Iterator[RequestPart]:
    yield RequestPart("frame", _FRAME_TOKENS)
    for name, value in body.items():
        items = cast("list[Any]", value) if isinstance(value, list) else [value]
        for item in items:
            files: list[tuple[int, str]] = []
            text = json.dumps([name, _without_files(item, files)], ensure_ascii=False)
            named = "\0".join([text, *(data for _, data in files)])
            digest = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()
            tokens = tokens_of(text) + sum(tokens for tokens, _ in files)
            yield RequestPart(digest, tokens + PART_TOKENS)


def _without_files(value: Any, files: list[tuple[int, str]]) -> Any:
    """`value` without marks of caching, pictures and documents; the tokens and data of those go to
    `files`. What stands in a call of a tool is text, whatever it looks like."""
    if isinstance(value, list):
        return [_without_files(item, files) for item in cast("list[Any]", value)]
    if isinstance(value, str):
        found = _DATA.fullmatch(value)
        tokens = _file_tokens(found[1], found[2]) if found else 0
        files += [(tokens, value)] if tokens else []
        return "" if tokens else value
    if not isinstance(value, dict):
        return value
    held = dict(cast("Document", value))
    held.pop("cache_control", None)
    kind = next((held[n] for n in ("media_type", "mimeType", "mime_type") if n in held), None)
    data = held.get("data")
    if isinstance(kind, str) and isinstance(data, str):
        tokens = _file_tokens(kind, data)
        files += [(tokens, data)] if tokens else []
        held["data"] = "" if tokens else data
    called = held.get("type") == "tool_use"
    return {
        name: item if called or name in _CALLS else _without_files(item, files)
        for name, item in held.items()
    }


def _file_tokens(kind: str, data: str) -> int:
    """Tokens of a file in base64, at most; 0 where the data are no such file, but text."""
    try:
        raw = base64.b64decode(data[:64] + "=" * (-len(data[:64]) % 4), validate=True)
    except (binascii.Error, ValueError):
        return 0
    if kind.startswith("image/"):
        return _PICTURE_TOKENS if raw.startswith(_PICTURES) else 0
    return min(_DOCUMENT_TOKENS, _DOCUMENT_TOKENS_A_BYTE * len(data))


def _settings(dialect: Dialect, body: Document) -> Document:
    """The part of a request that says how much it wants; both spellings of it together."""
    if dialect is not Dialect.GEMINI:
        return body
    found: Document = {}
    for name in ("generation_config", "generationConfig"):
        held = body.get(name)
        if isinstance(held, dict):
            found.update(cast("Document", held))
    return found


def _names(dialect: Dialect, body: Document) -> tuple[str, ...]:
    """The fields that limit the output of such a request."""
    if dialect is Dialect.GEMINI:
        return ("maxOutputTokens", "max_output_tokens")
    if dialect is Dialect.ANTHROPIC:
        return ("max_tokens",)
    return ("max_completion_tokens", "max_tokens") if "messages" in body else ("max_output_tokens",)


def _number(held: Document, *names: str) -> int:
    """The largest of these fields, 0 where there is none. Raises UsageError for what is none."""
    found = 0
    for name in names:
        value = held.get(name)
        if value is None:
            continue
        whole = isinstance(value, int | float) and not isinstance(value, bool) and value >= 1
        if not whole or not math.isfinite(value) or value != int(value):
            raise UsageError(f"{name} is {str(value)[:40]!r}: a whole number above 0 is needed")
        found = max(found, int(value))
    return found
