"""Inside a process tree: its supervisor, and its init, which is process 1 of the tree.

The supervisor stays in the host's namespaces and touches nothing of the tree. It makes process 1 in
fresh namespaces and kills it when the host says so, hangs up, or is gone; the kernel then kills
whatever is left in the pid namespace. Process 1 builds the root, opens the listening sockets in the
new network and hands them to the host, waits until the host has put the files in place, drops its
privileges, starts the command and reaps what dies.

Covered: every process of the tree ends with the command, the supervisor and the host,
whatever kills them.
Not covered: see `unhack.sandbox.workspace.process_tree`.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found, unused-ignore]
import array
import contextlib
import fcntl
import json
import os
import resource
import select
import socket
import struct
from typing import Any

from unhack.sandbox.linux import agent_syscalls, calls, namespaces, rlimits
from unhack.sandbox.linux.sockets import receive

CONTROL, SETUP = 3, 4
PID, READY, FAILED, ENDED = b"P", b"R", b"F", b"X"
GO, KILL = b"G", b"K"
STATUS = struct.Struct("<cidd")
"""`ENDED`, wait status of process 1, CPU seconds, peak resident bytes of its largest process."""
DISK = "/disk"
WORKSPACE, HOME, TMP = "/workspace", "/home/agent", "/tmp"
_PLACES = {WORKSPACE: "workspace", HOME: "home", TMP: "tmp", "/dev/shm": "shm"}
_SPACES = (
    calls.CLONE_NEWUSER
    | calls.CLONE_NEWNS
    | calls.CLONE_NEWNET
    | calls.CLONE_NEWIPC
    | calls.CLONE_NEWUTS
    | calls.CLONE_NEWPID
)
_SIGKILL = 9
_FAILED_START = 125
_MAX_STATUS = 255
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
_HIDDEN_IN_PROC = ("/proc/kcore", "/proc/keys", "/proc/kmsg", "/proc/sysrq-trigger",
                  "/proc/timer_list", "/proc/sched_debug", "/proc/latency_stats")  # fmt: skip
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
    "random": "urandom",
}
_send_signal: Any = getattr(_signal, "pidfd_send_signal")  # noqa: B009


def kill(pidfd: int) -> None:
    """Kill a process; harmless when it has ended."""
    with contextlib.suppress(OSError):
        _send_signal(pidfd, _SIGKILL)


def _write_maps(pid: int, config: dict[str, Any]) -> None:
    as_root: bool = config["as_root"]
    if not as_root:
        with open(f"/proc/{pid}/setgroups", "w") as file:
            file.write("deny")
    for name, number in (("uid_map", config["uid"]), ("gid_map", config["gid"])):
        with open(f"/proc/{pid}/{name}", "w") as file:
            file.write(namespaces.id_maps(as_root=as_root, outer_id=number))


def main() -> None:
    """Entry point of the supervisor; its configuration is the first control message."""
    control, setup = socket.socket(fileno=CONTROL), socket.socket(fileno=SETUP)
    config = json.loads(receive(control.recv, 1 << 20))
    host = os.pidfd_open(os.getppid())
    if os.getppid() != config["host_pid"]:
        os._exit(0)
    supervisor = os.pidfd_open(os.getpid())
    gate, opener = os.pipe()
    try:
        pid, pidfd = calls.Cloner(_SPACES).clone()
        if pid == 0:
            os.close(opener)
            _run_process_1(config, setup, gate, supervisor)
        os.close(gate)
        setup.close()
        _write_maps(pid, config)
    except OSError as error:
        control.send(FAILED + f"{error.errno} {error}".encode()[:4000])
        os._exit(1)
    control.send(PID + str(pid).encode())
    _guard(control, host, pidfd, opener)
    _, status, usage = os.wait4(pid, 0)
    cpu_s = usage.ru_utime + usage.ru_stime
    with contextlib.suppress(OSError):
        control.send(STATUS.pack(ENDED, status, cpu_s, usage.ru_maxrss * 1024.0))
    os._exit(0)


def _guard(control: socket.socket, host: int, pidfd: int, opener: int) -> None:
    """Wait for the end of process 1; end it when the host wants that, or is gone."""
    poller = select.poll()
    for fd in (CONTROL, host, pidfd):
        poller.register(fd, select.POLLIN)
    thaw: list[str] = []
    while True:
        for fd, _ in poller.poll():
            if fd == pidfd:
                return
            message = receive(control.recv, 4096) if fd == CONTROL else b""
            if message[:1] == GO:
                thaw = json.loads(message[1:])
                os.write(opener, GO)
                continue
            kill(pidfd)
            if thaw:
                with contextlib.suppress(OSError), open(thaw[0], "w") as file:
                    file.write(thaw[1])
            if not message:
                poller.unregister(fd)


def _run_process_1(
    config: dict[str, Any], setup: socket.socket, gate: int, supervisor: int
) -> None:
    """Run process 1. Never returns."""
    code = _FAILED_START
    try:
        if os.read(gate, 1) != GO:
            os._exit(0)
        try:
            _set_up(config, setup)
            files = _drop_privileges(config, setup, supervisor)
            main_pid = _start_command(config, files)
        except Exception as error:
            with contextlib.suppress(OSError):
                setup.send(FAILED + f"{type(error).__name__}: {error}".encode()[:4000])
            os._exit(code)
        setup.close()
        os.closerange(0, 1 << 20)
        code = _reap(main_pid)
    finally:
        os._exit(code)


def _set_up(config: dict[str, Any], setup: socket.socket) -> None:
    """Build the root and the network, then tell the host, with what it needs of them."""
    os.setsid()
    enable_loopback()
    listeners = [_listen(port) for port in config["ports"]]
    calls.mount("proc", "/proc", kind="proc", flags=2 | 4 | 8)
    namespaces.build_root(config["root"])
    if config["threads_named"]:
        _let_threads_be_named()
    os.mkdir(DISK, 0o755)
    data = f"mode=755,size={config['disk_bytes']},nr_inodes={config['inodes']}"
    calls.mount("tmpfs", DISK, kind="tmpfs", flags=calls.MS_NOSUID | calls.MS_NODEV, data=data)
    for place, name in _PLACES.items():
        os.mkdir(f"{DISK}/{name}", 0o700)
        os.chown(f"{DISK}/{name}", namespaces.INNER_ID, namespaces.INNER_ID)
        os.makedirs(place, 0o755, exist_ok=True)
        calls.mount(f"{DISK}/{name}", place, flags=calls.MS_BIND)
    for stash, target in config["late"]:
        _mount_again(stash, target)
    calls.umount(DISK)
    os.rmdir(DISK)
    for path, text in config["etc"].items():
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    set_up_devices()
    folders = [os.open(place, os.O_PATH | os.O_DIRECTORY) for place in (WORKSPACE, HOME)]
    socket.send_fds(setup, [READY], [*folders, *(item.fileno() for item in listeners)])
    for fd in folders:
        os.close(fd)
    for item in listeners:
        item.close()
    namespaces.seal_root()


def _let_threads_be_named() -> None:
    """Let processes write to what /proc shows of themselves, and to nothing else there: a card's
    driver names its threads by `/proc/PID/task/TID/comm`, and does not start where it cannot."""
    flags = calls.MS_NOSUID | calls.MS_NODEV | calls.MS_NOEXEC
    calls.mount(None, "/proc", flags=calls.MS_REMOUNT | calls.MS_BIND | flags)
    for name in os.listdir("/proc"):
        path = f"/proc/{name}"
        if not name.isdigit() and os.path.isdir(path) and not os.path.islink(path):
            calls.mount(path, path, flags=calls.MS_BIND | calls.MS_REC)
            only_read = calls.MS_REMOUNT | calls.MS_BIND | calls.MS_RDONLY | flags
            calls.mount(None, path, flags=only_read)


def _mount_again(stash: str, target: str) -> None:
    """Show what is mounted read-only at `stash` at a place below one that was covered since."""
    if os.path.isdir(stash):
        os.makedirs(target, 0o755, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o444))
    calls.mount(stash, target, flags=calls.MS_BIND | calls.MS_REC)


def split_binds(
    binds: tuple[tuple[str, str], ...],
) -> tuple[tuple[tuple[str, str], ...], list[list[str]]]:
    """Binds with those below a writable place moved aside, and where they go afterwards."""
    first: list[tuple[str, str]] = []
    late: list[list[str]] = []
    for source, target in binds:
        if any(target.startswith(f"{place}/") for place in _PLACES):
            late.append([f"/shown/{len(late)}", target])
            first.append((source, late[-1][0]))
        else:
            first.append((source, target))
    return tuple(first), late


def set_up_devices() -> None:
    """Mount terminals of its own, and link the usual names."""
    os.mkdir("/dev/pts", 0o755)
    data = "newinstance,ptmxmode=0666,mode=0620"
    calls.mount("devpts", "/dev/pts", kind="devpts", flags=2 | 8, data=data)
    for link, target in _DEVICE_LINKS.items():
        if not os.path.lexists(f"/dev/{link}"):
            os.symlink(target, f"/dev/{link}")


def hidden_files() -> list[list[str]]:
    """Files of /proc that tell of the machine, as binds of nothing over them."""
    return [["/dev/null", path] for path in _HIDDEN_IN_PROC if os.path.exists(path)]


def enable_loopback() -> None:
    """Set up the loopback device of the network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sH22x", b"lo", 0)
        flags = struct.unpack_from("H", fcntl.ioctl(probe, _GET_FLAGS, request), 16)[0]
        fcntl.ioctl(probe, _SET_FLAGS, struct.pack("16sH22x", b"lo", flags | _UP))


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    return listener


