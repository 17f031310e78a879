"""Server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


class Events(StreamingResponse):
    """A stream of events, which nothing on the way keeps."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[str | bytes], *, close: Callable[[], None]) -> None:
        """`close` is called once, when the reply is over, also where nothing of it was sent."""
        super().__init__(events, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._close = close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._close()
