"""The log around every request: counted at the gate, measured, logged; a failure becomes a value.

Covered: replies that stream, to their end; a failure before the reply began is a 500 with a number,
one in the middle ends the connection.
"""

from __future__ import annotations

import logging
import time
from importlib.metadata import version
from urllib.parse import unquote

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unhack.server.access.caller import Caller
from unhack.server.http.problems import refusal_of
from unhack.server.service import Service

_log = logging.getLogger("unhack.server.requests")
_LONGEST_PATH = 200
_GONE = 499
"""The status in the log of a request whose client hung up before its reply."""
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


_VERSION = (b"unhack-version", version("unhack").encode())
"""With every reply, so that a client of another version knows."""


class RequestLog:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, method = time.perf_counter(), 0, str(scope["method"])
        if method == "HEAD":  # a GET, of whose reply the connection sends no body
            scope = {**scope, "method": "GET"}

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), _VERSION]}
            await send(message)

        self._service.connection_gate.enter()
        try:
            await self._app(scope, receive, note)
        except ClientDisconnect:
            status = status or _GONE  # nobody is there to be told
        except Exception as error:
            refused = refusal_of(error)
            if status:
                raise
            await refused.reply()(scope, receive, note)
        finally:
            self._service.connection_gate.leave()
            self._record(scope, method, status, time.perf_counter() - began)

    def _record(self, scope: Scope, method: str, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unknown")
        known = route != "unknown" and method in _METHODS
        label = method if known else "other"  # a client invents no label
        self._service.metrics.count_request(label, route, status, seconds)
        fields = {
            "method": method[:10],
            "path": _decoded(scope["path"])[:_LONGEST_PATH],
            "status": status,
            "ms": round(1000 * seconds, 1),
        }
        caller = scope.get("state", {}).get("caller")
        if isinstance(caller, Caller):
            fields |= {"tenant": caller.tenant, "key": caller.key_id}
        _log.info("request", extra=fields)


def _decoded(path: str) -> str:
    """The path without percent signs, so that a key that was encoded twice is seen as one."""
    for _ in range(4):
        if "%" not in path:
            break
        path = unquote(path)
    return path
