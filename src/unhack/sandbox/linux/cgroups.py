"""Memory and process limits for a whole worker, or for one job with all its processes, where the
host delegates a cgroup; and the memory that this process and its children may still take.

Covered: cgroup v1 (memory, pids) and v2, whichever lets this user make a group beneath its own;
what address-space limits miss (page tables, pipe buffers, tmpfs pages); groups left by a killed
host. Of the memory: what the kernel says is available, and the limits of groups, from this
process's own up to the root that is in sight.
Not covered: hosts that delegate nothing. Then rlimits alone hold, and `unhack doctor` says so.
Swap; groups above a container, which the kernel does not show.
Sources: cgroups(7), proc_meminfo(5), the kernel's cgroup-v1 and cgroup-v2 documents.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PREFIX = "unhack-"
_MOUNT = Path("/sys/fs/cgroup")
_FILES = (
    ("memory.max", "memory.current"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes"),
)
"""Limit and use, in v2 and in v1."""
_UNKNOWN = 1 << 62
"""More than there is: for a kernel that does not say."""


@dataclass(frozen=True, slots=True)
class Parents:
    """The directories where groups can be made: one a controller (v1), or the same one (v2)."""

    memory: Path | None = None
    pids: Path | None = None
    version: int = 0
    missing: str = ""
    """The reason why a controller is not usable; empty when both are."""

    def directories(self) -> list[Path]:
        """Each distinct parent."""
        return list(dict.fromkeys(path for path in (self.memory, self.pids) if path is not None))


def find_parents() -> Parents:
    """The groups of this process in which it may make children."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return Parents(missing="/proc/self/cgroup is not readable")
    memory = pids = None
    version = 0
    for line in lines:
        _, names, path = line.split(":", 2)
        if names == "" and not version:
            own = _v2_directory(path)
            if own is not None:
                memory = pids = own
                version = 2
        for name in names.split(","):
            if name in {"memory", "pids"}:
                directory = _MOUNT / name / path.lstrip("/")
                if directory.is_dir() and os.access(directory, os.W_OK):
                    version = 1
                    memory, pids = (directory, pids) if name == "memory" else (memory, directory)
    absent = [name for name, found in (("memory", memory), ("pids", pids)) if found is None]
    missing = f"no writable cgroup with the {' and '.join(absent)} controller" if absent else ""
    return Parents(memory, pids, version, missing)


def _v2_directory(path: str) -> Path | None:
    """The v2 group beneath which children get memory and pids control: this process's own, or the
    one above it (a delegated group whose processes were moved to a leaf, as v2 demands)."""
    for mount in (_MOUNT, _MOUNT / "unified"):
        own = mount / path.lstrip("/")
        for directory in (own, own.parent) if own != mount else (own,):
            try:
                enabled = set((directory / "cgroup.subtree_control").read_text().split())
            except OSError:
                continue
            if {"memory", "pids"} <= enabled and os.access(directory, os.W_OK):
                return directory
    return None


