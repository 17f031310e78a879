"""The frame of a request: one that two servers could cut in two ways is refused before it is read.

A proxy that goes by Content-Length, before a server that goes by Transfer-Encoding, would take the
rest of one client's request for the beginning of the next one's.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from unhack.server.http.problems import RequestRefused

_ONCE = (b"host", b"authorization", b"content-length", b"transfer-encoding")


class OneFrame:
    """ASGI middleware: 400, and the end of the connection, for an ambiguous request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http":
            names = [name for name, _ in scope["headers"]]
            both = b"content-length" in names and b"transfer-encoding" in names
            twice = next((name.decode() for name in _ONCE if names.count(name) > 1), None)
            if both or twice:
                words = f"{twice} stands twice in the head of the request"
                if both:
                    words = "Content-Length and Transfer-Encoding together; send one of them"
                headers = {"Connection": "close"}
                refused = RequestRefused(400, "ambiguous", words, headers=headers)
                await refused.reply()(scope, receive, send)
                return
        await self._app(scope, receive, send)
