"""The tunnel for agents that have no base address: only its hosts, only its port."""

from __future__ import annotations

import socket
import threading

import pytest

from unhack.agents.proxy.tunnel import Tunnel


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("api2.cursor.sh", 443, True),
        ("API2.Cursor.SH", 443, True),
        ("api2.cursor.sh", 22, False),
        ("cursor.sh.evil.com", 443, False),
        ("evilcursor.sh", 443, False),
        ("169.254.169.254", 443, False),
        ("", 443, False),
    ],
)
def test_only_its_hosts_and_port_can_be_reached(host: str, port: int, allowed: bool) -> None:
    assert Tunnel(("*.cursor.sh",)).allows(host, port) is allowed


def ask(address: tuple[str, int], request: bytes, more: bytes = b"") -> bytes:
    with socket.create_connection(address, timeout=10) as client:
        client.sendall(request)
        head = client.recv(4096)
        if more and b" 200 " in head:
            client.sendall(more)
            head += client.recv(4096)
        return head


def test_bytes_pass_both_ways_to_a_host_that_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as there, socket.create_server(
        ("127.0.0.1", 0)
    ) as listener:  # fmt: skip

        def echo() -> None:
            link, _ = there.accept()
            with link:
                link.sendall(link.recv(100).upper())

        threading.Thread(target=echo, daemon=True).start()
        port = there.getsockname()[1]
        with Tunnel(("localhost",), port=port) as tunnel:
            tunnel.serve(listener)
            request = f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode()
            answer = ask(listener.getsockname(), request, b"hello")
            refused = ask(listener.getsockname(), b"CONNECT other:443 HTTP/1.1\r\n\r\n")
            plain = ask(listener.getsockname(), b"GET http://localhost/ HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"HELLO")
    assert refused.startswith(b"HTTP/1.1 403 ")
    assert plain.startswith(b"HTTP/1.1 403 ")
    assert tunnel.reached == {"localhost": 1, "!other": 1, "!": 1}
