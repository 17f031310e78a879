"""Runs a Python script alone: in pid, mount and ipc namespaces of its own, as any uid.

    python stage.py UID SCRIPT [ARGUMENT ...]

Inside, /tmp, /var/tmp and /dev/shm are empty and private, /proc shows nothing but the script's own
processes, and the first process does nothing but reap. So whatever is left there afterwards was
left by the script. UID 0 stays root; another one is a user without any privilege, for whom
interpreter and sources are made reachable where a closed folder hides them.

Covered: root. An ordinary user runs the script as it is; `launch` decides.
Not covered: a seal. The script is trusted; it starts the sandbox that is under test.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from control_stage import (
    CLONE_NEWIPC,
    CLONE_NEWNS,
    CLONE_NEWPID,
    MS_BIND,
    MS_PRIVATE,
    MS_REC,
    PR_SET_PDEATHSIG,
    check,
    libc,
    mount,
)

HERE = Path(__file__).parent
PRIVATE_PLACES = ("/tmp", "/var/tmp", "/dev/shm")
USER = 61234
"""A uid that nobody has."""


def lay_out(paths: list[Path]) -> None:
    """The private mounts; `paths` stay reachable, where they were, for everybody.

    A folder above one of them that is closed to others is covered by an open and empty one.
    """
    os.umask(0o022)
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    mount("proc", "/proc", "proc", 0)
    held = {path: os.open(path, os.O_PATH) for path in {path.resolve() for path in paths}}
    covered = {
        Path(place): "mode=1777,size=512m" for place in PRIVATE_PLACES if Path(place).is_dir()
    }
    for path in held:
        if not any(path.is_relative_to(place) for place in covered):
            closed = [parent for parent in reversed(path.parents) if not parent.stat().st_mode & 1]
            covered |= dict.fromkeys(closed[:1], "mode=755,size=1m")
    for place, options in covered.items():
        mount("tmpfs", str(place), "tmpfs", 0, options)
    for path, handle in held.items():
        if any(path.is_relative_to(place) for place in covered):
            path.mkdir(parents=True, exist_ok=True)
            mount(f"/proc/self/fd/{handle}", str(path), "", MS_BIND | MS_REC)
        os.close(handle)


def become(uid: int) -> None:
    """Drop every privilege for good."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def reap_until(child: int) -> int:
    """Be the first process: collect whatever ends, and tell how `child` did."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status) & 0xFF


def fork_into(function: Callable[[], int]) -> int:
    """Run `function` in a child; its exit code."""
    child = os.fork()
    if child == 0:
        code = 97
        try:
            check(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "pdeathsig")
            code = function()
        finally:
            os._exit(code)
    return reap_until(child)


def main() -> int:
    """Enter the namespaces; the exit code is the script's."""
    uid = int(sys.argv[1])
    # Not the virtual environment's link, which may lie in a place that gets covered.
    words = [os.path.realpath(sys.executable), *sys.argv[2:]]
    paths = [Path(sys.base_prefix), *map(Path, os.environ["PYTHONPATH"].split(":")), HERE]

    def run_script() -> int:
        if uid:
            become(uid)
        os.execv(words[0], words)

    def be_first() -> int:
        lay_out(paths)
        return fork_into(run_script)

    os.environ["UNHACK_ESCAPE_PRIVATE"] = "1"
    check(libc.unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC), "unshare")
    return fork_into(be_first)


@functools.cache
def interpreter_for(uid: int) -> str:
    """The interpreter of this process; for another user the system's, where it is as new."""
    system = "/usr/bin/python3"
    if uid == os.getuid() or not os.path.exists(system):
        return sys.executable
    probe = "import sys; print(sys.version_info[:2])"
    done = subprocess.run([system, "-I", "-c", probe], capture_output=True, text=True, check=False)
    return system if done.stdout.strip() == str(sys.version_info[:2]) else sys.executable


def launch(
    script: str, *arguments: str, uid: int, timeout_s: float, show_errors: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a script of this folder as `uid`, alone where root starts it.

    `show_errors` lets its stderr through. Raises subprocess.TimeoutExpired, after the end of
    everything that it started.
    """
    import unhack

    sources = [str(Path(unhack.__file__).parents[1])]
    sources += [path for path in sys.path if path.endswith("-packages")]
    environ = {**os.environ, "PYTHONPATH": ":".join(sources), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [str(HERE / script), *arguments]
    if os.getuid() == 0:
        words = [str(HERE / "stage.py"), str(uid), *words]
    process = subprocess.Popen(
        [interpreter_for(uid), *words],
        env=environ,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if show_errors else subprocess.PIPE,
        text=True,
    )
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=10)
        raise
    return subprocess.CompletedProcess(words, process.returncode, out, err or "")


def launch_json(
    script: str, *arguments: str, uid: int, timeout_s: float, show_errors: bool = False
) -> dict[str, Any]:
    """The last line that the script prints, as JSON. Raises RuntimeError when it has none."""
    try:
        done = launch(script, *arguments, uid=uid, timeout_s=timeout_s, show_errors=show_errors)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{script} was not done after {timeout_s} s") from None
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        raise RuntimeError(f"{script} ended with code {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(lines[-1])


if __name__ == "__main__":
    sys.exit(main())
