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
from starlette.responses import Response

from unhack.core.errors import UnhackError
from unhack.server.http.events import Events
from unhack.server.pages.run_folders import found_run
from unhack.server.pages.training_runs import KIND, has_ended, run_parts
from unhack.server.pages.view import page_router, view_of
from unhack.training.run.folder import LOGS, RUN

router = page_router()
_STREAM_S, _EVERY_S = 20.0, 1.0
_ANEW_MS = 1000
"""After which a browser asks anew."""


@router.get("/run-events/{run:path}")
async def run_events(request: Request) -> Response:
    """A training run as it goes on."""
    run = await run_in_threadpool(found_run, view_of(request), KIND)
    view = view_of(request)
    close = view.service.limits.open_stream(view.caller.tenant_id)
    return Events(_follow(request, run.path, run.name), close=close)


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
