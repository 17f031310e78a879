"""Stop a whole tree of processes and set it going again.

Covered: the freezer of cgroup v2 (also where it stands beside v1), that of cgroup v1, and where
neither can be had, SIGSTOP to each process below the first one until none runs.
Not covered: a process that the kernel holds in uninterruptible sleep (`freeze` raises), but for one
that waits for its own stopped child. With
signals, a process that its own parent watches sees that it was stopped, and one that stopped itself
is set going too.
Sources: cgroups(7), vfork(2), the kernel's cgroup-v1 and cgroup-v2 documents,
proc_pid_task_children(5).
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from unhack.core.errors import SandboxError
from unhack.sandbox.linux import cgroups
from unhack.sandbox.linux.processes import children

_MOUNT = Path("/sys/fs/cgroup")
_STILL_S = 10.0
"""Longest wait until every process stands still."""
_LOOK_S = 0.002


def _own_paths() -> tuple[str, str]:
    """This process's group in the v2 hierarchy and in the v1 freezer; empty where there is none."""
    unified = freezer = ""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            if names == "":
                unified = path
            elif "freezer" in names.split(","):
                freezer = path
    return unified, freezer


def parents() -> list[tuple[Path, int]]:
    """Places where a group with a freezer can be made: (directory, version of its interface)."""
    unified, freezer = _own_paths()
    places: list[tuple[Path, int]] = []
    if unified:
        places += [(mount / unified.lstrip("/"), 2) for mount in (_MOUNT, _MOUNT / "unified")]
    if freezer:
        places.append((_MOUNT / "freezer" / freezer.lstrip("/"), 1))
    return [
        (path, version)
        for path, version in places
        if (path / "cgroup.procs").exists() and os.access(path, os.W_OK)
    ]


def _leaf(directory: Path, version: int) -> Path:
    return directory / ("cgroup.freeze" if version == 2 else "freezer.state")


@dataclass(slots=True, eq=False)
class Freezer:
    """The stop switch of the tree below process `pid`."""

    pid: int
    """As the host sees it. It is stopped itself only where a group holds it."""
    group: cgroups.Cgroup
    """The group that holds it; without a directory, signals do."""
    version: int = 0

    def freeze(self) -> None:
        """Stop every process; harmless when they have ended or stand still.

        Raises SandboxError when some process does not stand still in time; all run then.
        """
        deadline = time.monotonic() + _STILL_S
        still = self._stop_all
        if self.group.directories:
            self._write("1" if self.version == 2 else "FROZEN")
            still = self._is_frozen
        while not still():
            if time.monotonic() > deadline:
                self.thaw()
                raise SandboxError(f"the processes below {self.pid} did not stop")
            time.sleep(_LOOK_S)

    def thaw(self) -> None:
        """Set every process going; harmless when they have ended or run."""
        if self.group.directories:
            self._write("0" if self.version == 2 else "THAWED")
            return
        for pid in _below(self.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)

    def thaw_file(self) -> tuple[str, str] | None:
        """(path, text) that sets a v1 group going, where even SIGKILL waits for that."""
        if self.version != 1 or not self.group.directories:
            return None
        return str(_leaf(self.group.directories[0], 1)), "THAWED"

    def remove(self) -> bool:
        """Give the group back; False while a process is still in it."""
        return self.group.remove()

    def _write(self, text: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            _leaf(self.group.directories[0], self.version).write_text(text)

    def _is_frozen(self) -> bool:
        directory = self.group.directories[0]
        try:
            if self.version == 1:
                return _leaf(directory, 1).read_text().strip() == "FROZEN"
            events = (directory / "cgroup.events").read_text().split()
        except FileNotFoundError:
            return True
        pairs = dict(zip(events[::2], events[1::2], strict=False))
        return pairs.get("frozen") == "1" or pairs.get("populated") == "0"

    def _stop_all(self) -> bool:
        """Stop what runs; True when a whole pass found nothing that did."""
        found = False
        for pid in _below(self.pid):
            if not _stands(pid):
                found = True
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGSTOP)
        return not found


def create(*, pid: int, name: str, signals_only: bool = False) -> Freezer:
    """A freezer for the tree below `pid`; processes that it starts from here on belong to it."""
    for parent, version in [] if signals_only else parents():
        places = cgroups.Parents(memory=parent, version=version)
        cgroups.reap_stale(places)
        group = cgroups.create(places, name=name, pid=pid)
        if group.directories and _leaf(group.directories[0], version).exists():
            return Freezer(pid, group, version)
        group.remove()
    return Freezer(pid, cgroups.Cgroup())


def _below(pid: int) -> list[int]:
    """Every descendant of a process."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children(waiting.pop())
        found += below
        waiting += below
    return found


def _stands(pid: int) -> bool:
    """True for a process that was sent SIGSTOP and runs no more.

    Whoever called vfork(2) waits in the kernel, deaf to signals, for a child that is stopped.
    """
    state = _state(pid)
    return state in "TtZX" or (
        state == "D" and any(_state(child) == "T" for child in children(pid))
    )


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "X"
