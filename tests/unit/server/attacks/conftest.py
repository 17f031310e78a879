"""A server in a thread, on a socket, for requests that no client library would send."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from unhack.server.http.connection import BoundedConnection
from unhack.server.running import DrainingServer, config_of, listen
from unhack.server.service import Service

Sender = Callable[[bytes], bytes]
_HANG_S = 60.0


@pytest.fixture
def short_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heads have a second. Only for what sends none in time anyway: a busy client needs longer."""
    monkeypatch.setattr(BoundedConnection, "head_s", 1.0)


@pytest.fixture
def port(service: Service) -> Iterator[int]:
    """The port of a server that listens."""
    listener = listen("127.0.0.1", 0)
    server = DrainingServer(config_of(service), service=service, drain_s=1.0)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()


@pytest.fixture
def send(port: int) -> Sender:
    """Send bytes as they are; what comes back until the server hangs up, which it must."""

    def sent(data: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.settimeout(_HANG_S)
            found = b""
            try:
                connection.sendall(data)
                while part := connection.recv(1 << 16):
                    found += part
            except TimeoutError:
                return found + b"<open>"
            except (BrokenPipeError, ConnectionResetError):
                pass
            return found + b"<closed>"

    return sent
