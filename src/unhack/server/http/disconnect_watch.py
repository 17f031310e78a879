"""The disconnect watch: work that nobody needs once its client has hung up ends then.

Covered: requests whose body has been read, on connections that tell of their end.
Not covered: a client that is gone without a word; its work goes on to its own limits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

T = TypeVar("T")


async def until_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled when the client hangs up.

    Raises ClientDisconnect then, and what `work` raises.
    """
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_wait_for_disconnect(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
