"""A long-lived tree of isolated processes: one writable workspace, no network but what the host
serves.

    plan = ProcessTreePlan(workspace=files, ports=(8080,))
    with ProcessTree(["/usr/bin/env", "bash", "run.sh"], plan=plan) as tree:
        serve(tree.listeners[0])          # a socket inside its network, accepted by this process
        tree.wait(timeout_s=60)
        tree.read(("solution.py",), max_files=8, max_bytes=1 << 20)

Covered: user, mount, pid, net, ipc, uts and cgroup namespaces; a root of read-only binds without
the host's /home, /root, /etc, /var or /sys; workspace, home and /tmp together on one private file
system of bounded size that ends with the tree; a filter of system calls (see
`linux.agent_syscalls`); no capability, no set-uid; memory and processes bounded by a control group
where one is delegated; the environment replaced; the whole tree dies with its command, with `kill`,
and with the host, also when that is killed; `freeze` and `thaw`.
Not covered: bugs of the kernel; secrets that somebody put under /usr; where no control group can be
had, the memory of each process is bounded and not their sum. Landlock is not used: it cannot allow
a connection to one address of the tree's own network.
Sources: namespaces(7), unix(7) on SCM_RIGHTS, capabilities(7).
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from unhack.core.errors import SandboxError, SandboxUnavailableError, UsageError
from unhack.sandbox.guest.server import init
from unhack.sandbox.job import Kind, Profile, Role
from unhack.sandbox.linux import cgroups, freezer, seccomp
from unhack.sandbox.linux.capabilities import advice
from unhack.sandbox.linux.sockets import receive
from unhack.sandbox.pool.worker_start import claim_index, outer_id, release_index, start_guest
from unhack.sandbox.rootfs import COMMANDS, program_environ, root_spec
from unhack.sandbox.workspace.safe_files import Files, put_files, take_files

_START_S = 60.0
_DYING_S = 20.0
_LOOK_S = 0.004
"""Between two looks whether the kernel has emptied a control group, which tells nobody."""
_BLOCK = 4096
_MAX_INODES = 1 << 19
ETC = {
    "/etc/passwd": "agent:x:65534:65534:agent:/home/agent:/bin/sh\n",
    "/etc/group": "agent:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost\n",
    "/etc/resolv.conf": "",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True, slots=True)
class ProcessTreePlan:
    """The environment, files, ports and limits of a process tree."""

    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    """The whole environment, but for HOME, TMPDIR and a default PATH."""
    binds: tuple[tuple[str, str], ...] = ()
    """(host path, path inside) pairs, read-only."""
    workspace: Files = field(default_factory=dict[str, bytes])
    """Files of the workspace, by relative path."""
    home: Files = field(default_factory=dict[str, bytes])
    """Files of its home; those below `bin/` may be executed."""
    stdin: bytes = b""
    """At most 64 KiB."""
    ports: tuple[int, ...] = (8080,)
    """Ports of 127.0.0.1 inside, each with a listening socket for the host."""
    memory_bytes: int = 8 << 30
    """Of all its processes, without what stands in its file system."""
    disk_bytes: int = 2 << 30
    """Of workspace, home and /tmp together."""
    processes: int = 512
    """Processes and threads."""
    open_files: int = 8192
    """Descriptors of a process."""
    processors: int = 0
    """Processors that it may use at once; 0 for all of this process."""
    devices: tuple[str, ...] = ()
    """Device nodes beside the usual four, as `sandbox.gpu` finds them. A driver names its threads,
    so processes may then write to what /proc shows of themselves. A driver that reserves address
    space by the terabyte cannot live with a bound of it: whoever gives devices watches the
    memory (`sandbox.gpu.memory_watch`) where no control group does."""

    def __post_init__(self) -> None:
        for name in ("memory_bytes", "disk_bytes", "processes", "open_files"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} must be positive")
        if len(self.stdin) > 1 << 16:
            raise UsageError("standard input of a process tree is at most 64 KiB")


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """The end of a process tree's command."""

    exit_code: int | None
    """Of its command, as a shell tells it; None where it was killed."""
    cpu_s: float = 0.0
    """User and system seconds of the processes that were waited for."""


