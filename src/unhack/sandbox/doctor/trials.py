"""Trials of each mechanism of the sandbox, in a child process, with the kernel's answers.

Reading settings is not enough: some hosts (AppArmor's restriction of user namespaces) let the first
step succeed and refuse a later one.

Covered: everything is undone by the end of the child that tried it.
Not covered: whether the layers hold a job; `conformance` tells that.

Runs as a program of its own, because a process that made a namespace cannot go back.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable

from unhack.sandbox.guest.server import accounts, hot_pages
from unhack.sandbox.linux import calls, cgroups, landlock, namespaces, rlimits, seccomp

_PR_GET_NO_NEW_PRIVS = 39


def _unshare(flags: int) -> Callable[[], None]:
    return lambda: calls.unshare(calls.CLONE_NEWUSER | flags)


def _mount() -> None:
    """A private tmpfs, as the first step of every root directory."""
    calls.unshare(calls.CLONE_NEWUSER | calls.CLONE_NEWNS)
    calls.mount(None, "/", flags=calls.MS_REC | calls.MS_PRIVATE)
    base = next(path for path in ("/tmp", "/var/tmp", "/mnt", "/usr") if os.path.isdir(path))
    calls.mount("tmpfs", base, kind="tmpfs", data="size=64k")


def _pid() -> None:
    calls.unshare(calls.CLONE_NEWUSER | calls.CLONE_NEWPID)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if os.getpid() == 1 else 1)
    if os.waitpid(pid, 0)[1]:
        raise OSError(1, "the child is not the first process of its namespace")


def _map_ids() -> None:
    """Be nobody inside, as jobs are: the maps are written from outside."""
    ready, go = os.pipe(), os.pipe()
    outside = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(ready[1])
        code = 0
        if os.read(ready[0], 1):  # nothing comes when the namespace could not be made
            try:
                _write_maps(outside)
            except OSError as error:
                code = error.errno or 1
            os.write(go[1], bytes([code]))
        os._exit(0)
    uid = os.geteuid()
    calls.unshare(calls.CLONE_NEWUSER)
    os.write(ready[1], b"x")
    (code,) = os.read(go[0], 1)
    os.waitpid(pid, 0)
    if code:
        raise OSError(code, os.strerror(code))
    if uid == 0:
        os.setgroups([])
        os.setresuid(namespaces.INNER_ID, namespaces.INNER_ID, namespaces.INNER_ID)
    if os.getuid() != namespaces.INNER_ID:
        raise OSError(1, f"uid {os.getuid()} instead of nobody's")


def _write_maps(pid: int) -> None:
    as_root = os.geteuid() == 0
    for name, own in (("uid_map", os.geteuid()), ("gid_map", os.getegid())):
        if not as_root and name == "gid_map":
            _write(f"/proc/{pid}/setgroups", "deny")
        outer = 65534 if as_root else own
        _write(f"/proc/{pid}/{name}", namespaces.id_maps(as_root=as_root, outer_id=outer))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _overlay() -> None:
    """An overlay in memory in which a folder is deleted and made again, as commands may do."""
    uid, gid = os.geteuid(), os.getegid()
    calls.unshare(calls.CLONE_NEWUSER | calls.CLONE_NEWNS)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"0 {uid} 1\n")
    _write("/proc/self/gid_map", f"0 {gid} 1\n")
    calls.mount(None, "/", flags=calls.MS_REC | calls.MS_PRIVATE)
    base = next(path for path in ("/tmp", "/var/tmp", "/mnt", "/usr") if os.path.isdir(path))
    calls.mount("tmpfs", base, kind="tmpfs", data="size=1m")
    os.chdir(base)
    for name in ("low", "low/d", "low/d/x", "upper", "work", "shown"):
        os.mkdir(name)
    data = "lowerdir=low,upperdir=upper,workdir=work,userxattr"
    calls.mount("overlay", "shown", kind="overlay", data=data)
    os.rmdir("shown/d/x")
    os.rmdir("shown/d")
    os.mkdir("shown/d")
    if os.listdir("shown/d"):
        raise OSError(1, "what was deleted shows again")


def _seccomp() -> None:
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.build_denylist(("socket",)).load()
    try:
        calls.syscall("socket", 1, 1, 0)
    except OSError as error:
        if error.errno == 1:
            return
    raise OSError(1, "the filter was loaded and had no effect")


def _landlock() -> None:
    ruleset = landlock.create_ruleset(readable=[])
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict(ruleset)
    try:
        os.listdir("/")
    except PermissionError:
        return
    raise OSError(1, "the rules were applied and had no effect")


def _no_new_privs() -> None:
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    if calls.prctl(_PR_GET_NO_NEW_PRIVS) != 1:
        raise OSError(1, "no_new_privs does not stay set")


def _hot_pages() -> None:
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    if not hot_pages.pin(lambda: None, calls.Cloner(0), proc):
        raise OSError(1, "no page could be pinned through io_uring")


def _cgroup() -> None:
    parents = cgroups.find_parents()
    if parents.missing:
        raise OSError(13, parents.missing)
    pid = os.fork()
    if pid == 0:
        signal.pause()
        os._exit(0)
    group = cgroups.create(parents, name="trial", pid=pid)
    made = len(group.directories)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    group.remove()
    if made < len(parents.directories()):
        raise OSError(13, "a group was made, but a process could not be moved into it")


def _accounts() -> None:
    if os.geteuid() == 0:
        os.setresuid(namespaces.INNER_ID, namespaces.INNER_ID, namespaces.INNER_ID)
        calls.prctl(calls.PR_SET_DUMPABLE, 1)
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    [made] = accounts.make(proc, 1)
    if not accounts.count_apart(made):
        raise OSError(38, "the kernel counts the threads of a user in all namespaces together")


TRIALS: dict[str, Callable[[], None]] = {
    "user": _unshare(0),
    "ids": _map_ids,
    "mount": _mount,
    "pid": _pid,
    "net": _unshare(calls.CLONE_NEWNET),
    "ipc": _unshare(calls.CLONE_NEWIPC),
    "uts": _unshare(calls.CLONE_NEWUTS),
    "cgroup-namespace": _unshare(calls.CLONE_NEWCGROUP),
    "seccomp": _seccomp,
    "landlock": _landlock,
    "no-new-privs": _no_new_privs,
    "rlimits": rlimits.apply_fixed,
    "cgroups": _cgroup,
    "accounts": _accounts,
    "overlay": _overlay,
    "hot-pages": _hot_pages,
}


def attempt(trial: Callable[[], None]) -> str:
    """Run a trial in a child; empty when it works, else what the kernel said."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            trial()
            words = ""
        except BaseException as error:
            words = f"{type(error).__name__}: {error}"
        os.write(write_end, words.encode()[:4000])
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        words = pipe.read().decode(errors="replace")
    _, status = os.waitpid(pid, 0)
    return words if status == 0 else words or f"the trial died (wait status {status})"


def main() -> None:
    """Try everything; a JSON object of name -> what went wrong, on stdout."""
    json.dump({name: attempt(trial) for name, trial in TRIALS.items()}, sys.stdout)
