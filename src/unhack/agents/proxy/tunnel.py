"""Connections to the few hosts that an agent without a base address has to reach (CONNECT).

Covered: only names that match, only port 443, no numbers in place of names; both directions until
one side ends.
Not covered: what passes through: it is encrypted, so its cost is not metered, and the agent holds
the key itself. Source: RFC 9110, section 9.3.6.
"""

from __future__ import annotations

import contextlib
import fnmatch
import re
import select
import socket
import threading
from typing import Self

_REQUEST = re.compile(rb"CONNECT ([A-Za-z0-9.-]{1,253}):(\d{1,5}) HTTP/1\.[01]\r\n")
_MAX_HEAD = 16 << 10
_WAIT_S = 30.0
_PORT = 443
_MAX_CONNECTIONS = 64


class Tunnel:
    """Serves one listening socket on threads of its own until the block ends."""

    def __init__(self, hosts: tuple[str, ...], *, port: int = _PORT) -> None:
        self.hosts, self.port = hosts, port
        self.reached: dict[str, int] = {}
        """Connections by host name; refused ones count under `!name`."""
        self._listener: socket.socket | None = None
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._places = threading.Semaphore(_MAX_CONNECTIONS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def serve(self, listener: socket.socket) -> None:
        """Answer what connects, from now on."""
        self._listener = listener
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Accept no more, and end what is open."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(_WAIT_S)

    def allows(self, host: str, port: int) -> bool:
        """Tell whether an agent may connect there."""
        named = not host.replace(".", "").isdigit()
        matches = any(fnmatch.fnmatchcase(host.lower(), pattern) for pattern in self.hosts)
        return named and matches and port == self.port

    def _accept(self) -> None:
        assert self._listener is not None
        while not self._closing.is_set():
            if not select.select([self._listener], [], [], 0.2)[0]:
                continue
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if not self._places.acquire(blocking=False):
                client.close()
                continue
            threading.Thread(target=self._serve_one, args=(client,), daemon=True).start()

    def _serve_one(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            client.settimeout(_WAIT_S)
            head = b""
            while b"\r\n\r\n" not in head and len(head) < _MAX_HEAD:
                data = client.recv(4096)
                if not data:
                    break
                head += data
            self._open(client, head)
        self._places.release()

    def _open(self, client: socket.socket, head: bytes) -> None:
        match = _REQUEST.match(head)
        host, port = (match[1].decode(), int(match[2])) if match else ("", 0)
        if not self.allows(host, port):
            self._count(f"!{host}")
            client.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
            return
        self._count(host)
        try:
            there = socket.create_connection((host, port), timeout=_WAIT_S)
        except OSError:
            client.sendall(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
            return
        with there:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            there.sendall(head.partition(b"\r\n\r\n")[2])
            self._relay(client, there)

    def _relay(self, one: socket.socket, other: socket.socket) -> None:
        partner = {one: other, other: one}
        while not self._closing.is_set():
            for ready in select.select([one, other], [], [], 0.5)[0]:
                data = ready.recv(1 << 16)
                if not data:
                    return
                partner[ready].sendall(data)

    def _count(self, host: str) -> None:
        if len(self.reached) < 1000 or host in self.reached:
            self.reached[host] = self.reached.get(host, 0) + 1
