"""The host's side of one fork server: start it, give it jobs, read what it reports; and the group
of those that serve one profile.

Nothing of the host is inherited but two sockets (`guest_start`).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import struct
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unhack.sandbox.guest.server import fork_server, job_start
from unhack.sandbox.guest_start import start_guest
from unhack.sandbox.job import Isolation, Job, Kind, Profile, Role
from unhack.sandbox.linux import cgroups, namespaces
from unhack.sandbox.pool.attempt import Attempt
from unhack.sandbox.rootfs import RootSpec, root_spec, shown_sites

_UID_BASE = 2_000_000_000
"""First uid of root's workers: far above any that a system gives to a person or a service."""

ENVIRON = {
    "HOME": namespaces.SCRATCH,
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "TMPDIR": namespaces.SCRATCH,
    "TZ": "UTC",
}
"""The whole environment of every job."""

_TUNING = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
}
"""Only for the start of a worker: numerical libraries must not start threads before a fork, and the
C library must not reserve address space, which is limited, for each thread of a job."""
_SERVER_BYTES = 256 << 20
"""Memory of a fork server, and of what no limit of a job covers."""
_JOB_BYTES = 64 << 20
"""The latter for a single job with a group of its own."""
_SERVER_PROCESSES = 16
DEPTH = 2
"""Jobs handed to a worker at once: one runs, one waits there so that the slot never idles."""
_MAX_DEMOTED = 8
"""Stragglers that a worker carries; beyond that it takes no new job."""


_claims: dict[int, int | None] = {}
_claims_lock = threading.Lock()


_TRIED = 4096
"""Numbers tried for one that is free; beyond that two workers of two processes may share a uid."""


def claim_index() -> int:
    """A number that no other worker of this process has, with uids that no worker of another has.

    What holds them is a socket's name, which the kernel frees when the process ends in any way.
    """
    first = os.getpid() % 1_000_000 * 64
    with _claims_lock:
        for index in range(first, first + _TRIED):
            if index in _claims:
                continue
            with contextlib.suppress(_TakenError):
                _claims[index] = _hold(index)
                return index
        index = next(n for n in range(first, first + (1 << 20)) if n not in _claims)
        _claims[index] = None
        return index


class _TakenError(Exception):
    """A worker of another process has these uids."""


def claim_name(index: int) -> str:
    """The name that holds a number: by its uids where they follow from it, for root."""
    own = os.geteuid()
    what = f"{own}-{index}" if own else str(outer_id(index, Role.CANDIDATE))
    return f"\0unhack-worker-{what}"


def _hold(index: int) -> int | None:
    """A descriptor of a socket with the name of a number; None where names are not to be had."""
    try:
        held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    except OSError:
        return None
    try:
        held.bind(claim_name(index))
    except OSError as error:
        held.close()
        if error.errno == errno.EADDRINUSE:
            raise _TakenError from None
        return None
    return held.detach()  # it lives as long as the process: no object that is to be closed


def release_index(index: int) -> None:
    """Give a number back."""
    with _claims_lock:
        held = _claims.pop(index, None)
    if held is not None:
        os.close(held)


def outer_id(index: int, role: Role) -> int:
    """The uid and gid, seen from the host, of a worker that root starts.

    Judges and candidates, and any two workers alive at once, get different ones. Inside a container
    that maps fewer ids, the highest ids of its map are used.
    """
    wanted = _UID_BASE + 2 * index + (role is Role.JUDGE)
    ends: list[int] = []
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        inside, _, count = map(int, line.split())
        if inside <= wanted < inside + count:
            return wanted
        ends.append(inside + count)
    return max(ends) - 2 - (2 * index + (role is Role.JUDGE)) % 4096


def write_maps(pid: int, outer: int) -> None:
    """Map the ids of a process that has just made a user namespace. `outer` is the uid that root
    gives it; an ordinary user has its own alone. Raises OSError."""
    as_root = os.geteuid() == 0
    uid, gid = (outer, outer) if as_root else (os.geteuid(), os.getegid())
    if not as_root:
        Path(f"/proc/{pid}/setgroups").write_text("deny")
    Path(f"/proc/{pid}/uid_map").write_text(namespaces.id_maps(as_root=as_root, outer_id=uid))
    Path(f"/proc/{pid}/gid_map").write_text(namespaces.id_maps(as_root=as_root, outer_id=gid))