def _drop_privileges(config: dict[str, Any], setup: socket.socket, supervisor: int) -> list[int]:
    """Wait for the files, then apply the layers; the descriptors that the command starts with."""
    message, ancillary, _, _ = receive(setup.recvmsg, 64, 64)
    if message != GO or not ancillary:
        os._exit(0)
    fds = array.array("i")
    fds.frombytes(ancillary[0][2])
    namespaces.become_nobody(as_root=config["as_root"])
    calls.prctl(calls.PR_SET_PDEATHSIG, _SIGKILL)
    poller = select.poll()
    poller.register(supervisor, select.POLLIN)
    if poller.poll(0):
        os._exit(0)
    calls.unshare(calls.CLONE_NEWCGROUP)
    calls.drop_capabilities()
    calls.prctl(calls.PR_SET_DUMPABLE, 0)
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    os.sched_setaffinity(0, config["processors"])
    rlimits.apply_fixed()
    for kind, value in config["rlimits"]:
        resource.setrlimit(kind, (value, value))
    agent_syscalls.build_filter().load()
    return list(fds)


def _start_command(config: dict[str, Any], files: list[int]) -> int:
    """Fork and execute the command; its pid."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        words = os.read(reader, 4000)
        if words:
            raise OSError(words.decode(errors="replace"))
        return pid
    try:
        os.setsid()
        fcntl.fcntl(writer, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
        for number, fd in enumerate(files):
            os.dup2(fd, number + 100)
        for number in range(len(files)):
            os.dup2(number + 100, number)
        keep = fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, 200)
        os.closerange(len(files), keep)
        os.closerange(keep + 1, 1 << 20)
        os.chdir(WORKSPACE)
        os.umask(0o022)
        try:
            os.execve(config["command"][0], config["command"], config["environ"])
        except OSError as error:
            os.write(keep, f"cannot run {config['command'][0]}: {error}".encode())
    finally:
        os._exit(_FAILED_START)


def _reap(main_pid: int) -> int:
    """Wait for every process that dies; the exit code of the command, as a shell tells it."""
    while True:
        pid, status = os.wait()
        if pid == main_pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else min(_MAX_STATUS, 128 - code)
