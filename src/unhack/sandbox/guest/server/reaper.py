"""A process that outlives its host by a moment, to remove the directory of its store.

Covered: a host that is killed in any way leaves no layers behind.
Not covered: the reaper being killed too; then the next host removes what is left.
"""

from __future__ import annotations

import os
import select
import shutil
import socket

from unhack.sandbox.linux import calls
from unhack.sandbox.linux.sockets import receive

CONTROL = 3


def main() -> None:
    """Entry point: the first message is the directory; the end of the socket is the host's."""
    control = socket.socket(fileno=CONTROL)
    top = os.fsdecode(receive(control.recv, 1 << 12))
    calls.prctl(calls.PR_SET_DUMPABLE, 0)
    poller = select.poll()
    poller.register(CONTROL, select.POLLIN)
    poller.poll()
    if not receive(control.recv, 16):
        remove_folder(top)
    os._exit(0)


def remove_folder(path: str) -> None:
    """Remove a directory and everything below, whatever its permission bits are."""
    if os.geteuid() != 0:
        for top, names, _ in os.walk(path):
            for name in names:
                if not os.path.islink(f"{top}/{name}"):
                    os.chmod(f"{top}/{name}", 0o700)
    shutil.rmtree(path, ignore_errors=True)
