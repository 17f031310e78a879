"""Bare forks of a plain interpreter, and forks with one thing more that a sealed job needs.

Each of N processes, started apart from the others, forks children one after the other: the child
runs a small function and ends, its parent waits. The processes begin at one moment and count for so
many seconds. An ingredient that scales worse than `nothing` names what the kernel shares.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SOURCE = str(Path(__file__).resolve().parents[1] / "src")

INGREDIENTS = {
    "nothing": "",
    "work": "child = work",
    "work, begun on its parent's core": "child = work; stays = True",
    "forked from one process": "",
    "memory each": "child = write_pages()",
    "memory each, on its core": "child = write_pages(); stay()",
    "imports of a worker": "import_worker()",
    "pinned pages": "import_worker(); pin()",
    "pinned pages, on its core": "import_worker(); pin(); stay()",
    "in namespaces": "enter()",
    "pid namespace each": "flags = CLONE_NEWPID",
    "pid and mount namespace each": "flags = CLONE_NEWPID | CLONE_NEWNS",
    "mount namespace each, as small as a worker's": "few_mounts(); flags = CLONE_NEWNS",
    "mount namespace and tmpfs each": "flags = CLONE_NEWPID | CLONE_NEWNS; child = mount_tmpfs",
    "ipc namespace each": "flags = CLONE_NEWIPC",
    "user namespace joined": "child = join()",
    "seccomp filter inherited": "load_filter()",
    "seccomp filter each": "child = load_filter_each()",
    "landlock each": "child = restrict()",
    "capabilities dropped each": "child = calls.drop_capabilities",
    "session each": "child = os.setsid",
    "descriptor over a socket": "before = pass_descriptor()",
    "control group each": "child = enter_group()",
}
"""What is added, and the lines that add it."""

PROGRAM = r"""
import sys
sys.path.append({source!r})
import gc, json, os, resource, socket, time
from unhack.sandbox.linux import calls, landlock, seccomp
CLONE_NEWPID, CLONE_NEWNS, CLONE_NEWIPC = calls.CLONE_NEWPID, calls.CLONE_NEWNS, calls.CLONE_NEWIPC
flags, child, before, stays = 0, lambda: None, lambda: None, False
TEXT = "def f(n):\n    return n * n\n"

def work():
    scope = {{}}
    exec(compile(TEXT, "solution", "exec"), scope)
    json.dumps([scope["f"](n) for n in range(7)])

def import_worker():
    import importlib
    from unhack.sandbox.guest.candidate import runner
    from unhack.sandbox.guest.server import fork_server
    for name in fork_server.LEAN:
        importlib.import_module(name)
    runner.warm_up()

def pin():
    from unhack.sandbox.guest.candidate import runner
    from unhack.sandbox.guest.server import hot_pages
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    if not hot_pages.pin(runner.warm_up, calls.Cloner(0), proc):
        raise SystemExit("no page could be pinned")

def write_pages():
    room = bytearray(500 * 4096)
    def write():
        for at in range(0, len(room), 4096):
            room[at] = 1
    return write

def stay():
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {{cores[int(sys.argv[1]) % len(cores)]}})

def enter():
    names = ("NEWNS", "NEWIPC", "NEWNET", "NEWUTS", "NEWCGROUP")
    calls.unshare(sum(getattr(calls, "CLONE_" + name, 0) for name in names))

def few_mounts():
    calls.unshare(CLONE_NEWNS)
    calls.mount(None, "/", flags=(1 << 18) | (1 << 14))
    targets = [line.split()[4] for line in open("/proc/self/mountinfo")]
    for target in targets[:7:-1]:
        try:
            calls.umount(target)
        except OSError:
            pass

def mount_tmpfs():
    calls.mount(None, "/", flags=(1 << 18) | (1 << 14))
    calls.mount("tmpfs", "/tmp", kind="tmpfs", data="size=1m")

