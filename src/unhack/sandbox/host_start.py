"""The start of a further host process: an interpreter beside this one that has a pool of its own.

Covered: it does not depend on the program's main module, which it never imports; it imports from
where this process does; a terminal's signals do not reach it; it ends with this process, however
that ends, and with it go its workers.
Not covered: isolation. A host is as trusted as the process that starts it.
Sources: prctl(2), PR_SET_PDEATHSIG.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from unhack.sandbox.linux import calls
from unhack.sandbox.rootfs import interpreter

PACKAGE_PATH = str(Path(__file__).resolve().parents[2])
"""The directory that holds the package."""
_CODE = (
    "import json, sys; config = json.loads(sys.argv[1]); sys.path[:] = config['path']; "
    "from unhack.sandbox.host_start import end_with; end_with(config['parent']); "
    "from {module} import main; main(config)"
)


class HasFileno(Protocol):
    """A socket or a file."""

    def fileno(self) -> int:
        """Its descriptor."""
        ...


@dataclass(frozen=True, slots=True)
class HostProcess:
    """A further host."""

    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        """Its number."""
        return self.process.pid

    def end(self, *, within_s: float) -> None:
        """Wait so many seconds for its own end, then kill it; the kernel takes its workers."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(within_s)
        self.process.kill()
        self.process.wait()


def start_host(module: str, link: HasFileno, *, config: Mapping[str, Any]) -> HostProcess:
    """Start `main(config)` of a module of the package with a socket to it, `config["link"]`.

    The thread that calls must live as long as the host is to live. Raises OSError when no process
    can be made.
    """
    whole = {
        **config,
        "path": [*map(os.path.abspath, sys.path), PACKAGE_PATH],
        "parent": os.getpid(),
        "link": link.fileno(),
        "recursion": sys.getrecursionlimit(),
        "digits": sys.get_int_max_str_digits(),
    }
    command = [interpreter(), "-S", "-s", "-P", "-c", _CODE.format(module=module)]
    process = subprocess.Popen(
        [*command, json.dumps(whole)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[link.fileno()],
        start_new_session=True,
    )
    return HostProcess(process)


def end_with(parent: int) -> None:
    """Have the kernel kill this process when the thread that started it ends; a parent that is gone
    already is seen too."""
    calls.prctl(calls.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
