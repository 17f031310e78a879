"""The first process inside bubblewrap: it prepares one job, forks it, and tells how it ended.

It never reads the job: the child does, from a descriptor that only passes through here. The child
is locked down (Landlock, filter, limits, no capability) and this process is not, but nothing that
the child writes reaches it, and the child has a pid namespace of its own, in which it is the first
process and cannot name this one.

Covered: an unprivileged uid when root starts it, the private directory, the layers that
`server.fork_server` applies.
Not covered: the namespaces and the root, which bubblewrap makes; deadlines, which the host keeps.

Everything in this process, this source included, is readable by candidates.
"""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass
from typing import Any

from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.server import clock, fork_server, job_start
from unhack.sandbox.linux import calls, landlock, namespaces, rlimits, seccomp
from unhack.sandbox.linux.sockets import receive

GO, KILL = b"go", b"K"
STARTED = b"S"
"""The job is forked, and its time runs; before it comes `fork_server.READY`."""
_CAP_SETPCAP = 8
_NO_SERVER = 0x00010000
"""Clone flags for a fork server that is not there: a thread without shared signal handlers, which
the kernel refuses by itself."""
_OTHERS = 1
"""This process counts with the job; the uid, or the user namespace, is theirs alone."""
_ABOVE = 64
"""Descriptors are moved here before 0 to 4 are taken."""


@dataclass(slots=True)
class _Layers:
    """The layers of the job, made ready before the fork."""

    ruleset: int
    base: seccomp.FilterProgram
    second: seccomp.FilterProgram
    mapped_bytes: int

    def apply(self, job: dict[str, Any], first_closed: int) -> None:
        """Apply them in the child, between reading the job and running it."""
        if self.ruleset >= 0:
            landlock.restrict(self.ruleset)
        os.closerange(first_closed, 1 << 20)
        calls.drop_capabilities()
        self.base.load()
        self.second.load()
        rlimits.apply(job["rlimits"], mapped_bytes=self.mapped_bytes, others=_OTHERS)


def _become_nobody(outer_id: int, *, as_root: bool) -> None:
    """Take the unprivileged uid (an ordinary user's bubblewrap has mapped it already), and keep
    until the fork only the capability that mounts and makes a pid namespace."""
    if as_root:
        calls.prctl(calls.PR_SET_KEEPCAPS, 1)
        os.setgroups([])
        os.setresgid(outer_id, outer_id, outer_id)
        os.setresuid(outer_id, outer_id, outer_id)
        calls.keep_capabilities(calls.CAP_SYS_ADMIN, _CAP_SETPCAP)
    calls.drop_bounding_set()


def _mapped_bytes(proc: int) -> int:
    """Address space of this process; `proc` is the host's /proc, closed again."""
    fd = os.open("self/statm", os.O_RDONLY, dir_fd=proc)
    pages = int(os.read(fd, 200).split()[0])
    os.close(fd)
    os.close(proc)
    return pages * os.sysconf("SC_PAGE_SIZE")


def _load_modules(config: dict[str, Any]) -> set[str]:
    """Import what a job finds loaded; the top-level names of everything that is."""
    if config["role"] == "judge":
        importlib.import_module("unhack.sandbox.guest.judge.modes")
    library = os.path.dirname(os.path.realpath(os.__file__))
    sys.path[:] = [library, f"{library}/lib-dynload", *config["sites"]]
    for name in (*fork_server.LEAN, *config["preload"]):
        importlib.import_module(name)
    return {name.partition(".")[0] for name in sys.modules} - {"unhack"}


def _ruleset(config: dict[str, Any], loaded: set[str]) -> int:
    """Landlock's rules, or -1 where the kernel has none.

    site-packages is mounted whole, so the rules narrow it to what was preloaded.
    """
    if not landlock.abi_version():
        return -1
    readable = ["/"]
    if config["sites"] and not config["keep_sites"]:
        readable = list(config["readable"])
        sites: list[str] = config["sites"]
        for site in sites:
            names = os.listdir(site)
            readable += [f"{site}/{n}" for n in names if n.removesuffix(".libs") in loaded]
    writable = [namespaces.SCRATCH_PARENT] if config["kind"] != "function" else []
    writable.append("/dev/null")
    ruleset = landlock.create_ruleset(
        readable=readable, writable=writable, executable=config["kind"] == "program"
    )
    return fcntl.fcntl(ruleset, fcntl.F_DUPFD_CLOEXEC, _ABOVE)