def join():
    from unhack.sandbox.guest.server import accounts
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    [space] = accounts.make(proc, 1)
    return lambda: calls.join_user_namespace(space)

def a_filter():
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    return seccomp.build_denylist(("ptrace", "kexec_load", "reboot"))

def load_filter():
    a_filter().load()

def load_filter_each():
    return a_filter().load

def restrict():
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    ruleset = landlock.create_ruleset(readable=["/"], writable=["/dev/null"], executable=False)
    return lambda: landlock.restrict(ruleset)

def pass_descriptor():
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    def send():
        ours, theirs = socket.socketpair()
        socket.send_fds(here, [b"x"], [theirs.fileno()])
        _, fds, _, _ = socket.recv_fds(there, 10, 2)
        for fd in fds:
            os.close(fd)
        ours.close()
        theirs.close()
    return send

def enter_group():
    from unhack.sandbox.linux import cgroups
    parents = cgroups.find_parents()
    if parents.missing:
        raise SystemExit(parents.missing)
    group = cgroups.create(parents, name=f"forks-{{os.getpid()}}", pid=None)
    doors = [os.open(path / "cgroup.procs", os.O_WRONLY) for path in group.directories]
    import atexit
    atexit.register(group.remove)
    def enter():
        for door in doors:
            os.write(door, b"0")
    return enter

{lines}

def one_fork(cloner, remain=False):
    before()
    pid, pidfd = cloner.clone(remain=remain)
    if not pid:
        code = 1
        try:
            child()
            code = 0
        finally:
            os._exit(code)
    _, status, _ = os.wait4(pid, 0)
    os.close(pidfd)
    if status:
        raise SystemExit(f"a child ended with status {{status}}")

def loop():
    gc.collect()
    gc.freeze()
    cloner = calls.Cloner(flags, stay=stays)
    for _ in range(20):
        one_fork(cloner)
    while time.time() < {begin}:
        time.sleep(0.001)
    count, end = 0, {begin} + {seconds}
    used = sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
               for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    late = time.time() - {begin}
    while time.time() < end:
        one_fork(cloner, stays and count % 32 > 0)
        count += 1
    used = sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
               for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) - used
    os.write(1, (json.dumps([count, used, late]) + "\n").encode())

for _ in range({siblings} - 1):
    if not os.fork():
        loop()
        os._exit(0)
loop()
for _ in range({siblings} - 1):
    os.wait()
"""


def count_forks(name: str, processes: int, seconds: float) -> dict[str, Any]:
    """Forks a second of so many processes, and CPU milliseconds of each."""
    siblings = processes if name == "forked from one process" else 1
    starts = processes // siblings
    begin = time.time() + 0.6 + 0.015 * processes
    program = PROGRAM.format(
        source=SOURCE, lines=INGREDIENTS[name], begin=begin, seconds=seconds, siblings=siblings
    )
    command = [sys.executable, "-c", program]
    running = [
        subprocess.Popen(
            [*command, str(place)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for place in range(starts)
    ]
    rows: list[list[float]] = []
    for process in running:
        said, complaints = process.communicate(timeout=60 + seconds)
        if process.returncode:
            raise SystemExit(complaints.strip()[-300:] or f"status {process.returncode}")
        rows += [json.loads(line) for line in said.splitlines()]
    count = sum(row[0] for row in rows)
    if not count:
        raise SystemExit("no fork ended in time: the machine is busy with other things")
    return {
        "rate": round(count / seconds, 1),
        "cpu_ms": round(sum(row[1] for row in rows) / count * 1e3, 4),
        "latest_start_s": round(max(row[2] for row in rows), 3),
    }


def run_ingredient(name: str, processes: int, seconds: float) -> dict[str, Any]:
    """`count_forks` for a name of `INGREDIENTS`."""
    if name not in INGREDIENTS:
        raise SystemExit(f"no ingredient {name!r}; there are {', '.join(INGREDIENTS)}")
    return count_forks(name, processes, seconds)
