"""Claims about requests that are cut in odd places: nothing is taken for what it is not."""

from __future__ import annotations

import logging
import socket
import time

import pytest

from unhack.server.service import Service

from .conftest import Sender

_BEHIND = b"0\r\n\r\nGET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"


def test_a_request_with_two_lengths_is_never_two_requests(send: Sender, key: str) -> None:
    head = f"POST /v1/score HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n".encode()
    both = b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    found = send(head + both + _BEHIND)
    assert found.startswith(b"HTTP/1.1 400")
    assert b'"ambiguous"' in found
    assert found.count(b"HTTP/1.1") == 1
    assert found.endswith(b"<closed>")


@pytest.mark.parametrize("name", ["Host: y", "Authorization: Bearer uh_", "Content-Length: 0"])
def test_a_header_that_decides_stands_once(send: Sender, name: str, key: str) -> None:
    head = f"GET /v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
    head += "Connection: close\r\n"
    more = f"{name}\r\nContent-Length: 0\r\n" if name.startswith("Content") else f"{name}\r\n"
    found = send(f"{head}{more}\r\n".encode())
    assert found.count(b"HTTP/1.1 200") == (1 if name.startswith("Content") else 0)
    assert found.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    "length", ["-4", "+4", "0x4", "4, 5", "4\r\nContent-Length: 5"], ids=lambda text: text[:4]
)
def test_a_length_that_is_none_ends_the_connection(send: Sender, key: str, length: str) -> None:
    head = f"POST /v1/score HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
    found = send(f"{head}Content-Length: {length}\r\n\r\nabcdGET /v1/health HTTP/1.1".encode())
    assert found.startswith(b"HTTP/1.1 400")
    assert found.count(b"HTTP/1.1") == 1
    assert found.endswith(b"<closed>")


@pytest.mark.slow
@pytest.mark.usefixtures("short_heads")
@pytest.mark.parametrize(
    "begun",
    [b"", b"GET /v1/health HTTP/1.1\r\nX: ", b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\nG"],
)
def test_a_head_that_never_ends_is_cut(send: Sender, begun: bytes) -> None:
    assert send(begun).endswith(b"<closed>")


def test_a_head_has_a_length(send: Sender) -> None:
    found = send(b"GET /v1/health HTTP/1.1\r\nX: " + b"x" * (1 << 20))
    assert found.endswith(b"<closed>")
    assert b"200 OK" not in found


def test_a_client_that_hangs_up_is_no_failure_of_the_server(
    port: int, service: Service, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    head = f"POST /v1/score HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"{head}Content-Length: 100000\r\n\r\n{{".encode())
    until = time.monotonic() + 60
    while not (found := [each for each in caplog.records if each.msg == "request"]):
        assert time.monotonic() < until
        time.sleep(0.02)
    assert [getattr(each, "status", 0) for each in found] == [499]
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert service.room.taken == 0