_DYING_S = 10.0
"""Longest wait for the last process of a group to be gone: a busy kernel takes its time."""


@dataclass(slots=True, eq=False)
class Worker:
    """One fork server."""

    profile: Profile
    isolation: Isolation
    index: int
    process: subprocess.Popen[bytes]
    control: socket.socket
    jobs: socket.socket
    group: cgroups.Cgroup
    ready: bool = False
    in_flight: dict[int, Attempt] = field(default_factory=dict[int, Attempt])
    """By job id, in the order they were handed over."""
    demoted: int = 0
    parents: cgroups.Parents = field(default_factory=cgroups.Parents)
    job_groups: dict[int, cgroups.Cgroup] = field(default_factory=dict[int, cgroups.Cgroup])
    """Groups of programs under way, by job id."""
    free_groups: list[cgroups.Cgroup] = field(default_factory=list[cgroups.Cgroup])
    heard_at: float = field(default_factory=time.monotonic)

    @property
    def load(self) -> int:
        """Jobs that have or wait for the worker's slot."""
        return len(self.in_flight) - self.demoted

    def queued(self) -> list[Attempt]:
        """The jobs that it was given and has not started: it tells of the end or the demotion of
        one before it takes the next."""
        return [attempt for attempt in self.in_flight.values() if not attempt.demoted][1:]

    def hand_over(self, job_id: int, job: Job, *, flags: int, fds: list[int]) -> None:
        """Queue a job with the fork server. Raises OSError when it is gone.

        The worker's group has room for all that its jobs may use: none is killed for another.
        """
        limits = job.limits
        most = fork_server.MAX_RUNNING
        self.group.make_room(
            _SERVER_BYTES + most * limits.tree_bytes, _SERVER_PROCESSES + most * limits.processes
        )
        door = self._open_door(job_id, job)
        try:
            flags |= job_start.HAS_GROUP * bool(door)
            order = fork_server.ORDER.pack(job_id, flags, limits.wall_s, limits.soft_slice_s)
            rights = struct.pack(f"{len(fds) + len(door)}i", *fds, *door)
            self.jobs.sendmsg([order], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        finally:
            for fd in door:
                os.close(fd)

    def _open_door(self, job_id: int, job: Job) -> list[int]:
        """The way into a group of its own for a program, whose processes have a limit each and none
        together; none for other jobs, and where nothing is delegated."""
        if job.profile.kind is not Kind.PROGRAM or self.parents.memory is None:
            return []
        if self.free_groups:
            group = self.free_groups.pop()
        else:
            name = f"{self.index}-{self.profile.role.value}-{len(self.job_groups)}-{job_id}"
            places = cgroups.Parents(memory=self.parents.memory, version=self.parents.version)
            group = cgroups.create(places, name=name, pid=None)
        if not group.directories:
            return []
        self.job_groups[job_id] = group
        group.limit_memory(job.limits.tree_bytes + _JOB_BYTES)
        return [group.open_door()]

    def has_ended(self, job_id: int) -> None:
        """Take note that a job has: its group is free for the next."""
        group = self.job_groups.pop(job_id, None)
        if group is not None:
            self.free_groups.append(group)

    def end_job(self, job_id: int) -> None:
        """Ask the fork server to kill a job."""
        self.control.send(fork_server.KILL.pack(b"K", job_id))

    def write_maps(self) -> None:
        """Give the worker its uid and gid in the user namespace that it has just made."""
        write_maps(self.process.pid, outer_id(self.index, self.profile.role))
        self.control.send(b"ok")

    def close(self) -> None:
        """Kill the fork server; the kernel takes its jobs with it."""
        self._restore_priority()
        self.process.kill()
        self.control.close()
        self.jobs.close()
        self.process.wait()
        deadline = time.monotonic() + _DYING_S
        groups = [self.group, *self.job_groups.values(), *self.free_groups]
        while groups := [group for group in groups if not group.remove()]:
            if time.monotonic() > deadline:
                break
            self._restore_priority()
            time.sleep(0.002)

    def _restore_priority(self) -> None:
        """Give dying processes their share of the cores: a job that had outstayed its slice has the
        lowest priority, and beside busy processes hundreds of them would be long about it. Needs
        CAP_SYS_NICE; without it they take their time."""
        groups = [self.group, *self.job_groups.values()]
        for pid in [pid for group in groups for pid in group.processes()]:
            with contextlib.suppress(OSError):
                if os.sched_getscheduler(pid) == os.SCHED_IDLE:
                    os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))


