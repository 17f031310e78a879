"""bubblewrap, `bwrap --unshare-all python -I -S` per completion: the common home-made sandbox.

Read-only system folders and the interpreter's prefix, no /proc, no /dev, no network. The asserts
run in the candidate's process; the exit status is the verdict.
"""

from __future__ import annotations

import subprocess
import sys

from peer_case import ISOLATED_PYTHON, TIMEOUT_S, Case
from peer_common import Peer, in_threads, main

SANDBOX = (
    *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"),
    *("--cap-drop", "ALL", "--ro-bind", "/usr", "/usr", "--ro-bind-try", "/lib", "/lib"),
    *("--ro-bind-try", "/lib64", "/lib64", "--tmpfs", "/tmp"),
)


def version() -> str:
    out = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=True)
    return out.stdout.split()[-1]


def score(case: Case, n: int, workers: int) -> int:
    prefix = sys.base_prefix
    command = [*SANDBOX, "--ro-bind", prefix, prefix, *ISOLATED_PYTHON, case.program]

    def one() -> bool:
        done = subprocess.run(command, check=False, capture_output=True, timeout=TIMEOUT_S)
        return done.returncode == 0

    return in_threads(one, n, workers=workers)


if __name__ == "__main__":
    main(Peer("bwrap", "", "bwrap: all namespaces, read-only root", score, version=version))
