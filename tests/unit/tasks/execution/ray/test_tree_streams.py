"""Connections beside each other: what nobody reads fills its own window and stops no other."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable

import pytest

from .local_supervisor import LocalSupervisor
from .test_remote_tree import printed, remote

pytestmark = pytest.mark.slow

UNREAD_BYTES = 64 << 20
UNREAD = """
import socket
unread = socket.create_connection(("127.0.0.1", 8080))
unread.sendall(b"u")
assert unread.recv(1) == b"u"
def ask():
    with socket.create_connection(("127.0.0.1", 8080)) as link:
        link.sendall(b"q")
        print("answered", link.recv(16), flush=True)
for _ in range(3):
    ask()
print("left", sum(len(part) for part in iter(lambda: unread.recv(1 << 16), b"")) + 1, flush=True)
"""
UNHEARD = """
import socket, threading
def pour():
    with socket.create_connection(("127.0.0.1", 8080)) as link:
        link.sendall(b"u" * (64 << 20))
thread = threading.Thread(target=pour)
thread.start()
for _ in range(3):
    with socket.create_connection(("127.0.0.1", 8080)) as link:
        link.sendall(b"q")
        print("answered", link.recv(16), flush=True)
thread.join()
print("poured", flush=True)
"""
BROKEN = """
import socket
try:
    with socket.create_connection(("127.0.0.1", 8080)) as link:
        link.sendall(b"x" * (16 << 20))
except OSError:
    pass
print("free", flush=True)
"""
MANY = """
import socket
held = [socket.create_connection(("127.0.0.1", 8080)) for _ in range(300)]
held[0].sendall(b"q")
print("answered", held[0].recv(16), flush=True)
for one in held[:200]:
    one.close()
held[-1].sendall(b"q")
print("answered", held[-1].recv(16), flush=True)
"""


class Server:
    """Serves the port of a tree, one thread for each connection, by its first byte."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.sent = 0
        self.read = 0
        self.go_on = threading.Event()
        """Set when what was not read is to be read."""
        self.heard = threading.Event()
        """Set when a connection that was read late has ended."""
        self.ways: dict[bytes, Callable[[socket.socket], None]] = {
            b"q": lambda link: link.sendall(b"yes"),
            b"u": self._send,
        }
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(link,), daemon=True).start()

    def _answer(self, link: socket.socket) -> None:
        with link, contextlib.suppress(OSError):  # the end of a tree cuts what it did not read
            first = link.recv(1)
            if first in self.ways:
                self.ways[first](link)

    def _send(self, link: socket.socket) -> None:
        while self.sent < UNREAD_BYTES:
            self.sent += link.send(b"u" * min(1 << 16, UNREAD_BYTES - self.sent))

    def hear_late(self, link: socket.socket) -> None:
        """Read nothing before it is told to."""
        self.go_on.wait(600)
        try:
            while part := link.recv(1 << 16):
                self.read += len(part)
        finally:
            self.heard.set()


def outputs(tree_stdout: int) -> list[str]:
    return printed(tree_stdout).decode().splitlines()


def lines_of(pipe: int, count: int) -> list[bytes]:
    """So many lines of a pipe, once they are there."""
    found = b""
    while found.count(b"\n") < count:
        part = os.read(pipe, 1 << 12)
        assert part, found
        found += part
    return found.splitlines()


def test_a_connection_that_its_agent_does_not_read_stalls_no_other_and_loses_nothing() -> None:
    with remote(LocalSupervisor(), "/usr/bin/env", "python3", "-c", UNREAD) as tree:
        server = Server(tree.listeners[0])
        assert tree.wait(timeout_s=300), "its other connections wait for the one that is not read"
        said = outputs(tree.stdout)
        assert said == ["answered b'yes'"] * 3 + [f"left {UNREAD_BYTES}"]
        assert server.sent == UNREAD_BYTES


def test_what_is_not_read_waits_where_it_comes_from() -> None:
    line = UNREAD.replace('print("left"', 'import time; time.sleep(600); print("left"')
    with remote(LocalSupervisor(), "/usr/bin/env", "python3", "-c", line) as tree:
        server = Server(tree.listeners[0])
        assert lines_of(tree.stdout, 3) == [b"answered b'yes'"] * 3
        before = -1
        while before != server.sent:
            before = server.sent
            assert not tree.wait(timeout_s=2.0)
        assert server.sent < UNREAD_BYTES / 4


def test_a_connection_that_nobody_serves_stalls_no_other() -> None:
    with remote(LocalSupervisor(), "/usr/bin/env", "python3", "-c", UNHEARD) as tree:
        server = Server(tree.listeners[0])
        server.ways[b"u"] = server.hear_late
        assert lines_of(tree.stdout, 3) == [b"answered b'yes'"] * 3
        assert server.read == 0
        server.go_on.set()
        assert tree.wait(timeout_s=300)
        assert server.heard.wait(300)
        assert server.read == (64 << 20) - 1


def test_whoever_sends_to_a_connection_that_broke_is_set_free() -> None:
    with remote(LocalSupervisor(), "/usr/bin/env", "python3", "-c", BROKEN) as tree:
        Server(tree.listeners[0])
        assert tree.wait(timeout_s=300)
        assert outputs(tree.stdout) == ["free"]


def test_connections_beyond_the_limit_wait_for_the_end_of_others() -> None:
    with remote(LocalSupervisor(), "/usr/bin/env", "python3", "-c", MANY) as tree:
        Server(tree.listeners[0])
        assert tree.wait(timeout_s=300)
        assert outputs(tree.stdout) == ["answered b'yes'"] * 2