@dataclass(slots=True, eq=False)
class WorkerGroup:
    """Everything the pool knows of one profile."""

    profile: Profile
    workers: list[Worker] = field(default_factory=list[Worker])
    waiting: deque[Attempt] = field(default_factory=deque[Attempt])
    starts_failed: int = 0
    used_at: float = 0.0

    @property
    def busy(self) -> int:
        """Jobs that its workers have."""
        return sum(len(member.in_flight) for member in self.workers)

    def free_workers(self) -> Iterator[Worker]:
        """Workers that can take a job, the idle ones first."""
        for depth in range(DEPTH):
            for member in list(self.workers):
                if member.ready and member.load == depth and member.demoted < _MAX_DEMOTED:
                    yield member

    def may_dispatch(self, attempt: Attempt, member: Worker) -> bool:
        """A job that is tried again runs alone on its worker, so that blame is exact."""
        if attempt.tries and member.in_flight:
            return False
        return not any(other.tries > 1 for other in member.in_flight.values())


def _config(profile: Profile, isolation: Isolation, index: int, spec: RootSpec) -> dict[str, Any]:
    sites = shown_sites(profile)
    as_root = os.geteuid() == 0
    return {
        "isolation": isolation.value,
        "kind": profile.kind.value,
        "role": profile.role.value,
        "preload": list(profile.preload),
        "root": spec.to_json(),
        "sites": sites,
        "readable": [*_readable(spec), *sites] if isolation is Isolation.LANDLOCK else [],
        "path": import_path(),
        "environ": ENVIRON,
        "as_root": as_root,
        "outer_id": outer_id(index, profile.role) if as_root else os.geteuid(),
        "host_pid": os.getpid(),
    }


def _readable(spec: RootSpec) -> list[str]:
    """Paths that Landlock lets a job read where there is no root of its own: masked directories are
    left out by naming their siblings one by one."""
    paths: list[str] = []
    for source, _ in spec.binds:
        masked = [mask for mask in spec.masks if mask.startswith(f"{source}/")]
        if masked:
            children = (f"{source}/{name}" for name in os.listdir(source))
            paths += [child for child in children if child not in masked]
        else:
            paths.append(source)
    return paths


def import_path() -> list[str]:
    """The interpreter's own import path, without site-packages."""
    library = Path(os.__file__).resolve().parent
    return [str(library), str(library / "lib-dynload")]


def start(
    profile: Profile, isolation: Isolation, *, index: int, parents: cgroups.Parents
) -> Worker:
    """Start a fork server; it reports `READY` or `FAILED` on its control socket.

    Raises UsageError for a profile that names missing files, OSError when no process can be made.
    """
    spec = root_spec(profile)
    control, control_there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    jobs, jobs_there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in (control, jobs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    with control_there, jobs_there:
        process = start_guest(
            fork_server.__name__, control_there, jobs_there, environ=ENVIRON | _TUNING
        )
    name = f"{index}-{profile.role.value}"
    group = cgroups.Cgroup()
    if isolation is not Isolation.NONE:
        group = cgroups.create(parents, name=name, pid=process.pid)
    config = json.dumps(_config(profile, isolation, index, spec)).encode()
    control.send(config)
    control.setblocking(False)
    return Worker(profile, isolation, index, process, control, jobs, group, parents=parents)


def supports(profile: Profile, isolation: Isolation) -> str:
    """Empty when the level can hold the profile, else why not."""
    if isolation is Isolation.LANDLOCK and profile.binds:
        return "read-only inputs are mounted, which needs namespaces"
    if isolation is Isolation.LANDLOCK and profile.preload and profile.role is Role.CANDIDATE:
        return "preloaded packages are shown one by one, which needs namespaces"
    if isolation in (Isolation.LANDLOCK, Isolation.NONE) and profile.kind is not Kind.FUNCTION:
        return (
            f"a {profile.kind.value} job needs namespaces: without them nothing bounds its disk "
            "use or ends the processes that it leaves"
        )
    return ""
