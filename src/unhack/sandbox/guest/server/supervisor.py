"""The supervisor: a warm, sealed process that runs one command at a time, each in a fresh tree.

For each command it clones process 1 of a new pid, mount and ipc namespace. That mounts a bounded
file system in memory, the state's layers below it as an overlay, and a /proc of its own; it hands
the writable layer to the host by descriptor, drops every privilege, starts the command and reaps
what dies. When process 1 ends, the kernel has killed the rest.

Covered: nothing of one command reaches the next but the files that the host was handed; a module
(pytest) that was imported before is run without starting an interpreter; waiting for a core does
not count against the time limit; everything ends with the host and with the supervisor.
Not covered: bugs of the kernel. Where overlays are refused, process 1 copies the layers.
Sources: the kernel's overlayfs document, namespaces(7), clone(2).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import select
import socket
import struct
import sys
import time
from typing import Any

from unhack.sandbox.guest.candidate import main_program
from unhack.sandbox.guest.server import deadlines, init, library, overlay
from unhack.sandbox.linux import agent_syscalls, calls, namespaces, rlimits
from unhack.sandbox.linux.sockets import receive

CONTROL, ORDERS = 3, 4
MAPS, READY, FAILED, ENDED, LAYER = b"M", b"R", b"F", b"X", b"U"
REPORT = struct.Struct("<ciiddQ")
"""`ENDED`, wait status of the command, why, wall seconds, CPU seconds, peak resident bytes."""
BY_ITSELF, BY_WALL, BY_HOST, NOT_STARTED, BY_HARD_WALL = range(5)
MAX_ORDER = 1 << 18
"""Bytes of an order: arguments and environment."""
_STATUS = struct.Struct("<i")
_SPACES = calls.CLONE_NEWPID | calls.CLONE_NEWNS | calls.CLONE_NEWIPC
_BROKEN, _NO_COMMAND = 125, 127
_SIGKILL = 9
_CLOSE_ON_EXEC = 4  # CLOSE_RANGE_CLOEXEC (Linux 5.11)


class CommandLoop:
    """The loop."""

    def __init__(self, config: dict[str, Any], host: int, proc: int) -> None:
        self.config, self.host, self.proc = config, host, proc
        self.control = socket.socket(fileno=CONTROL)
        self.orders = socket.socket(fileno=ORDERS)
        self.own = os.pidfd_open(os.getpid())
        self.cloner = calls.Cloner(_SPACES)
        self.filter = agent_syscalls.build_filter()

    def serve(self) -> None:
        """Run commands until the host is gone."""
        poller = select.poll()
        for fd in (CONTROL, ORDERS, self.host):
            poller.register(fd, select.POLLIN)
        while True:
            for fd, _ in poller.poll():
                if fd == self.host:
                    os._exit(0)
                if fd == CONTROL:
                    if not receive(self.control.recv, 64):
                        os._exit(0)
                    continue  # a kill that came after the end
                flags = socket.MSG_CMSG_CLOEXEC
                data, fds, _, _ = receive(socket.recv_fds, self.orders, MAX_ORDER, 8, flags)
                if not data:
                    os._exit(0)
                self.run(json.loads(data), fds)

    def run(self, order: dict[str, Any], fds: list[int]) -> None:
        """Run one command and report its end."""
        reader, writer = os.pipe()
        started = time.monotonic()
        pid, pidfd = self.cloner.clone()
        if pid == 0:
            os.close(reader)
            self.become_process_1(order, fds, writer)
        os.close(writer)
        for fd in fds:
            os.close(fd)
        why = self.watch(pid, pidfd, started, order)
        _, status, usage = os.wait4(pid, 0)
        os.close(pidfd)
        words = os.read(reader, _STATUS.size)
        os.close(reader)
        if len(words) == _STATUS.size:
            status = _STATUS.unpack(words)[0]
        elif why == BY_ITSELF:
            why = NOT_STARTED
        wall, cpu = time.monotonic() - started, usage.ru_utime + usage.ru_stime
        self.control.send(REPORT.pack(ENDED, status, why, wall, cpu, usage.ru_maxrss * 1024))

    def watch(self, pid: int, pidfd: int, started: float, order: dict[str, Any]) -> int:
        """Wait for the end of process 1; the cause."""
        poller = select.poll()
        for fd in (pidfd, CONTROL, self.host):
            poller.register(fd, select.POLLIN)
        why, wall_s, hard = BY_ITSELF, order["wall"], started + order["wall_hard"]
        end = min(started + wall_s, hard)
        while True:
            left = max(0.0, end - time.monotonic()) * 1000 + 1 if why == BY_ITSELF else None
            for fd, _ in poller.poll(left):
                if fd == pidfd:
                    return why
                if fd == self.host or not receive(self.control.recv, 64):
                    os._exit(0)  # process 1 dies with its parent
                why = BY_HOST
                init.kill(pidfd)
            if why == BY_ITSELF and time.monotonic() >= end:
                seen = deadlines.job_times(self.proc, pid, program=True)
                more = seen.extension(wall_s=wall_s, elapsed_s=time.monotonic() - started)
                late = time.monotonic() >= hard
                if more and not late:
                    end = min(started + wall_s + more, hard)
                else:
                    why = BY_HARD_WALL if late else BY_WALL
                    init.kill(pidfd)

    def become_process_1(self, order: dict[str, Any], fds: list[int], status: int) -> None:
        """Prepare the tree and run the command. Never returns."""
        code = _BROKEN
        try:
            calls.prctl(calls.PR_SET_PDEATHSIG, _SIGKILL)
            poller = select.poll()
            poller.register(self.own, select.POLLIN)
            if poller.poll(0):
                os._exit(0)
            try:
                if len(fds) > 3:
                    os.write(fds[3], b"0")
                    os.close(fds[3])
                layer = overlay.show(order, self.config["hidden"])
                socket.send_fds(self.orders, [LAYER], [layer])
                os.close(layer)
                self.drop_privileges(order)
                main_pid = self.start(order, fds, status)
            except Exception as error:
                self.orders.send(FAILED + f"{type(error).__name__}: {error}".encode()[:2000])
                os._exit(code)
            _close_all_but(status)
            raw = _reap(main_pid)
            os.write(status, _STATUS.pack(raw))
            code = 0
        finally:
            os._exit(code)

    def drop_privileges(self, order: dict[str, Any]) -> None:
        """Apply the layers that the command cannot take off."""
        os.setsid()
        self.take_user(order)
        calls.prctl(calls.PR_SET_DUMPABLE, 0)
        calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
        for kind, value in order["rlimits"]:
            resource.setrlimit(kind, (value, value))
        os.umask(0o022)
        self.filter.load()

    @staticmethod
    def take_user(order: dict[str, Any]) -> None:
        """Become the image's user, without capabilities but for what its root is left with."""
        uid, gid, groups = order["user"] or (-1, -1, ())
        kept = namespaces.IMAGE_ROOT if order["may_change_id"] and uid == 0 else ()
        calls.drop_bounding_set(*kept)
        if uid > 0 or gid > 0:
            os.setgroups(groups)
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        if kept:
            calls.keep_capabilities(*kept)
        else:
            calls.drop_capabilities()

    def start(self, order: dict[str, Any], fds: list[int], status: int) -> int:
        """Start the command; its pid, 0 where it cannot be run, which its stderr says."""
        try:
            os.chdir(order["cwd"])
        except OSError as error:
            os.write(fds[2], f"{order['cwd']}: {error.strerror}\n".encode())
            return 0
        if order["module"]:
            pid = os.fork()
            if pid == 0:
                self.run_module(order, fds)
            return pid
        _keep_from_commands()
        actions = [(os.POSIX_SPAWN_DUP2, fds[at], at) for at in range(3)]
        os.environ["PATH"] = order["environ"]["PATH"]
        argv = order["argv"]
        try:
            return os.posix_spawnp(
                argv[0], argv, order["environ"], file_actions=actions, setsid=True
            )
        except OSError as error:
            os.write(fds[2], f"{argv[0]}: {error.strerror}\n".encode())
            return 0

    def run_module(self, order: dict[str, Any], fds: list[int]) -> None:
        """Run a module as `python -m` does, in this warm interpreter. Never returns."""
        code = 1
        try:
            os.setsid()
            for at in range(3):
                os.dup2(fds[at], at)
            os.closerange(3, 1 << 20)
            calls.prctl(calls.PR_SET_DUMPABLE, 1)
            os.environ.clear()
            os.environ.update(order["environ"])
            sys.argv[:] = order["argv"]
            sys.path[0:0] = [os.getcwd()]
            code = main_program.run_module(order["argv"][0])
        finally:
            os._exit(code)


