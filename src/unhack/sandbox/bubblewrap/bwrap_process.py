"""The host's side of one bubblewrap process: its command line, its start, what it reports.

Covered: a root of read-only binds (see `rootfs`), fresh namespaces, a clean environment, no
descriptor but the job's own; the guest ends itself when the host is gone, and bubblewrap with it.
(bubblewrap's own `--die-with-parent` would not do: when it is killed while it still makes the
namespaces, its half-made child waits for ever.)
Not covered: a set-uid bubblewrap started by an ordinary user (it keeps no capability to mount
with); where a profile preloads, only Landlock hides the rest of site-packages.
Sources: bwrap(1), unix(7) on SCM_CREDENTIALS.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from unhack.sandbox.guest.server import fork_server, job_start, single_job
from unhack.sandbox.job import Isolation, Job, Profile, Role
from unhack.sandbox.linux import cgroups, namespaces
from unhack.sandbox.linux.processes import children
from unhack.sandbox.pool.attempt import Stream
from unhack.sandbox.pool.worker import tree_bytes
from unhack.sandbox.pool.worker_start import ENVIRON, outer_id
from unhack.sandbox.rootfs import RootSpec, interpreter, root_spec

_PACKAGE = Path(__file__).resolve().parents[2]
_GUEST = "/.guest"
_START = (
    "import sys; sys.path.insert(0, {path!r}); "
    "from unhack.sandbox.guest.server.single_job import main; main({control}, {host})"
)
_SINGLE_THREADED = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
}
_NAMESPACES = [
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--hostname",
    namespaces.HOST_NAME,
    "--unshare-cgroup-try",
    "--as-pid-1",
]
_CREDENTIALS = struct.Struct("iII")
_MAX_ERROR_BYTES = 4000
START_S = 30.0
"""Longest time from the start of bubblewrap to the start of the job."""


def namespace_arguments(*, as_root: bool) -> list[str]:
    """Arguments by which bubblewrap makes the namespaces.

    Root needs no user namespace, and gets none: bubblewrap maps a single id, which would be root's.
    The guest changes to an unprivileged uid instead. An ordinary user is mapped to nobody.
    """
    if as_root:
        kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_SYS_ADMIN")
        return [*_NAMESPACES, "--cap-drop", "ALL", *_each("--cap-add", kept)]
    nobody = str(namespaces.INNER_ID)
    kept = ("CAP_SETPCAP", "CAP_SYS_ADMIN")
    user = ["--unshare-user", "--uid", nobody, "--gid", nobody]
    return [*_NAMESPACES, *user, *_each("--cap-add", kept)]


def _each(option: str, values: tuple[str, ...]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _loader(binary: str) -> Iterator[str]:
    """The dynamic loader that an ELF file names (PT_INTERP); nothing for a static one."""
    from elftools.elf.elffile import ELFFile  # 50 ms, and only bubblewrap needs it
    from elftools.elf.segments import InterpSegment

    with open(binary, "rb") as file:
        for segment in ELFFile(file).iter_segments("PT_INTERP"):
            assert isinstance(segment, InterpSegment)
            path = segment.get_interp_name()
            # Its directory may be a link inside too; its name must stay.
            yield os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def _own_libraries() -> Iterator[str]:
    """Shared libraries of the interpreter's own tree that this process has loaded."""
    prefix = os.path.realpath(sys.base_prefix) + "/"
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.partition("/")[2]
        if path and f"/{path}".startswith(prefix) and ".so" in path and "-packages/" not in path:
            yield f"/{path}"


def _runtime(spec: RootSpec) -> list[str]:
    """Files that the interpreter needs to start, and that `spec` does not hold yet."""
    held = [target for _, target in spec.binds]
    program = interpreter()
    wanted = dict.fromkeys([program, *_loader(program), *_own_libraries()])
    return [
        path
        for path in wanted
        if not any(path == top or path.startswith(f"{top}/") for top in held)
    ]