@dataclass(slots=True)
class Cgroup:
    """The cgroup of one worker, or of one job."""

    directories: list[Path] = field(default_factory=list[Path])
    memory_file: Path | None = None
    memory_bytes: int = 0
    pids_file: Path | None = None
    max_processes: int = 0

    def make_room(self, memory_bytes: int, processes: int) -> None:
        """Raise the limits to at least these."""
        if memory_bytes > self.memory_bytes:
            self.limit_memory(memory_bytes)
        if self.pids_file is not None and processes > self.max_processes:
            with contextlib.suppress(OSError):
                self.pids_file.write_text(str(processes))
                self.max_processes = processes

    def limit_memory(self, memory_bytes: int) -> None:
        """Set the limit, which may be lower than what it was when the group is empty."""
        if self.memory_file is not None and memory_bytes != self.memory_bytes:
            with contextlib.suppress(OSError):
                self.memory_file.write_text(str(memory_bytes))
                self.memory_bytes = memory_bytes

    def killed_for_memory(self) -> bool:
        """True where the kernel has ended a process of the group for want of memory."""
        if self.memory_file is None:
            return False
        for name in ("memory.oom_control", "memory.events"):
            with contextlib.suppress(OSError):
                for line in (self.memory_file.parent / name).read_text().splitlines():
                    if line.startswith("oom_kill "):
                        return int(line.split()[1]) > 0
        return False

    def open_door(self) -> int:
        """A descriptor by which a process enters the group: it writes 0 there. Raises OSError."""
        return os.open(self.directories[0] / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)

    def processes(self) -> list[int]:
        """Pids of the group, dying ones too; none where nothing is delegated."""
        for directory in self.directories[:1]:
            with contextlib.suppress(OSError):
                return [int(pid) for pid in (directory / "cgroup.procs").read_text().split()]
        return []

    def remove(self) -> bool:
        """Delete the group; False while a process is still in it."""
        for directory in list(self.directories):
            try:
                directory.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                return False
            self.directories.remove(directory)
        return True

    def remove_when_empty(self, *, within_s: float = 10.0) -> bool:
        """Delete the group once its last process, which is dying, has left it; False where it does
        not in time. A process of the lowest priority is long about it on a busy machine."""
        deadline = time.monotonic() + within_s
        while not self.remove():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.002)
        return True


def create(parents: Parents, *, name: str, pid: int | None) -> Cgroup:
    """A group that holds process `pid`, or none yet. Where nothing is delegated, a group without
    directories, which does nothing."""
    group = Cgroup()
    for parent in parents.directories():
        directory = parent / f"{_PREFIX}{os.getpid()}-{start_time(os.getpid())}-{name}"
        try:
            directory.mkdir()
            group.directories.append(directory)
            if pid is not None:
                (directory / "cgroup.procs").write_text(str(pid))
        except OSError:
            group.remove()
            continue
        if parent == parents.pids:
            group.pids_file = directory / "pids.max"
        if parent == parents.memory:
            leaf = "memory.max" if parents.version == 2 else "memory.limit_in_bytes"
            group.memory_file = directory / leaf
    return group


def start_time(pid: int) -> str:
    """Kernel start time of a process in ticks; with the pid it names a process for good."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def reap_stale(parents: Parents) -> list[str]:
    """Delete groups whose host process is gone; the names of those deleted."""
    removed: list[str] = []
    for parent in parents.directories():
        for directory in parent.glob(f"{_PREFIX}*"):
            pid, _, rest = directory.name.removeprefix(_PREFIX).partition("-")
            if not pid.isdigit() or start_time(int(pid)) == rest.partition("-")[0]:
                continue
            with contextlib.suppress(OSError):
                directory.rmdir()
                removed.append(str(directory))
    return removed


def available_bytes() -> int:
    """Bytes that can be taken without swapping and without meeting a limit of a group."""
    free = [_free_in_group(folder) for folder in _own_groups()]
    return max(0, min([_available(), *free]))


def _available() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return _UNKNOWN
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(fields["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in fields else _UNKNOWN


def _own_groups() -> Iterator[Path]:
    """The groups of this process in which memory may be limited, and all above them."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, names, path = line.split(":", 2)
        mounts: tuple[Path, ...] = ()
        if not names:
            mounts = (_MOUNT, _MOUNT / "unified")
        elif "memory" in names.split(","):
            mounts = (_MOUNT / "memory",)
        for mount in mounts:
            folder = mount / path.lstrip("/")
            yield folder
            yield from (above for above in folder.parents if above.is_relative_to(mount))


def _free_in_group(folder: Path) -> int:
    for limit_name, use_name in _FILES:
        try:
            limit = (folder / limit_name).read_text().strip()
            used = int((folder / use_name).read_text())
        except (OSError, ValueError):
            continue
        if limit.isdigit():
            return int(limit) - used
    return _UNKNOWN
