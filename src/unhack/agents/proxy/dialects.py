"""The interfaces of model providers, as far as a proxy has to know them.

Covered: which paths an agent may use (those that are metered, and harmless look-ups); where a key
goes; how tokens are told; how errors look; which parts of a request would make the provider itself
go to the network or run code for the agent (hosted tools, documents by address), which would be a
way around the workspace's closed network.
Not covered: providers' batches, files, fine-tuning and realtime interfaces: their paths are
refused.
Sources: the providers' public interface references (Messages, Responses, Chat Completions,
generateContent).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from unhack.agents.metering.prices import TokenCounts

Document = dict[str, Any]


class Dialect(StrEnum):
    """A family of interfaces."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    GEMINI = "gemini"


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models: it answers, and it is paid."""

    name: str
    dialect: Dialect
    url: str
    """Without the version: requests' paths bring it."""
    key_variables: tuple[str, ...]
    """Environment variables of the host, the first that is set counts."""


PROVIDERS: Mapping[str, Provider] = {
    item.name: item
    for item in (
        Provider("anthropic", Dialect.ANTHROPIC, "https://api.anthropic.com",
                 ("ANTHROPIC_API_KEY",)),
        Provider("openai", Dialect.OPENAI, "https://api.openai.com",
                 ("OPENAI_API_KEY", "CODEX_API_KEY")),
        Provider("gemini", Dialect.GEMINI, "https://generativelanguage.googleapis.com",
                 ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        Provider("dashscope", Dialect.OPENAI,
                 "https://dashscope-intl.aliyuncs.com/compatible-mode", ("DASHSCOPE_API_KEY",)),
    )
}  # fmt: skip

_GEMINI_CALL = re.compile(r"v1(?:beta|alpha)?/models/([\w.@-]+):(\w+)")
_METERED = {
    Dialect.ANTHROPIC: ("v1/messages",),
    Dialect.OPENAI: ("v1/responses", "v1/chat/completions"),
}
_FREE = {
    Dialect.ANTHROPIC: re.compile(r"v1/messages/count_tokens|v1/models(/[\w.@-]+)?"),
    Dialect.OPENAI: re.compile(r"v1/models(/[\w.@-]+)?"),
    Dialect.GEMINI: re.compile(r"v1(beta|alpha)?/models(/[\w.@-]+(:countTokens)?)?"),
}
_STATUS = {"auth": 401, "path": 404, "request": 400, "upstream": 502}
_COST_STATUS = {Dialect.ANTHROPIC: 402, Dialect.OPENAI: 429, Dialect.GEMINI: 403}
"""As the providers answer when an account has no money left."""
_ANTHROPIC_TYPES = {
    "auth": "authentication_error", "path": "not_found_error",
    "request": "invalid_request_error", "cost": "billing_error", "upstream": "api_error",
}  # fmt: skip
_GEMINI_STATES = {
    "auth": "UNAUTHENTICATED", "path": "NOT_FOUND", "request": "INVALID_ARGUMENT",
    "cost": "PERMISSION_DENIED", "upstream": "UNAVAILABLE",
}  # fmt: skip
_OPENAI_CODES = {
    "auth": "invalid_api_key", "path": "unknown_url", "request": "invalid_request_error",
    "cost": "insufficient_quota", "upstream": "server_error",
}  # fmt: skip
_LAST = {"message_stop", "response.completed", "response.incomplete", "response.failed", "error"}
_LOCAL_TOOLS = re.compile(
    r"custom|function|namespace|local_shell|shell|apply_patch|bash_\d+|text_editor_\d+|memory_\d+"
)
"""Kinds of tools that the client runs; whatever else a provider offers, the provider runs."""
_REACHING_FIELDS = {
    "mcp_servers", "container", "web_search_options", "background", "conversation", "prompt",
    "previous_response_id", "service_tier", "speed",
}  # fmt: skip


def headers(dialect: Dialect, key: str) -> dict[str, str]:
    """The headers in which the provider looks for its key."""
    if dialect is Dialect.ANTHROPIC:
        return {"x-api-key": key}
    return {"authorization": f"Bearer {key}"} if dialect is Dialect.OPENAI else {
        "x-goog-api-key": key
    }  # fmt: skip


def tokens_sent(sent: Mapping[str, str]) -> list[str]:
    """Every key that a request carries, wherever it stands."""
    bearer = sent.get("authorization", "").removeprefix("Bearer ").strip()
    found = (bearer, sent.get("x-api-key", ""), sent.get("x-goog-api-key", ""))
    return [token for token in found if token]


def is_metered(dialect: Dialect, path: str) -> bool:
    """Tell whether a path makes a model answer, for money."""
    if dialect is Dialect.GEMINI:
        match = _GEMINI_CALL.fullmatch(path)
        return match is not None and match[2] in ("generateContent", "streamGenerateContent")
    return path in _METERED[dialect]


def is_free(dialect: Dialect, path: str) -> bool:
    """Tell whether a path only looks something up."""
    return _FREE[dialect].fullmatch(path) is not None


def model_of(dialect: Dialect, path: str, body: Document) -> str:
    """Which model a request names."""
    match = _GEMINI_CALL.fullmatch(path) if dialect is Dialect.GEMINI else None
    return match[1] if match else str(body.get("model", ""))


def error(dialect: Dialect, kind: str, message: str) -> tuple[int, Document]:
    """(status, body) of an error as the provider itself would give it.

    `kind`: `auth`, `path`, `request`, `cost` or `upstream`.
    """
    status = _STATUS.get(kind, _COST_STATUS[dialect])
    if dialect is Dialect.ANTHROPIC:
        inner = {"type": _ANTHROPIC_TYPES[kind], "message": message}
        return status, {"type": "error", "error": inner}
    if dialect is Dialect.GEMINI:
        state = _GEMINI_STATES[kind]
        return status, {"error": {"code": status, "message": message, "status": state}}
    code = _OPENAI_CODES[kind]
    return status, {"error": {"message": message, "type": code, "param": None, "code": code}}


def usage(document: Document) -> TokenCounts | None:
    """The tokens that an answer, or one event of it, tells of; None where it tells nothing."""
    for holder in (document, document.get("message"), document.get("response")):
        if isinstance(holder, dict):
            found = cast("Document", holder)
            for name in ("usage", "usageMetadata"):
                if isinstance(found.get(name), dict):
                    return _tokens(cast("Document", found[name]))
    return None


def _tokens(told: Document) -> TokenCounts:
    if "promptTokenCount" in told or "candidatesTokenCount" in told:
        cached = _count(told, "cachedContentTokenCount")
        output = _count(told, "candidatesTokenCount") + _count(told, "thoughtsTokenCount")
        prompt = _count(told, "promptTokenCount") + _count(told, "toolUsePromptTokenCount")
        return TokenCounts(max(0, prompt - cached), output, cached)
    for prompt_name, output_name in (
        ("input_tokens", "output_tokens"), ("prompt_tokens", "completion_tokens")
    ):  # fmt: skip
        details = told.get(f"{prompt_name}_details")
        if prompt_name in told and (isinstance(details, dict) or prompt_name == "prompt_tokens"):
            held = cast("Document", details) if isinstance(details, dict) else {}
            cached = _count(held, "cached_tokens")
            prompt = max(0, _count(told, prompt_name) - cached)
            return TokenCounts(prompt, _count(told, output_name), cached)
    return TokenCounts(
        _count(told, "input_tokens"),
        _count(told, "output_tokens"),
        _count(told, "cache_read_input_tokens"),
        _count(told, "cache_creation_input_tokens"),
    )


def _count(told: Document, name: str) -> int:
    value = told.get(name)
    return value if isinstance(value, int) and value > 0 else 0


def is_last(document: Document) -> bool:
    """Tell whether an event of a stream says that the answer is complete."""
    kind = str(document.get("type", ""))
    if kind in _LAST or (document.get("error")):
        return True
    used = document.get("usage")
    if isinstance(used, dict) and "prompt_tokens" in used:
        return True
    candidates = document.get("candidates")
    return "usageMetadata" in document and (
        not candidates or any(_has_reason(item) for item in cast("list[Any]", candidates))
    )


def _has_reason(candidate: Any) -> bool:
    return isinstance(candidate, dict) and bool(cast("Document", candidate).get("finishReason"))


def keep_inside(dialect: Dialect, body: Document) -> list[str]:
    """Take out of a request what would make the provider act for the agent outside the workspace;
    what was taken out. Also has streamed chat completions tell their tokens."""
    taken = [name for name in sorted(_REACHING_FIELDS & body.keys()) if body[name]]
    for name in taken:
        del body[name]
    taken += _sift(dialect, body)
    if "tools" in body and not body["tools"]:
        for name in ("tools", "tool_choice"):
            body.pop(name, None)
    said = body.get("input")
    for item in cast("list[Any]", said) if isinstance(said, list) else []:
        if isinstance(item, dict):
            taken += _sift(dialect, cast("Document", item))
    if body.get("stream") is True and "messages" in body and dialect is Dialect.OPENAI:
        body["stream_options"] = {"include_usage": True}
    return taken


def _sift(dialect: Dialect, holder: Document) -> list[str]:
    """Take hosted tools out of the list of tools of a request, of an item of its input, or of a
    group of tools; what was taken out."""
    tools = holder.get("tools")
    if not isinstance(tools, list):
        return []
    kept: list[Any] = []
    taken: list[str] = []
    for tool in cast("list[Any]", tools):
        reason = _reaches(dialect, tool)
        if reason:
            taken.append(reason)
            continue
        if dialect is not Dialect.GEMINI:
            taken += _sift(dialect, cast("Document", tool))
        kept.append(tool)
    holder["tools"] = kept
    return taken


def _reaches(dialect: Dialect, tool: Any) -> str:
    if not isinstance(tool, dict):
        return "a tool that is no object"
    told = cast("Document", tool)
    if dialect is Dialect.GEMINI:
        other = sorted(told.keys() - {"functionDeclarations", "function_declarations"})
        return other[0] if other else ""
    kind = told.get("type", "custom")
    return "" if isinstance(kind, str) and _LOCAL_TOOLS.fullmatch(kind) else str(kind)


def address_in(value: Any) -> str:
    """The first document or picture that a request wants the provider to fetch; empty if none."""
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting += cast("list[Any]", item)
        elif isinstance(item, dict):
            held = cast("Document", item)
            address = _address(held)
            if address:
                return address
            waiting += held.values()
    return ""


def _address(held: Document) -> str:
    kind = held.get("type")
    candidates: list[Any] = []
    if kind == "url":
        candidates.append(held.get("url"))
    if kind in ("input_image", "input_file", "image_url", "file"):
        picture = held.get("image_url")
        inner = cast("Document", picture).get("url") if isinstance(picture, dict) else picture
        candidates += [inner, held.get("file_url")]
    for name in ("fileData", "file_data"):
        if isinstance(held.get(name), dict):
            document = cast("Document", held[name])
            candidates += [document.get("fileUri"), document.get("file_uri")]
    for value in candidates:
        if isinstance(value, str) and not value.startswith("data:"):
            return value
    return ""
