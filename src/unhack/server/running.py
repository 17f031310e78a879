"""A server process: uvicorn, which on SIGTERM finishes what is inside before it ends.

SIGTERM or ^C: readiness turns false, new work gets 503, batches that nobody waits for stop at once,
requests inside have `drain_s` seconds; what is accepted stays for the next start. A second signal
ends it now.
"""

from __future__ import annotations

import asyncio
import resource
import socket
from types import FrameType

import uvicorn

from unhack.core.errors import UsageError
from unhack.server.app import make_app
from unhack.server.http.connection import BoundedConnection, most_connections
from unhack.server.observing.logs import begin_logs
from unhack.server.service import Service

_LAST_S = 3
"""Seconds that connections get to close once the server is drained."""


class DrainingServer(uvicorn.Server):
    """uvicorn's server with a drain before its end."""

    def __init__(self, config: uvicorn.Config, *, service: Service, drain_s: float) -> None:
        super().__init__(config)
        self._service, self._drain_s = service, drain_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._drain: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain at the first signal, end at the second."""
        if self._loop is None or self._service.connection_gate.closed.is_set():
            super().handle_exit(sig, frame)
        else:
            self._loop.call_soon_threadsafe(self._begin_drain)

    def _begin_drain(self) -> None:
        if self._drain is None:
            self._service.connection_gate.closed.set()
            self._drain = asyncio.create_task(self._drain_then_end())

    async def _drain_then_end(self) -> None:
        try:
            await self._service.scoring.leave_unwatched()
            await self._service.connection_gate.wait_until_empty(self._drain_s)
            await self._service.scoring.stop()  # streams that are left end with a word
            await self._service.connection_gate.wait_until_empty(_LAST_S)
        finally:
            self.should_exit = True


def serve(service: Service, *, host: str, port: int, drain_s: float) -> None:
    """Serve until a signal comes. Raises UsageError for an address that cannot be had."""
    begin_logs()
    _allow_connections()
    listener = listen(host, port)
    shown = f"[{host}]" if listener.family == socket.AF_INET6 else host
    print(f"unhack serves http://{shown}:{listener.getsockname()[1]}", flush=True)
    DrainingServer(config_of(service), service=service, drain_s=drain_s).run([listener])


def config_of(service: Service) -> uvicorn.Config:
    """uvicorn's settings for this app."""
    BoundedConnection.most = most_connections()
    return uvicorn.Config(
        make_app(service),
        http=BoundedConnection,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_LAST_S,
        lifespan="on",
    )


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; with port 0, one that is free. Raises UsageError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP: asyncio sends without Nagle's delay (40 ms a reply) only where it knows that.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(4096)
    except OSError as error:
        listener.close()
        raise UsageError(f"--host {host} --port {port}: {error.strerror or error}") from None
    return listener


def _allow_connections() -> None:
    """Take as many open files as the host lets us: each connection is one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
