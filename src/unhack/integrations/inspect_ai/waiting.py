# pyright: basic, reportMissingImports=false
"""Waiting for a thread's future on asyncio and on trio."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")


async def result_of(future: Future[T]) -> T:
    """The result of a future, whatever loop this is; cancelled together with its caller.

    A limiter for each call: the one that all threads share lets 40 wait at a time, and a batch is
    as large as what waits.
    """
    try:
        return await anyio.to_thread.run_sync(
            future.result, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
        )
    except BaseException:
        future.cancel()
        raise
