"""One request to an endpoint, through its provider's client: a body, or the reason for none.

Covered: OpenAI's chat completions and what speaks like them, Anthropic's messages; replies that
never end; servers that know the limit of output by its older name.
Not covered: retries and the cap, which are `model`'s; streaming, tools and images.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from unhack.agents.language_models.endpoint import Endpoint
from unhack.agents.language_models.replies import (
    ModelError,
    Trouble,
    asked_wait_s,
    trouble_of_status,
)
from unhack.core.errors import UsageError

_NO_KEY = "none"
"""Both clients insist on a key; servers of one's own often have none."""
_SHORTEST_SECRET = 8
"""Shorter ones are placeholders, and pieces of words."""
_NOT_REACHED = ("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol")
"""Errors of the transport below the clients, after which no server has read the request."""
_SHOWN = 300


class EndpointClient:
    """Sends requests to one endpoint, each once. May be used from any thread."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Raises UsageError when the provider's client is not installed."""
        self.endpoint = endpoint
        self._sdk = _client_module(endpoint.protocol)
        self._cap_word = "max_completion_tokens"

    def send(self, system: str, turns: list[dict[str, str]], *, within_s: float) -> bytes:
        """The body of the answer, which is waited for at most `within_s` seconds.

        Raises ModelError.
        """
        try:
            return _wait(lambda: self._send(system, turns), within_s)
        except Exception as error:
            raise self._trouble(error) from None

    def without_key(self, text: str) -> str:
        """The text without the endpoint's key."""
        key = self.endpoint.key
        return text.replace(key, "[key]") if len(key) >= _SHORTEST_SECRET else text

    def _send(self, system: str, turns: list[dict[str, str]]) -> bytes:
        point = self.endpoint
        options: dict[str, Any] = {
            "api_key": point.key or _NO_KEY,
            "base_url": point.base_url,
            "timeout": point.timeout_s,
            "max_retries": 0,  # each try has to be paid for before it is sent
        }
        request: dict[str, Any] = {"model": point.model, "messages": turns}
        if point.protocol == "anthropic":
            with self._sdk.Anthropic(**options) as client:
                create = client.messages.with_raw_response.create
                response = create(**request, system=system, max_tokens=point.max_output_tokens)
                return response.http_response.content
        request["messages"] = [{"role": "system", "content": system}, *turns]
        with self._sdk.OpenAI(**options) as client:
            create = client.chat.completions.with_raw_response.create
            word = self._cap_word
            try:
                response = create(**request, **{word: point.max_output_tokens})
            except (self._sdk.BadRequestError, self._sdk.UnprocessableEntityError) as error:
                # Older servers know it by its older name only.
                if word not in str(error) or word == "max_tokens":
                    raise
                self._cap_word = "max_tokens"
                response = create(**request, max_tokens=point.max_output_tokens)
            return response.http_response.content

    def _trouble(self, error: Exception) -> ModelError:
        """The client's error as a ModelError, without the key."""
        sdk, text = self._sdk, " ".join(self.without_key(str(error)).split())[:_SHOWN]
        reached = type(error.__cause__).__name__ not in _NOT_REACHED
        if isinstance(error, TimeoutError | sdk.APITimeoutError):
            return ModelError(Trouble.TIMEOUT, text, reached=reached)
        if isinstance(error, sdk.APIStatusError):
            code = int(getattr(error, "status_code", 0))
            reason = trouble_of_status(code)
            response: Any = getattr(error, "response", None)
            wait_s = asked_wait_s(response.headers) if response is not None else None
            return ModelError(reason, text, wait_s=wait_s)
        if isinstance(error, sdk.APIConnectionError):
            where = urlsplit(self.endpoint.base_url)
            text = f"{text} {where.hostname} {where.port or ''}"
            return ModelError(Trouble.UNREACHABLE, text, reached=reached)
        return ModelError(Trouble.MALFORMED, f"{type(error).__name__}: {text}")


def _client_module(protocol: str) -> Any:
    try:
        if protocol == "anthropic":
            import anthropic

            return anthropic
        import openai

        return openai
    except ImportError:
        raise UsageError(
            f"the package {protocol} is not installed: pip install '.[llm]' in a checkout of unhack"
        ) from None


def _wait(send: Callable[[], bytes], within_s: float) -> bytes:
    """Run `send` in a thread: its result or error; TimeoutError after `within_s` seconds.

    A server that sends a byte now and then never trips the client's own limit.
    """
    box: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            box.put(send())
        except Exception as error:
            box.put(error)

    threading.Thread(target=work, daemon=True, name="unhack-model").start()
    try:
        found = box.get(timeout=max(within_s, 0.0))
    except queue.Empty:
        raise TimeoutError(f"no reply within {within_s:.0f} seconds") from None
    if isinstance(found, Exception):
        raise found
    return found
