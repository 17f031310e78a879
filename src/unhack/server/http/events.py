"""Server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse


class Events(StreamingResponse):
    """A stream of events, which nothing on the way keeps."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[str | bytes]) -> None:
        super().__init__(events, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