def _prepare(config: dict[str, Any]) -> _Layers:
    """Do everything between the start of the interpreter and the fork."""
    kind = config["kind"]
    programs, scratch = kind == "program", kind == "scratch"
    loaded = _load_modules(config)
    _become_nobody(config["outer_id"], as_root=config["as_root"])
    if kind != "function":
        namespaces.mount_scratch(disk_bytes=config["disk"], executable=programs)
    calls.prctl(calls.PR_SET_PDEATHSIG, signal.SIGKILL)  # when bubblewrap dies; after the new uid
    calls.prctl(calls.PR_SET_DUMPABLE, 0)
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    rlimits.apply_fixed()
    os.environ.clear()
    os.environ.update(config["environ"])
    clock.freeze()
    denied = ("sched_setscheduler", "pidfd_send_signal", "landlock_restrict_self")
    places = programs and not calls.cores_are_narrowed()
    return _Layers(
        ruleset=_ruleset(config, loaded),
        base=seccomp.build_allowlist(server_flags=_NO_SERVER, scratch=scratch, programs=programs),
        second=seccomp.build_denylist((*seccomp.job_denies(places=places), *denied)),
        mapped_bytes=_mapped_bytes(config["fds"]["proc"]),
    )


def _run_job(fds: dict[str, int], layers: _Layers) -> None:
    """Run the job, in the child: take the descriptors, apply the layers, run. Never returns."""
    code = runner.BROKEN_EXIT
    try:
        high = {
            name: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
            for name, fd in fds.items()
            if name != "proc"
        }
        os.dup2(high["result"], job_start.JOB_CHANNEL, inheritable=False)
        if "stdin" in high:
            os.dup2(high["stdin"], 0)
        # Descriptor 1 is /dev/null here, and 2 leads to the host's log of bubblewrap's own words.
        os.dup2(high.get("stdout", 1), 1)
        os.dup2(high.get("stderr", 1), 2)
        first = job_start.JOB_CHANNEL + 1
        if "peer" in high:
            os.dup2(high["peer"], job_start.PEER_CHANNEL, inheritable=False)
            first = job_start.PEER_CHANNEL + 1
        code = runner.run(layers.apply, first, job_start.JOB_CHANNEL)
    finally:
        os._exit(code)


def _report(pid: int, started: float, control: socket.socket) -> None:
    """Reap the job and pass on what the kernel says of it."""
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - started
    cpu = usage.ru_utime + usage.ru_stime
    control.send(
        fork_server.REPORT.pack(fork_server.ENDED, 0, status, 0, wall, cpu, usage.ru_maxrss * 1024)
    )


def _watch(pid: int, pidfd: int, *, host: int, control: socket.socket) -> None:
    """Wait for the job's end; kill it when the host says so, or is gone."""
    started = time.monotonic()
    poller = select.poll()
    for end in (pidfd, host, control.fileno()):
        poller.register(end, select.POLLIN)
    while True:
        ready = {fd for fd, _ in poller.poll()}
        if pidfd in ready:
            _report(pid, started, control)
            return
        if host in ready or not receive(control.recv, 64):
            return
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def _receive(control: socket.socket, host: int) -> bytes:
    """The next message; empty when the host is gone, whoever else holds its end of the socket."""
    poller = select.poll()
    poller.register(host, select.POLLIN)
    poller.register(control, select.POLLIN)
    gone = host in {fd for fd, _ in poller.poll()}
    return b"" if gone else receive(control.recv, 1 << 20)


def main(control_fd: int, host: int) -> None:
    """Entry point; the configuration is the first control message, `host` a pidfd of the sender."""
    control = socket.socket(fileno=control_fd)
    words = _receive(control, host)
    if not words:
        os._exit(1)
    config = json.loads(words)
    fds: dict[str, int] = config["fds"]
    try:
        layers = _prepare(config)
    except Exception as error:
        control.send(fork_server.FAILED + f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(1)
    control.send(fork_server.READY)
    if _receive(control, host) != GO:
        os._exit(1)
    pid, pidfd = calls.Cloner(calls.CLONE_NEWPID).clone()
    if pid == 0:
        _run_job(fds, layers)
    control.send(STARTED)
    calls.drop_capabilities()
    for name, fd in fds.items():
        if name != "proc":
            os.close(fd)
    _watch(pid, pidfd, host=host, control=control)
    os._exit(0)
