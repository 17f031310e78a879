"""Makes the throwaway namespaces of the positive control and becomes their first process.

Run as `python -I control_stage.py` with a configuration (JSON) on stdin. Standard library only, so
that any interpreter can run it.

Covered: new mount, pid, network, ipc and uts namespaces (and a user namespace for an ordinary
user), every existing mount read-only, private tmpfs on the writable places, an unprivileged uid,
no new privileges, rlimits, death with the parent.
Not covered: a seal. Candidate, harness and holder of the answer share a uid on purpose.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
MS_BIND = 4096
MS_MOVE = 8192
MS_REC = 16384
MS_PRIVATE = 1 << 18
AT_RECURSIVE = 0x8000
MOUNT_ATTR_RDONLY = 1
SYS_MOUNT_SETATTR = 442
PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
SIOCGIFFLAGS = 0x8913
SIOCSIFFLAGS = 0x8914
IFF_UP = 1

UID = 61237
"""Who the candidate is when root runs the control; nobody else uses it."""
PYTHON = os.path.realpath(sys.executable)
"""Found before the file system changes: a virtual environment may lie below /tmp."""
FOLDER = Path("/tmp/control")
LIFETIME_S = 100
WRITABLE = ("/tmp", "/var/tmp", "/dev/shm")
LIMITS = {
    resource.RLIMIT_AS: (3 << 30, 3 << 30),
    resource.RLIMIT_CPU: (20, 30),
    resource.RLIMIT_CORE: (0, 0),
    resource.RLIMIT_FSIZE: (32 << 20, 32 << 20),
    resource.RLIMIT_NOFILE: (256, 512),
    resource.RLIMIT_NPROC: (128, 128),
}

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Turn a failed libc call into an exception."""
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """mount(2)."""
    arguments = [text.encode() for text in (source, target, kind)]
    check(libc.mount(*arguments, ctypes.c_ulong(flags), data.encode()), f"mount {target}")


def make_everything_read_only() -> None:
    """Private propagation, then the read-only flag on every mount below `/`."""
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    attributes = struct.pack("QQQQ", MOUNT_ATTR_RDONLY, 0, 0, 0)
    buffer = ctypes.create_string_buffer(attributes)
    result = libc.syscall(
        ctypes.c_long(SYS_MOUNT_SETATTR),
        ctypes.c_int(-100),
        b"/",
        ctypes.c_uint(AT_RECURSIVE),
        buffer,
        ctypes.c_size_t(len(attributes)),
    )
    check(result, "mount_setattr")


def expose_interpreter() -> None:
    """Make the interpreter reachable for another uid where a folder above it is closed."""
    prefix = Path(sys.base_prefix)
    closed = [path for path in reversed(prefix.parents) if not path.stat().st_mode & 1]
    if not closed:
        return
    staging = Path("/tmp/.interpreter")
    staging.mkdir()
    mount(str(prefix), str(staging), "", MS_BIND)
    mount("tmpfs", str(closed[0]), "tmpfs", 0, "mode=755,size=1m")
    prefix.mkdir(parents=True)
    mount(str(staging), str(prefix), "", MS_MOVE)
    staging.rmdir()


def raise_loopback() -> None:
    """`ip link set lo up`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh", b"lo", 0)
        flags = struct.unpack("16sh", fcntl.ioctl(handle, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sh", b"lo", flags | IFF_UP))


def enter_namespaces() -> int:
    """Unshare; returns the uid under which the candidate will run."""
    uid, gid = os.getuid(), os.getgid()
    flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET
    if uid == 0:
        check(libc.unshare(flags), "unshare")
        return UID
    check(libc.unshare(flags | CLONE_NEWUSER), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    return uid


def lay_out(files: dict[str, bytes], uid: int) -> None:
    """The private file system of the control, and its files."""
    make_everything_read_only()
    for place in WRITABLE:
        mount("tmpfs", place, "tmpfs", 0, "mode=1777,size=96m,nr_inodes=4000")
    mount("proc", "/proc", "proc", 0)
    if os.getuid() == 0:
        expose_interpreter()
    (FOLDER / "work").mkdir(parents=True)
    for name, content in files.items():
        path = FOLDER / name
        path.write_bytes(content)
        path.chmod(0o755)
    if os.getuid() == 0:
        for path in (FOLDER, *FOLDER.iterdir()):
            os.chown(path, uid, uid)


def become_unprivileged(uid: int) -> None:
    """Drop every privilege for good."""
    for kind, limits in LIMITS.items():
        hard = resource.getrlimit(kind)[1]
        wanted = tuple(limit if hard < 0 else min(limit, hard) for limit in limits)
        resource.setrlimit(kind, (wanted[0], wanted[1]))
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    check(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "pdeathsig")


def run_first_process(config: dict[str, Any], files: dict[str, bytes], uid: int) -> None:
    """What the first process of the namespaces does: lay out, drop, exec the host program."""
    raise_loopback()
    lay_out(files, uid)
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", config["secret_env"]: config["token"]}
    (FOLDER / "job.json").write_text(json.dumps(config))
    become_unprivileged(uid)
    os.chdir(FOLDER / "work")
    # The command line has no second argument: every fact stands in job.json and the environment.
    os.execve(PYTHON, [PYTHON, "-I", str(FOLDER / "control_host.py")], environment)


def main() -> int:
    """Read the configuration and run it; the exit status is the host program's."""
    config = json.load(sys.stdin)
    files = {name: Path(source).read_bytes() for name, source in config.pop("files").items()}
    uid = enter_namespaces()
    child = os.fork()
    if child == 0:
        try:
            run_first_process(config, files, uid)
        finally:
            os._exit(97)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(LIFETIME_S)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) & 0xFF


if __name__ == "__main__":
    sys.exit(main())
