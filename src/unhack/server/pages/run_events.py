"""Server-sent events of a training run: its page's part again whenever a log has grown.

    event: part     the HTML as a JSON text
    event: over     the run has ended

A stream lasts for seconds, and a browser asks anew: so a server that is to end waits for none, and
a key that was revoked sees no more.

Covered: a run that begins, goes on, is cut back and ends. Not covered: news sooner than every
second.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from unhack.core.errors import UnhackError
from unhack.server.access.caller import Grant
from unhack.server.http.api_route import ApiRoute
from unhack.server.http.problems import RequestRefused
from unhack.server.pages.frame import ROOM
from unhack.server.pages.run_folders import found_run
from unhack.server.pages.sign_in import refusal
from unhack.server.pages.training_runs import KIND, has_ended, run_parts
from unhack.server.pages.view import view_of
from unhack.training.run.folder import LOGS, RUN

_STREAM_S, _EVERY_S = 20.0, 1.0
_ANEW_MS = 1000
"""After which a browser asks anew."""


async def _events(request: Request) -> Response:
    try:
        run = await run_in_threadpool(found_run, view_of(request), KIND)
    except RequestRefused as error:
        return refusal(request, error)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    stream = _follow(request, run.path, run.name)
    return StreamingResponse(stream, headers=headers, media_type="text/event-stream")


async def _follow(request: Request, folder: Path, name: str) -> AsyncIterator[bytes]:
    yield f"retry: {_ANEW_MS}\n\n".encode()
    seen = request.headers.get("last-event-id", "")
    end = asyncio.get_running_loop().time() + _STREAM_S
    while asyncio.get_running_loop().time() < end:
        now = await run_in_threadpool(_lengths, folder)
        if now != seen:
            try:
                html = await run_in_threadpool(run_parts, folder, name)
                over = await run_in_threadpool(has_ended, folder)
            except UnhackError:  # a log is being cut back; the next look sees it whole
                html, over = "", False
            if html:
                seen = now
                yield f"id: {now}\nevent: part\ndata: {json.dumps(html)}\n\n".encode()
            if over:
                yield b"event: over\ndata: \n\n"
                return
        await asyncio.sleep(_EVERY_S)


def _lengths(folder: Path) -> str:
    """A text that changes when a log grows or the run ends."""
    return "-".join(_length(folder / name) for name in (*LOGS, RUN))


def _length(path: Path) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return "0"
    return f"{found.st_size}.{found.st_mtime_ns % 10**9}"


ROUTES = (
    ApiRoute("GET", f"{ROOM}/run-events/{{run:path}}", _events, "A training run as it goes on.",
             Grant.READ, media="text/event-stream", described=False, refused=refusal),
)  # fmt: skip
