"""The start of a guest's interpreter, such as a fork server or process 1 of a process tree; and of
a worker: its number and uids, its configuration, its process.

Covered: nothing of the host is inherited but two sockets: the environment is replaced, every other
descriptor is closed, the process gets a session of its own.
Not covered: isolation, which the guest builds itself (`server.fork_server`, `server.init`).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unhack.core.errors import UsageError
from unhack.sandbox.guest.server import fork_server
from unhack.sandbox.host_start import PACKAGE_PATH, HasFileno
from unhack.sandbox.job import Isolation, Profile, Role
from unhack.sandbox.linux import cgroups, namespaces
from unhack.sandbox.pool.worker import Worker
from unhack.sandbox.rootfs import (
    COMMANDS,
    RootSpec,
    inside,
    interpreter,
    program_environ,
    root_spec,
    shown_sites,
)

_CODE = (
    "import os; a, b = os.dup({first}), os.dup({second}); os.dup2(a, 3); os.dup2(b, 4); "
    "os.closerange(5, 1 << 20); import sys; sys.path.insert(0, {source!r}); "
    "from {module} import main; main()"
)

_UID_BASE = 2_000_000_000
"""First uid of root's workers: far above any that a system gives to a person or a service."""

_IMAGE_BASE = 1_900_000_000
_IMAGE_IDS = 65_536
"""First uid and gid of what an image holds, where root unpacks it, and how many there are."""

ENVIRON = {
    "HOME": namespaces.SCRATCH,
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PATH": f"{COMMANDS}:/usr/local/bin:/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "TMPDIR": namespaces.SCRATCH,
    "TZ": "UTC",
    **program_environ(),
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

SLOTS = "UNHACK_SLOTS"
"""Environment variable: workers for each profile of a process's shared pool. For hosts with many
processes that judge, such as a trainer's reward workers, each of which would take all cores."""

_claims: dict[int, int | None] = {}
_claims_lock = threading.Lock()


def wanted_slots() -> int | None:
    """The number in `SLOTS`, None where it is not set. Raises UsageError."""
    return wanted_number(SLOTS, "workers")


def wanted_number(variable: str, things: str) -> int | None:
    """A number from 1 on in an environment variable, None where it is not set. Raises
    UsageError."""
    wanted = os.environ.get(variable, "")
    if not wanted:
        return None
    if not wanted.isascii() or not wanted.isdigit() or not int(wanted):
        raise UsageError(f"{variable} is {wanted[:40]!r}; give a number of {things} from 1 on")
    return int(wanted)


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


def image_ids() -> tuple[int, int]:
    """(first, count) of the uids and gids, seen from the host, of what an image holds. They are the
    same for every process, since unpacked layers are shared; an ordinary user has its own alone."""
    if os.geteuid():
        return os.geteuid(), 1
    ends: list[int] = []
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        if first <= _IMAGE_BASE and first + count >= _IMAGE_BASE + _IMAGE_IDS:
            return _IMAGE_BASE, _IMAGE_IDS
        ends.append(first + count)
    return max(ends) - 1, 1


def write_maps(pid: int, outer: int, *, image_ids: int = 0) -> None:
    """Map the ids of a process that has just made a user namespace. `outer` is the uid that root
    gives it, or the first of `image_ids`; an ordinary user has its own alone. Raises OSError."""
    as_root = os.geteuid() == 0
    if not as_root:
        Path(f"/proc/{pid}/setgroups").write_text("deny")
    for kind, own in (("uid", os.geteuid()), ("gid", os.getegid())):
        first = outer if as_root else own
        lines = namespaces.id_maps(as_root=as_root, outer_id=first, image_ids=image_ids)
        Path(f"/proc/{pid}/{kind}_map").write_text(lines)


def give_ids(member: Worker) -> None:
    """Give a worker its uid and gid in the user namespace that it has just made. Raises OSError."""
    write_maps(member.process.pid, outer_id(member.index, member.profile.role))
    member.control.send(b"ok")


def _config(profile: Profile, isolation: Isolation) -> dict[str, Any]:
    """The part that all workers of a profile share."""
    spec, spaces = root_spec(profile), isolation is Isolation.NAMESPACES
    sites = spec.site_paths if spaces else shown_sites(profile)
    return {
        "isolation": isolation.value,
        "kind": profile.kind.value,
        "role": profile.role.value,
        "preload": list(profile.preload),
        "root": spec.to_json(),
        "sites": sites,
        "readable": [*_readable(spec), *sites] if isolation is Isolation.LANDLOCK else [],
        "path": [*map(inside, import_path())] if spaces else import_path(),
        "environ": ENVIRON,
        "as_root": os.geteuid() == 0,
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


def start_many(
    profile: Profile, isolation: Isolation, *, count: int, parents: cgroups.Parents
) -> Iterator[Worker]:
    """Start fork servers; each reports `READY` or `FAILED` on its control socket.

    Raises UsageError for a profile that names missing files, OSError when no process can be made.
    """
    config = _config(profile, isolation)
    for _ in range(count):
        index = claim_index()
        try:
            member = _start(profile, isolation, index=index, parents=parents, config=config)
        except BaseException:
            release_index(index)
            raise
        yield member


def _start(
    profile: Profile,
    isolation: Isolation,
    *,
    index: int,
    parents: cgroups.Parents,
    config: Mapping[str, Any],
) -> Worker:
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
    outer = outer_id(index, profile.role) if config["as_root"] else os.geteuid()
    control.send(json.dumps({**config, "outer_id": outer}).encode())
    control.setblocking(False)
    return Worker(profile, isolation, index, process, control, jobs, group, parents=parents)