def _mounts(profile: Profile, spec: RootSpec) -> list[str]:
    """The root directory of a profile, as arguments."""
    words: list[str] = []
    for link, target in spec.symlinks:
        words += ["--symlink", target, link]
    binds = [("--ro-bind", source, target) for source, target in spec.binds]
    binds += [("--ro-bind", os.path.realpath(path), path) for path in _runtime(spec)]
    binds += [("--dev-bind", path, path) for path in spec.devices]
    sites = [("--ro-bind", path, path) for path in spec.sites]
    for name in ("core", "sandbox"):
        sites.append(("--ro-bind", str(_PACKAGE / name), f"{_GUEST}/unhack/{name}"))
    words += _above(target for _, _, target in [*binds, *sites])
    words += [word for bind in binds for word in bind]
    words += [word for path in spec.masks for word in _empty(path)]
    words += [word for bind in sites for word in bind]
    for path in spec.sites:
        if profile.role is Role.CANDIDATE and os.path.isdir(f"{path}/unhack"):
            words += _empty(f"{path}/unhack")  # its suites hold reference solutions
    if spec.scratch:
        words += ["--dir", namespaces.SCRATCH]
        if not any(target.startswith("/tmp/") for _, _, target in binds):
            words += ["--symlink", namespaces.SCRATCH.lstrip("/"), "/tmp"]
    return [*words, "--remount-ro", "/", "--chdir", "/"]


def _above(targets: Iterable[str]) -> list[str]:
    """The directories above mount points: made unasked, they would be open to root alone."""
    parents = {str(parent) for target in targets for parent in PurePosixPath(target).parents}
    return [word for path in sorted(parents - {"/"}) for word in ("--dir", path)]


def _empty(path: str) -> list[str]:
    return ["--perms", "0755", "--size", "4096", "--tmpfs", path, "--remount-ro", path]


@dataclass(frozen=True, slots=True)
class Blueprint:
    """The parts of a command that all jobs of one profile share."""

    profile: Profile
    command: list[str]
    """bubblewrap and its arguments, up to the command inside."""
    config: dict[str, Any]


def blueprint(bwrap: str, profile: Profile) -> Blueprint:
    """Work out a profile. Raises UsageError for a bind whose source does not exist."""
    spec = root_spec(profile)
    as_root = os.geteuid() == 0
    readable = [target for _, target in spec.binds] + spec.devices + _runtime(spec)
    config = {
        "kind": profile.kind.value,
        "role": profile.role.value,
        "preload": list(profile.preload),
        "sites": spec.sites,
        "keep_sites": spec.keep_sites,
        "readable": readable,
        "environ": ENVIRON,
        "as_root": as_root,
    }
    command = [bwrap, *namespace_arguments(as_root=as_root), *_mounts(profile, spec)]
    return Blueprint(profile, command, config)