def _keep_from_commands() -> None:
    """Let no descriptor but the standard streams outlive an exec. Raises OSError."""
    try:
        calls.syscall("close_range", 3, 0xFFFFFFFF, _CLOSE_ON_EXEC)
    except OSError:
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                os.set_inheritable(int(name), int(name) < 3)


def _close_all_but(fd: int) -> None:
    os.closerange(0, fd)
    os.closerange(fd + 1, 1 << 20)


def _reap(main_pid: int) -> int:
    """Wait for every process that dies; the wait status of the command."""
    if main_pid == 0:
        return _NO_COMMAND << 8
    while True:
        pid, status = os.wait()
        if pid == main_pid:
            return status


def _isolate(config: dict[str, Any], control: socket.socket) -> None:
    namespaces.enter()
    control.send(MAPS)
    if receive(control.recv, 64) != b"ok":
        raise OSError(1, "the host could not write the id maps")
    init.enable_loopback()
    namespaces.build_root(config["root"])
    for path, text in config["etc"].items():
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    init.set_up_devices()
    overlay.make_places()


def _loaded_by(modules: list[str], *, keep: bool) -> set[str]:
    """The top-level names that importing some modules loads; they stay loaded if `keep`."""
    if not keep:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.write(writer, "\n".join(_loaded_by(modules, keep=True)).encode())
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader) as file:
            names = set(file.read().split())
        os.waitpid(pid, 0)
        return names
    for name in modules:
        importlib.import_module(name)
    return {name.partition(".")[0] for name in sys.modules}