class ProcessTree:
    """One tree of processes. `listeners`, `stdout` and `stderr` are there once it has begun."""

    def __init__(
        self,
        command: list[str],
        *,
        plan: ProcessTreePlan,
        name: str = "tree",
        peer: socket.socket | None = None,
    ) -> None:
        """`peer` becomes descriptor 3 of the command; this object closes it once it has begun."""
        self.command, self.plan, self.name = command, plan, name
        self._peer = peer
        self.pid = 0
        """Of process 1, as the host counts; 0 before it has begun."""
        self.listeners: list[socket.socket] = []
        self.stdout = self.stderr = -1
        """Ends of pipes to read from; this object closes them."""
        self.exit_status: ExitStatus | None = None
        self.failure = ""
        """The reason why the command could not be started."""
        self._index = -1
        self._uid = self._gid = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._setup: socket.socket | None = None
        self._workspace = self._home = -1
        self._group = cgroups.Cgroup()
        self._freezer: freezer.Freezer | None = None
        self._holders: set[str] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Build it and start the command.

        Raises SandboxUnavailableError where the host cannot isolate it, UsageError for a command or
        a bind that is not there, SandboxError when the machinery fails.
        """
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait(self, *, timeout_s: float) -> bool:
        """True when it has ended, after at most `timeout_s`; `exit_status` says how."""
        if self.exit_status is not None or self._control is None:
            return True
        if not select.select([self._control], [], [], max(0.0, timeout_s))[0]:
            return False
        message = receive(self._control.recv, 1 << 12)
        if message[:1] == init.ENDED:
            _, status, cpu_s, _ = init.STATUS.unpack(message)
            code = os.waitstatus_to_exitcode(status)
            self.exit_status = ExitStatus(code if code >= 0 else None, cpu_s)
        else:
            self.exit_status = ExitStatus(None)
        self._receive_failure()
        return True

    def killed_for_memory(self) -> bool:
        """True where its control group had the kernel end a process of it."""
        return self._group.killed_for_memory()

    def kill(self) -> None:
        """End every process of it, at once."""
        if self._control is not None:
            with contextlib.suppress(OSError):
                self._control.send(init.KILL)
        with self._lock:
            if self._freezer is not None and self._freezer.version != 2:
                self._freezer.thaw()

    def freeze(self, *, holder: str = "") -> None:
        """Stop every process of it; harmless when they have ended or stand still.

        It stands still until every `holder` has let go.
        """
        with self._lock:
            self._holders.add(holder)
            if self._freezer is not None and self.exit_status is None:
                self._freezer.freeze()

    def thaw(self, *, holder: str = "") -> None:
        """Set every process of it going; harmless when they have ended or run."""
        with self._lock:
            self._holders.discard(holder)
            if self._freezer is not None and not self._holders:
                self._freezer.thaw()

    def read(self, patterns: tuple[str, ...], *, max_files: int, max_bytes: int) -> Files:
        """Regular files of the workspace whose relative path matches a pattern (`fnmatch`).

        At most `max_files` + 1 of them and `max_bytes` + 1 bytes in all: whoever freezes them
        sees that it is too much. Links and devices are left out.
        """
        if self._workspace < 0:
            return {}
        return take_files(self._workspace, patterns, max_files=max_files, max_bytes=max_bytes)

    def close(self) -> None:
        """End it, and give everything back."""
        self.kill()
        for end in (self._control, self._setup, self._peer, *self.listeners):
            if end is not None:
                end.close()
        self._control = self._setup = None
        self.listeners = []
        if self._process is not None:
            try:
                self._process.wait(_DYING_S)
            except subprocess.TimeoutExpired:
                self._process.kill()  # process 1 dies with it
                self._process.wait()
            self._process = None
        for fd in (self.stdout, self.stderr, self._workspace, self._home):
            if fd >= 0:
                os.close(fd)
        self.stdout = self.stderr = self._workspace = self._home = -1
        deadline = time.monotonic() + _DYING_S
        while not self._remove_groups() and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        if self._index >= 0:
            release_index(self._index)
            self._index = -1

    def _remove_groups(self) -> bool:
        held = self._freezer is not None and not self._freezer.remove()
        return self._group.remove() and not held

    def _start(self) -> None:
        if not seccomp.is_supported():
            raise SandboxUnavailableError(f"no agent can be isolated here. {advice()}")
        self._index = claim_index()
        as_root = os.geteuid() == 0
        self._uid = outer_id(self._index, Role.CANDIDATE) if as_root else os.geteuid()
        self._gid = self._uid if as_root else os.getegid()
        self._control, self._setup = self._spawn()
        self._control.send(json.dumps(self._config(as_root=as_root)).encode())
        message = self._receive(self._control)
        if message[:1] != init.PID:
            raise self._unavailable(message)
        self.pid = int(message[1:])
        self._join_groups(self.pid)
        self._start_command()

    def _spawn(self) -> tuple[socket.socket, socket.socket]:
        control, control_there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        setup, setup_there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        with control_there, setup_there:
            self._process = start_guest(
                init.__name__, control_there, setup_there, environ={"LC_ALL": "C.UTF-8"}
            )
        return control, setup

    def _config(self, *, as_root: bool) -> dict[str, Any]:
        plan = self.plan
        shown, late = init.split_binds(plan.binds)
        spec = root_spec(Profile(kind=Kind.PROGRAM, binds=shown))
        binds = [*spec.binds, ["/proc", "/proc"], *init.hidden_files()]
        devices = [*spec.devices, *plan.devices]
        spec = replace(spec, binds=binds, devices=devices, scratch=False)
        free = sorted(os.sched_getaffinity(0))
        environ = {
            "PATH": f"/home/agent/bin:{COMMANDS}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            **program_environ(),
            **plan.environ,
            "HOME": init.HOME,
            "TMPDIR": init.TMP,
        }
        limits = [
            (resource.RLIMIT_NPROC, plan.processes),
            (resource.RLIMIT_NOFILE, plan.open_files),
            (resource.RLIMIT_FSIZE, plan.disk_bytes),
        ]
        if cgroups.find_parents().memory is None and not plan.devices:
            limits.append((resource.RLIMIT_DATA, plan.memory_bytes))
        return {
            "host_pid": os.getpid(),
            "as_root": as_root,
            "uid": self._uid,
            "gid": self._gid,
            "root": spec.to_json(),
            "threads_named": bool(plan.devices),
            "late": late,
            "ports": plan.ports,
            "etc": ETC,
            "disk_bytes": plan.disk_bytes,
            "inodes": max(1024, min(_MAX_INODES, plan.disk_bytes // _BLOCK)),
            "processors": free[: plan.processors or len(free)],
            "rlimits": limits,
            "command": self.command,
            "environ": environ,
        }

    def _join_groups(self, pid: int) -> None:
        """Put process 1 into its groups before it does anything, then let it go on."""
        name = f"{self._index}-{self.name}"
        places = cgroups.find_parents()
        cgroups.reap_stale(places)
        count = self.plan.processes + 2
        self._group = cgroups.create(places, name=name, pid=pid)
        self._group.make_room(self.plan.memory_bytes + self.plan.disk_bytes, count)
        if places.version == 2 and self._group.directories:
            self._freezer = freezer.Freezer(pid, self._group, 2)
        else:
            self._freezer = freezer.create(pid=pid, name=name)
        thaw = self._freezer.thaw_file() or ()
        assert self._control is not None
        self._control.send(init.GO + json.dumps(list(thaw)).encode())

    def _start_command(self) -> None:
        """Take the sockets and directories, put the files in place, and start the command."""
        assert self._setup is not None
        if not select.select([self._setup], [], [], _START_S)[0]:
            raise SandboxError(f"the process tree was not ready after {_START_S:.0f} s")
        max_fds = 2 + len(self.plan.ports)
        flags = socket.MSG_CMSG_CLOEXEC
        message, fds, _, _ = receive(socket.recv_fds, self._setup, 1 << 12, max_fds, flags)
        if message[:1] != init.READY:
            raise self._unavailable(message)
        self._workspace, self._home = fds[:2]
        self.listeners = [socket.socket(fileno=fd) for fd in fds[2:]]
        put_files(self._workspace, self.plan.workspace, uid=self._uid, gid=self._gid)
        put_files(self._home, self.plan.home, uid=self._uid, gid=self._gid)
        reader, writer = os.pipe()
        os.write(writer, self.plan.stdin)
        os.close(writer)
        self.stdout, out = os.pipe()
        self.stderr, err = os.pipe()
        more = [] if self._peer is None else [self._peer.fileno()]
        socket.send_fds(self._setup, [init.GO], [reader, out, err, *more])
        for fd in (reader, out, err):
            os.close(fd)
        if self._peer is not None:
            self._peer.close()
            self._peer = None

    def _receive(self, end: socket.socket) -> bytes:
        if not select.select([end], [], [], _START_S)[0]:
            return b""
        return receive(end.recv, 1 << 12)

    def _receive_failure(self) -> None:
        """Take what process 1 says when it cannot start the command."""
        if self._setup is None:
            return
        with contextlib.suppress(OSError):
            self._setup.setblocking(False)
            message = receive(self._setup.recv, 1 << 12)
            if message[:1] == init.FAILED:
                self.failure = message[1:].decode(errors="replace")

    def _unavailable(self, message: bytes) -> SandboxUnavailableError:
        said = message[1:].decode(errors="replace") or "it ended without a word"
        return SandboxUnavailableError(f"no agent can be isolated here: {said}. {advice()}")
