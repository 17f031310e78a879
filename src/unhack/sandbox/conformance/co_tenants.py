"""Checks of what a job can do to processes and hosts beyond itself."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from contextlib import ExitStack

from unhack.sandbox.conformance.probe import LIMITS, ConformanceCheck, Probe, describe, expect
from unhack.sandbox.job import Ending, Kind
from unhack.sandbox.linux.processes import command_lines
from unhack.sandbox.linux.syscalls import TABLES, machine
from unhack.sandbox.rootfs import inside, interpreter

_START = """
import os
def f():
    made = []
    def attempt(name, start):
        try:
            pid = start()
        except (OSError, ImportError):
            return
        if pid == 0:
            os._exit(0)
        made.append(name)
        os.waitpid(pid, 0)
    attempt("fork", os.fork)
    attempt("posix_spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
    return made
"""
_SIGNAL = """
import ctypes, os
def f(pid, tgkill):
    reached = []
    def attempt(name, function):
        try:
            if function() != -1:
                reached.append(name)
        except OSError:
            pass
    call = ctypes.CDLL(None).syscall
    call.restype = ctypes.c_long
    attempt("kill", lambda: os.kill(pid, 0))
    attempt("kill group", lambda: os.killpg(pid, 0))
    attempt("tgkill", lambda: call(*map(ctypes.c_long, (tgkill, pid, pid, 0))))
    attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
    attempt("scheduler", lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
    attempt("parent", lambda: os.kill(os.getppid(), 0) if os.getppid() > 1 else -1)
    return reached
"""
_CONNECT = """
def f(port, path, abstract):
    reached = []
    try:
        import socket
    except ImportError:
        return reached
    def attempt(name, family, kind, address):
        try:
            with socket.socket(family, kind) as end:
                end.settimeout(2)
                reached.append(f"a {name} socket")
                end.connect(address)
                end.send(b"x")
                reached.append(name)
        except (OSError, AttributeError):
            pass
    attempt("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", port))
    attempt("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", port))
    attempt("tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", port))
    attempt("unix", socket.AF_UNIX, socket.SOCK_STREAM, path)
    attempt("abstract", socket.AF_UNIX, socket.SOCK_STREAM, "\\0" + abstract)
    attempt("netlink", socket.AF_NETLINK, socket.SOCK_RAW, (0, 0))
    attempt("packet", socket.AF_PACKET, socket.SOCK_RAW, ("lo", 0))
    return reached
"""


def _no_processes(probe: Probe) -> None:
    for kind in probe.kinds(Kind.FUNCTION, Kind.SCRATCH):
        made = probe.ask(_START, kind=kind)
        expect(not made, f"a {kind} job made a process by {', '.join(made)}")


def _programs_fork(probe: Probe) -> None:
    source = f"""
import os
pid = os.fork()
if pid == 0:
    os.execv({inside(interpreter())!r}, ["python", "-I", "-S", "-c", "print('child', flush=True)"])
print(os.waitpid(pid, 0)[1])
"""
    ended = probe.python(source)
    expect(ended.text() == "child\n0\n", describe(ended.outcome))


def _find_left_over(token: str) -> list[int]:
    """Host processes whose command line holds a token."""
    return [pid for pid, words in command_lines().items() if token.encode() in words]


def _daemons(probe: Probe) -> None:
    source = f"""
import os, sys
for keep_output in (True, False):
    ready, tell = os.pipe()
    os.set_inheritable(tell, True)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if not keep_output:
                null = os.open("/dev/null", os.O_RDWR)
                for fd in (0, 1, 2):
                    os.dup2(null, fd)
            code = "import os, sys, time; os.write(int(sys.argv[1]), b'x'); time.sleep(600)"
            words = ["python", "-I", "-S", "-c", code, str(tell), {probe.token!r}]
            os.execv(sys.executable, words)
        os._exit(0)
    os.wait()
    os.read(ready, 1)
print("left two behind")
"""
    started = time.monotonic()
    ended = probe.python(source, limits=LIMITS.with_(wall_s=120.0))
    expect(ended.text() == "left two behind\n", describe(ended.outcome))
    expect(ended.outcome.ending is Ending.EXITED, describe(ended.outcome))
    # Ample for a busy host: an outcome that waits for them comes at the limit, after 120 s.
    expect(time.monotonic() - started < 60.0, "the outcome waited for a process left behind")
    left = _find_left_over(probe.token)
    expect(not left, f"after the outcome these processes are alive: {left}")


def _timed_out_children(probe: Probe) -> None:
    source = f"""
import os, sys
code = "import time; time.sleep(60)"
if os.fork() == 0:
    os.setsid()
    os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", code, {probe.token!r}])
os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", code, {probe.token!r}])
"""
    ended = probe.python(source, limits=LIMITS.with_(wall_s=1.0))
    expect(ended.outcome.limit == "wall", describe(ended.outcome))
    left = _find_left_over(probe.token)
    expect(not left, f"after the deadline these processes are alive: {left}")


def _signals(probe: Probe) -> None:
    tgkill = TABLES[machine()]["tgkill"]
    pid = os.getpid()
    for kind in probe.kinds(Kind.FUNCTION, Kind.SCRATCH):
        reached = probe.ask(_SIGNAL, [pid, tgkill], kind=kind)
        expect(not reached, f"a {kind} job reached the host by {', '.join(reached)}")
    if not probe.lacks(Kind.PROGRAM):
        ended = probe.python(f"{_SIGNAL}\nprint(f({pid}, {tgkill}))")
        expect(ended.text() == "[]\n", f"a program reached the host: {ended.text()}")


def _network(probe: Probe) -> None:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix=probe.token[-8:]))
        os.chmod(folder, 0o755)
        path = f"{folder}/socket"
        listeners = [stack.enter_context(socket.socket(family)) for family in
                     (socket.AF_INET, socket.AF_UNIX, socket.AF_UNIX)]  # fmt: skip
        for listener, address in zip(
            listeners, (("127.0.0.1", 0), path, "\0" + probe.token), strict=True
        ):
            listener.bind(address)
            listener.listen()
            listener.setblocking(False)
        os.chmod(path, 0o777)
        port = listeners[0].getsockname()[1]
        arguments = [port, path, probe.token]
        for kind in probe.kinds(Kind.FUNCTION, Kind.SCRATCH):
            reached = probe.ask(_CONNECT, arguments, kind=kind)
            expect(not reached, f"a {kind} job reached {', '.join(reached)}")
        if not probe.lacks(Kind.PROGRAM):
            ended = probe.python(f"{_CONNECT}\nprint(f(*{arguments!r}))")
            expect(ended.text() == "[]\n", f"a program reached {describe(ended.outcome)}")
        for listener in listeners:
            try:
                listener.accept()
            except BlockingIOError:
                continue
            expect(False, "the host saw a connection")


CHECKS = (
    ConformanceCheck("function jobs cannot start a process", _no_processes),
    ConformanceCheck("programs may start processes", _programs_fork, benign=True),
    ConformanceCheck("no process outlives its job", _daemons, harmless=False),
    ConformanceCheck("no process outlives its deadline", _timed_out_children, harmless=False),
    ConformanceCheck("no other process can be signalled or slowed", _signals, harmless=False),
    ConformanceCheck("no network and no socket of the host can be reached", _network),
)