def prepare(config: dict[str, Any], control: socket.socket) -> CommandLoop:
    """Do everything between the start of the interpreter and the first command."""
    host = os.pidfd_open(os.getppid())
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    if os.getppid() != config["host_pid"]:
        os._exit(0)
    _isolate(config, control)
    library.follow(config["root"]["moved"])
    sys.path[:] = config["path"] + config["sites"]
    loaded = _loaded_by(config["preload"], keep=config["warm"])
    namespaces.narrow_sites(config["root"], loaded, metadata=True)
    namespaces.seal_root()
    if config["image_ids"]:
        ids = config["image_ids"]
        namespaces.become_image_root(
            as_root=config["as_root"], ids=ids, proc=proc, proc_place=overlay.PROC
        )
    else:
        namespaces.become_mounter(as_root=config["as_root"])
    library.check_readable(config["path"], config["sites"], loaded)
    os.environ.clear()
    supervisor = CommandLoop(config, host, proc)
    gc.collect()
    gc.freeze()  # the collector would write to each of its pages in every fork
    gc.disable()
    calls.prctl(calls.PR_SET_DUMPABLE, 0)
    rlimits.apply_fixed()
    return supervisor


def main() -> None:
    """Entry point; the configuration is the first control message."""
    control = socket.socket(fileno=CONTROL)
    config = json.loads(receive(control.recv, 1 << 20))
    control.detach()
    try:
        supervisor = prepare(config, control := socket.socket(fileno=CONTROL))
        control.detach()
    except Exception as error:
        with contextlib.suppress(OSError):
            control.send(FAILED + f"{type(error).__name__}: {error}".encode()[:2000])
        os._exit(1)
    supervisor.control.send(READY + (b"1" if overlay.works() else b"0"))
    supervisor.serve()