@dataclass(slots=True, eq=False)
class BwrapProcess:
    """One bubblewrap process with one job."""

    blueprint: Blueprint
    index: int
    """Tells the uids of jobs that run at the same time apart."""
    parents: cgroups.Parents
    isolation: Isolation = Isolation.BUBBLEWRAP
    process: subprocess.Popen[bytes] | None = None
    pidfd: int = -1
    control: socket.socket | None = None
    errors: Stream | None = None
    """The messages of bubblewrap itself."""
    group: cgroups.Cgroup = field(default_factory=cgroups.Cgroup)
    started_at: float = field(default_factory=time.monotonic)
    running_since: float = 0.0
    """Time of the job's fork; 0 while the guest is being prepared."""
    killed_at: float = 0.0
    why: int = fork_server.BY_ITSELF
    report: tuple[int, float, float, int] | None = None
    """Wait status, wall seconds, CPU seconds, peak bytes."""
    failure: str = ""
    yielded: bool = False
    """True when the job has outstayed its soft slice and another may start."""

    def hand_over(self, job_id: int, job: Job, *, flags: int, fds: list[int]) -> None:
        """Start bubblewrap with the job's descriptors. Raises OSError."""
        rest = iter(fds)
        named = {"result": next(rest)}
        if flags & job_start.HAS_STDIN:
            named["stdin"] = next(rest)
        if flags & job_start.HAS_OUTPUT:
            named["stdout"], named["stderr"] = next(rest), next(rest)
        if flags & job_start.HAS_PEER:
            named["peer"] = next(rest)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        error_end, error_write = os.pipe()
        os.set_blocking(error_end, False)
        self.control, self.errors = ours, Stream(error_end, _MAX_ERROR_BYTES)
        named["proc"] = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
        host = os.pidfd_open(os.getpid())
        try:
            self._spawn([theirs.fileno(), host, *named.values()], error_write)
        finally:
            theirs.close()
            os.close(error_write)
            os.close(named["proc"])
            os.close(host)
        role = self.blueprint.profile.role
        uid = outer_id(self.index, role) if os.geteuid() == 0 else os.geteuid()
        config = {
            **self.blueprint.config, "fds": named, "outer_id": uid, "disk": job.limits.disk_bytes
        }  # fmt: skip
        ours.send(json.dumps(config).encode())
        ours.setblocking(False)

    def _spawn(self, fds: list[int], errors: int) -> None:
        """Start bubblewrap with `fds`, of which the control socket and the pidfd stand first."""
        code = _START.format(path=_GUEST, control=fds[0], host=fds[1])
        self.process = subprocess.Popen(
            [*self.blueprint.command, "--", interpreter(), "-S", "-s", "-P", "-B", "-c", code],
            env=ENVIRON | _SINGLE_THREADED,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=fds,
            start_new_session=True,
        )
        self.pidfd = os.pidfd_open(self.process.pid)

    def listen(self, job: Job) -> bool:
        """Act on what the guest says; False when it will say no more."""
        if self.control is None:
            return False
        while True:
            try:
                data, ancillary, _, _ = self.control.recvmsg(1 << 16, 64)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
            if data[:1] == fork_server.READY:
                self._start_job(job, _CREDENTIALS.unpack(ancillary[0][2])[0])
            elif data[:1] == single_job.STARTED:
                self.running_since = time.monotonic()
            elif data[:1] == fork_server.FAILED:
                self.failure = data[1:].decode(errors="replace")
            else:
                _, _, status, _, wall, cpu, peak = fork_server.REPORT.unpack(data)
                self.report = status, wall, cpu, peak

    def _start_job(self, job: Job, pid: int) -> None:
        """Put the guest (`pid`, as the kernel says) in its group and let it fork, unless the job is
        not wanted any more."""
        name = f"bwrap-{self.index}-{self.blueprint.profile.role.value}"
        self.group = cgroups.create(self.parents, name=name, pid=pid)
        self.group.make_room(tree_bytes(job.limits) + (256 << 20), job.limits.processes + 16)
        if self.control is not None:
            with contextlib.suppress(OSError):
                self.control.send(single_job.KILL if self.killed_at else single_job.GO)

    def end_job(self, job_id: int) -> None:
        """Kill its one job."""
        del job_id
        self.kill(fork_server.BY_HOST)

    def kill(self, why: int) -> None:
        """Have the guest kill the job, which it reports, or keep it from starting it."""
        if self.killed_at:
            return
        self.killed_at = time.monotonic()
        self.why = why
        if self.running_since and self.control is not None:
            with contextlib.suppress(OSError):
                self.control.send(single_job.KILL)

    def hang_up(self) -> None:
        """Let the guest see that nobody wants the job any more: it ends everything by itself."""
        if self.control is not None:
            self.control.close()
            self.control = None

    def destroy(self) -> None:
        """Kill a guest that does not obey from outside, then bubblewrap."""
        if self.process is None or self.process.returncode is not None:
            return
        for pid in children(self.process.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()

    def wait(self) -> None:
        """Wait, after `hang_up`, until bubblewrap has exited."""
        if self.process is not None:
            try:
                self.process.wait(START_S)
            except subprocess.TimeoutExpired:
                self.destroy()

    def close(self) -> str:
        """Release everything once bubblewrap has exited; the text of its standard error."""
        words = ""
        if self.process is not None:
            self.process.wait()
        if self.errors is not None:
            self.errors.drain()
            words = bytes(self.errors.data).decode(errors="replace").strip()
            self.errors.close()
        self.hang_up()
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1
        self.group.remove_when_empty()
        return words
