"""Run a command in the job's private directory, as its only child besides orphans.

This process is the first of the job's pid namespace: the kernel ends everything else when it exits.
The command holds neither the result channel nor any descriptor but 0, 1 and 2.
"""

from __future__ import annotations

import base64
import os
import stat
import time
from typing import Any

SCRATCH = "/scratch/work"


def run(job: dict[str, Any], channel: Any) -> int:
    """Write `files`, run `argv`, report its end, then send the files named in `collect`."""
    for name, item in job["files"].items():
        _write_file(name, base64.b64decode(item["data"]), item.get("mode", 0o644))
    started = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _become(job)
    status = _wait_for(pid)
    wall = time.monotonic() - started
    signal_number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
    channel.send([None, "exit", code, signal_number, round(wall, 6)])
    budget = job["collect_bytes"]
    for name in job["collect"]:
        data = _read_file(name, budget)
        if data is not None:
            budget -= len(data)
            channel.send([None, "file", name, base64.b64encode(data).decode("ascii")])
    return 0


def _become(job: dict[str, Any]) -> None:
    try:
        os.execvpe(job["argv"][0], job["argv"], job["env"])
    except (OSError, ValueError) as error:
        os.write(2, f"cannot run {job['argv'][0]}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(127)


def _wait_for(pid: int) -> int:
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            return status


def _write_file(name: str, data: bytes, mode: int) -> None:
    path = os.path.join(SCRATCH, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    os.chmod(path, mode)


def _read_file(name: str, limit: int) -> bytes | None:
    """A regular file that the command left; never through a link, never a pipe or device."""
    try:
        fd = os.open(os.path.join(SCRATCH, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        data = file.read(limit + 1)
    return data if len(data) <= limit else None
