"""A process tree that is led from another machine: what it prints, asks and leaves, and its end."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.sandbox.workspace.process_tree import ProcessTreePlan
from unhack.tasks.execution.ray.cluster import NodeLostError
from unhack.tasks.execution.ray.remote_tree import RemoteProcessTree

from .local_supervisor import LocalSupervisor

ASKS = """
import socket, sys
link = socket.create_connection(("127.0.0.1", 8080))
link.sendall(b"q" * 300_000)
link.shutdown(socket.SHUT_WR)
answer = b""
while part := link.recv(1 << 16):
    answer += part
print(len(answer), set(answer) == {97})
"""


def remote(
    supervisor: LocalSupervisor, *command: str, lost: str = "", **plan: object
) -> RemoteProcessTree:
    """A tree behind that supervisor."""
    wanted = ProcessTreePlan(disk_bytes=16 << 20, **plan)  # type: ignore[arg-type]
    actor: Any = supervisor
    return RemoteProcessTree(list(command), wanted, supervisor=actor, lost=lambda: lost)


def printed(pipe: int) -> bytes:
    """All that comes out of a pipe."""
    with os.fdopen(os.dup(pipe), "rb") as end:
        return end.read()


def outlive(tree: RemoteProcessTree) -> None:
    """Wait until it has ended, or is lost."""
    while not tree.wait(timeout_s=0.2):
        pass


def test_what_it_prints_and_leaves_and_how_it_ends_arrives() -> None:
    supervisor = LocalSupervisor()
    line = "echo out; echo err >&2; echo 42 > answer.txt; ln -s /etc/passwd link.txt; exit 3"
    with remote(supervisor, "/bin/sh", "-c", line) as tree:
        assert tree.wait(timeout_s=60)
        assert tree.exit_status is not None
        assert tree.exit_status.exit_code == 3
        assert printed(tree.stdout) == b"out\n"
        assert printed(tree.stderr) == b"err\n"
        assert tree.read(("*.txt",), max_files=4, max_bytes=100) == {"answer.txt": b"42\n"}
    assert supervisor.ended


@pytest.mark.slow
def test_a_connection_passes_whole_in_both_directions() -> None:
    supervisor = LocalSupervisor()
    got: list[int] = []

    def serve(tree: RemoteProcessTree) -> None:
        link, _ = tree.listeners[0].accept()
        with link:
            asked = 0
            while part := link.recv(1 << 16):
                asked += len(part)
            got.append(asked)
            link.sendall(b"a" * 5_000_000)

    with remote(supervisor, "/usr/bin/env", "python3", "-c", ASKS) as tree:
        server = threading.Thread(target=serve, args=(tree,), daemon=True)
        server.start()
        assert tree.wait(timeout_s=120)
        said = printed(tree.stdout)
    assert got == [300_000]
    assert said == b"5000000 True\n"


def test_its_sockets_are_in_a_folder_of_this_user_alone_and_go_with_it() -> None:
    supervisor = LocalSupervisor()
    with remote(supervisor, "/bin/sleep", "60") as tree:
        folder = Path(tree.listeners[0].getsockname()).parent
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


@pytest.mark.slow
def test_it_stands_still_while_somebody_holds_it() -> None:
    supervisor = LocalSupervisor()
    line = "while true; do echo x >> ticks; sleep 0.05; done"
    with remote(supervisor, "/bin/sh", "-c", line) as tree:

        def ticks() -> int:
            return len(tree.read(("ticks",), max_files=1, max_bytes=1 << 20).get("ticks", b""))

        while not ticks():
            assert not tree.wait(timeout_s=0.1)
        tree.freeze(holder="a")
        before = ticks()
        assert not tree.wait(timeout_s=1.0)
        assert ticks() == before
        tree.thaw(holder="a")
        while ticks() == before:
            assert not tree.wait(timeout_s=0.1)
        tree.kill()
        assert tree.wait(timeout_s=60)


def test_a_lost_machine_is_told_by_every_call_and_closing_it_is_harmless() -> None:
    supervisor = LocalSupervisor()
    with remote(supervisor, "/bin/sleep", "600") as tree:
        assert not tree.wait(timeout_s=0.1)
        supervisor.lose()
        with pytest.raises(NodeLostError, match="died with its node"):
            outlive(tree)
        with pytest.raises(NodeLostError):
            tree.read(("*",), max_files=1, max_bytes=1)
        with pytest.raises(NodeLostError):
            tree.freeze()
        tree.thaw()
        tree.kill()


@pytest.mark.slow
def test_a_machine_that_is_given_up_is_lost_though_its_call_never_ends() -> None:
    supervisor = LocalSupervisor()
    with (
        pytest.raises(NodeLostError, match="no answer for 90 s"),
        remote(supervisor, "/bin/sleep", "600", lost="no answer for 90 s") as tree,
    ):
        outlive(tree)


def test_a_tree_that_cannot_begin_there_says_why_and_is_no_loss() -> None:
    supervisor = LocalSupervisor()
    with (
        pytest.raises(UsageError, match="nowhere"),
        remote(supervisor, "/bin/true", binds=(("/nowhere", "/opt/nowhere"),)),
    ):
        pass
    assert supervisor.ended
