"""Requests and replies of both clients: sent, read, raised with the server's words, or sent again.

Covered: 429, 503 and 507 are asked again after the server's `Retry-After`; what cannot be done
twice is asked again only where the server said that it did nothing; a server of another version is
named where it does not understand, or is not understood.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from importlib.metadata import version
from typing import Any, Protocol, cast

import httpx

from unhack.server.client.calls import Reply, ServerCall, TextReply
from unhack.server.client.service_error import ServiceError

VERSION = "Unhack-Version"
"""The header in which a server tells its version."""
_AGAIN = (429, 503, 507)
_NOT_UNDERSTOOD = (404, 405, 422)
_LONGEST_WAIT_S = 60.0
_FIRST_WAIT_S = 0.5


def wait_before(
    call: ServerCall[Any], reply: httpx.Response | None, *, tried: int, tries: int
) -> float | None:
    """Seconds to wait before the call is sent again; None where it is not. `reply` is None where
    none came."""
    if tried >= tries:
        return None
    wait = min(_FIRST_WAIT_S * 2**tried, _LONGEST_WAIT_S)
    if reply is None:
        return wait if call.repeatable else None
    if reply.status_code not in _AGAIN:
        return None
    asked = reply.headers.get("retry-after", "")
    return min(float(asked), _LONGEST_WAIT_S) if asked.isdecimal() else wait


def read(call: ServerCall[Reply], reply: httpx.Response) -> Reply:
    """The reply as its model. Raises ServiceError."""
    check(reply)
    if issubclass(call.reply, TextReply):
        return cast("Reply", TextReply(text=reply.text))
    try:
        return call.reply.model_validate(reply.json())
    except ValueError as error:
        words = f"the server's reply is not what this client knows{_versions(reply)}: {error}"
        raise ServiceError(words, status=reply.status_code, code="reply") from None


def check(reply: httpx.Response) -> None:
    """Raise ServiceError for a reply that is an error; its body must be read by now."""
    if reply.is_success:
        return
    told: dict[str, Any] = {}
    other = _versions(reply) if reply.status_code in _NOT_UNDERSTOOD else ""
    try:
        body: Any = reply.json()
        told = body["error"]
        message = str(told["message"])
    except (ValueError, KeyError, TypeError):
        message = f"the server answered {reply.status_code}: {reply.text[:200]}"
        told = {}
    raise ServiceError(
        message + other,
        status=reply.status_code,
        code=str(told.get("code", "")),
        field=str(told.get("field", "")),
    )


def _versions(reply: httpx.Response) -> str:
    """The remark where server and client do not understand each other."""
    ours, theirs = version("unhack"), reply.headers.get(VERSION, "")
    if theirs == ours:
        return ""
    name = f"unhack {theirs[:40]}" if theirs else "no unhack, or an older one"
    return f" (the server is {name}, this client is of unhack {ours})"


def unreachable(error: httpx.TransportError) -> ServiceError:
    """The error of a server that did not answer."""
    return ServiceError(f"no reply from the server: {error or type(error).__name__}")


def line_of(text: str) -> dict[str, Any]:
    """A line of a stream. Raises ServiceError for one that is an error."""
    found: dict[str, Any] = json.loads(text)
    told = found.get("error")
    if isinstance(told, dict):
        words = cast("dict[str, Any]", told)
        raise ServiceError(str(words.get("message")), code=str(words.get("code")))
    return found


class Transport(Protocol):
    """The connections of a client, on an event loop or without one."""

    async def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        """The whole reply. Raises httpx.TransportError."""
        ...

    def lines(self, method: str, url: str, **options: Any) -> AsyncGenerator[str]:
        """The lines of a reply as they come. Raises ServiceError, httpx.TransportError."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class AsyncTransport:
    """On an event loop."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        """The whole reply."""
        return await self._http.request(method, url, **options)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def lines(self, method: str, url: str, **options: Any) -> AsyncGenerator[str]:
        """The lines of a reply as they come."""
        async with self._http.stream(method, url, **options) as reply:
            if not reply.is_success:
                await reply.aread()
                check(reply)
            async for line in reply.aiter_lines():
                yield line


class BlockingTransport:
    """Without an event loop: nothing here suspends, so a coroutine runs through at one `send`."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    async def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        """The whole reply."""
        return self._http.request(method, url, **options)

    async def lines(self, method: str, url: str, **options: Any) -> AsyncGenerator[str]:
        """The lines of a reply as they come."""
        with self._http.stream(method, url, **options) as reply:
            if not reply.is_success:
                reply.read()
                check(reply)
            for line in reply.iter_lines():
                yield line

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    async def close(self) -> None:
        """Close the connections."""
        self._http.close()
