"""Calls of the user's callables, on a few threads that all batches of this process share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from unhack.verifiers.base import HostCall


def run_on_host(call: HostCall, then: Callable[[Any, BaseException | None], None]) -> None:
    """Run a trusted callable without holding up the backend's thread."""

    def work() -> None:
        try:
            value = call.function()
        except BaseException as error:
            then(None, error)
        else:
            then(value, None)

    _host_threads().submit(work)


_executors: dict[int, Any] = {}


def _host_threads() -> Any:
    """A few threads, shared by all runs of this process."""
    from concurrent.futures import ThreadPoolExecutor  # loads logging; only host calls need it

    executor = _executors.get(os.getpid())
    if executor is None:
        executor = _executors[os.getpid()] = ThreadPoolExecutor(4, "unhack-host")
    return executor
