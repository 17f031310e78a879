"""The first process inside bubblewrap, outside of it (`tests/conformance` runs it inside)."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

from unhack.sandbox.guest.server import fork_server, single_job
from unhack.sandbox.rootfs import interpreter

SOURCE = str(Path(single_job.__file__).parents[4])


def start(config: dict[str, object]) -> tuple[bytes, int]:
    """What the guest says to a configuration, and its exit code."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    host = os.pidfd_open(os.getpid())
    code = (
        f"import sys; sys.path.insert(0, {SOURCE!r}); "
        f"from unhack.sandbox.guest.server.single_job import main; main({theirs.fileno()}, {host})"
    )
    with ours, theirs:
        guest = subprocess.Popen(
            [interpreter(), "-S", "-s", "-P", "-B", "-c", code], pass_fds=[theirs.fileno(), host]
        )
        theirs.close()
        os.close(host)
        ours.send(json.dumps(config).encode())
        said = ours.recv(4096)
        return said, guest.wait()


def test_a_guest_that_cannot_be_prepared_says_why_and_ends() -> None:
    config = {"kind": "function", "role": "candidate", "sites": [], "fds": {}}
    said, code = start({**config, "preload": ["no_such_module"]})
    assert said[:1] == fork_server.FAILED
    assert b"No module named 'no_such_module'" in said
    assert code == 1


def test_each_message_is_told_apart_by_its_first_byte() -> None:
    kinds = [single_job.STARTED, fork_server.READY, fork_server.FAILED, fork_server.ENDED]
    assert len({kind[:1] for kind in kinds}) == len(kinds)
