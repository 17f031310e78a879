"""The start of an interpreter that becomes a guest: a fork server, or process 1 of a process tree.

Covered: nothing of the host is inherited but two sockets: the environment is replaced, every other
descriptor is closed, the process gets a session of its own.
Not covered: isolation, which the guest builds itself (`server.fork_server`, `server.init`).
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from unhack.sandbox.rootfs import interpreter

PACKAGE_PATH = str(Path(__file__).resolve().parents[2])
"""The directory that holds the package."""
_CODE = (
    "import os; a, b = os.dup({first}), os.dup({second}); os.dup2(a, 3); os.dup2(b, 4); "
    "os.closerange(5, 1 << 20); import sys; sys.path.insert(0, {source!r}); "
    "from {module} import main; main()"
)


class HasFileno(Protocol):
    """A socket or a file."""

    def fileno(self) -> int:
        """Its descriptor."""
        ...


def start_guest(
    module: str, first: HasFileno, second: HasFileno, *, environ: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start `main()` of a module of the package, with sockets or files as descriptors 3 and 4.

    Raises OSError when no process can be made.
    """
    fds = (first.fileno(), second.fileno())
    code = _CODE.format(first=fds[0], second=fds[1], source=PACKAGE_PATH, module=module)
    return subprocess.Popen(
        [interpreter(), "-S", "-s", "-P", "-B", "-c", code],
        env=dict(environ),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=fds,
        start_new_session=True,
    )
