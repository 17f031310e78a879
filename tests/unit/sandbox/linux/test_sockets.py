"""The last words of an end that closed with bytes unread, and its end after them."""

from __future__ import annotations

import ast
import socket

import pytest
from tests.quality.source_roots import modules_of, source_roots

from unhack.sandbox.linux.sockets import receive

READS = {"recv", "recv_into", "recvmsg", "recvmsg_into", "recvfrom", "recv_fds"}
OWN_ANSWER = {
    "unhack/agents/proxy/tunnel.py": "connections of TCP, which a reset ends both ways",
    "unhack/sandbox/guest/candidate/kernel.py": "a candidate, whose judge is gone",
    "unhack/sandbox/pool/pool.py": "reads again after a reset, without a call for each report",
    "unhack/sandbox/submission/compute.py": "a stream: a reset is an end",
    "unhack/tasks/execution/ray/tree_streams.py": "a stream: a reset is an end",
    "unhack_contests/kernels/gpu/guest/worker.py": "a candidate, whose judge is gone",
    "unhack_contests/quantization/tensors/guest/stage_one.py": "a candidate",
}
"""Files that read sockets by themselves, and why."""


def closed_with_bytes_unread(kind: int) -> socket.socket:
    """One end of a pair whose other end said two words, left one unread, and closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    ours.setblocking(False)
    with theirs:
        theirs.send(b"last")
        theirs.send(b"words")
        ours.send(b"unread")
    return ours


@pytest.mark.parametrize("kind", [socket.SOCK_SEQPACKET, socket.SOCK_STREAM])
def test_an_end_that_left_bytes_unread_is_heard_to_its_last_word(kind: int) -> None:
    with closed_with_bytes_unread(kind) as ours:
        said = [receive(ours.recv, 5) for _ in range(3)]
    assert b"".join(said) == b"lastwords"
    assert said[-1] == b""


def test_what_comes_beside_a_message_is_received_with_it() -> None:
    with closed_with_bytes_unread(socket.SOCK_SEQPACKET) as ours:
        assert receive(socket.recv_fds, ours, 64, 1)[0] == b"last"
        assert receive(ours.recvmsg, 64, 64)[0] == b"words"
        assert receive(ours.recvmsg, 64, 64)[0] == b""


def test_the_kernel_still_says_reset_first() -> None:
    with closed_with_bytes_unread(socket.SOCK_SEQPACKET) as ours:
        with pytest.raises(ConnectionResetError):
            ours.recv(64)
        assert ours.recv(64) == b"last"


def reading(source: str) -> bool:
    """True where a call reads a socket by itself."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in READS
        for node in ast.walk(ast.parse(source))
    )


def test_every_socket_is_read_to_its_last_word() -> None:
    found = {
        str(path.relative_to(package.parent))
        for package in source_roots()
        for path in modules_of(package)
        if any(f"{name}(" in (text := path.read_text()) for name in READS) and reading(text)
    }
    assert found == OWN_ANSWER.keys()
    assert reading("end.recv(64)")
    assert not reading("receive(end.recv, 64)")
