"""A client of `unhack serve`.

    with Client("http://127.0.0.1:8000", key) as client:
        client.score("strings/knit-rows", completion).reward

Every method is one of `async_client.AsyncClient`, run to its end on connections that block.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from unhack.server.client.async_client import TIMEOUT_S, TRIES, AsyncClient
from unhack.server.client.calls import Reply, ServerCall
from unhack.server.client.exchange import BlockingTransport

P = ParamSpec("P")
T = TypeVar("T")


def _run(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never suspends."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError("a blocking connection was awaited")


def _blocking(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Client, P], T]:
    """The method of `Client` for one of `AsyncClient`."""

    @functools.wraps(method)
    def call(self: Client, *args: P.args, **kwargs: P.kwargs) -> T:
        return _run(method(self.core, *args, **kwargs))

    return call


def _streaming(
    method: Callable[Concatenate[AsyncClient, P], AsyncGenerator[T]],
) -> Callable[Concatenate[Client, P], Iterator[T]]:
    """As `_blocking`, for what comes in parts."""

    @functools.wraps(method)
    def call(self: Client, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        parts = method(self.core, *args, **kwargs)
        try:
            while True:
                try:
                    part = _run(anext(parts))
                except StopAsyncIteration:
                    return
                yield part
        finally:
            _run(parts.aclose())

    return call


class Client:
    """A client of one server and one key. Threads may share it.

    Example:

        with Client("http://localhost:8000", key) as client:
            client.score("strings/knit-rows", completion).reward
    """

    def __init__(self, url: str, key: str, *, timeout_s: float = TIMEOUT_S, tries: int = TRIES,
                 http: httpx.Client | None = None) -> None:  # fmt: skip
        """`tries` times a call is sent in all; `http` is a client of one's own."""
        transport = BlockingTransport(http or httpx.Client(timeout=timeout_s))
        self.core = AsyncClient.over(transport, url, key, tries=tries)
        """The methods, which never suspend over a blocking transport."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, call: ServerCall[Reply]) -> Reply:
        """The reply to a call. Raises ServiceError."""
        return _run(self.core.send(call))

    close = _blocking(AsyncClient.close)
    score = _blocking(AsyncClient.score)
    score_batch = _blocking(AsyncClient.score_batch)
    begin_batch = _blocking(AsyncClient.begin_batch)
    stream_batch = _streaming(AsyncClient.stream_batch)
    batch = _blocking(AsyncClient.batch)
    cancel_batch = _blocking(AsyncClient.cancel_batch)
    batches = _blocking(AsyncClient.batches)
    verdicts = _streaming(AsyncClient.verdicts)
    item = _blocking(AsyncClient.item)
    tasks = _blocking(AsyncClient.tasks)
    task = _blocking(AsyncClient.task)
    order = _blocking(AsyncClient.order)
    job = _blocking(AsyncClient.job)
    cancel_job = _blocking(AsyncClient.cancel_job)
    jobs = _blocking(AsyncClient.jobs)
    job_page = _blocking(AsyncClient.job_page)
    follow_job = _streaming(AsyncClient.follow_job)
    wait_for_job = _blocking(AsyncClient.wait_for_job)
    environments = _blocking(AsyncClient.environments)
    environment = _blocking(AsyncClient.environment)
    open_episode = _blocking(AsyncClient.open_episode)
    act = _blocking(AsyncClient.act)
    episode = _blocking(AsyncClient.episode)
    episodes = _blocking(AsyncClient.episodes)
    close_episode = _blocking(AsyncClient.close_episode)
    run_code = _blocking(AsyncClient.run_code)
    submit = _blocking(AsyncClient.submit)
    reward = _blocking(AsyncClient.reward)
    text = _blocking(AsyncClient.text)
