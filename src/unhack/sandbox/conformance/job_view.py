"""Checks of what a job finds around it: environment, identity, descriptors, host files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from unhack.sandbox.conformance.probe import ConformanceCheck, Probe, SkipError, expect
from unhack.sandbox.guest.server import clock
from unhack.sandbox.job import Isolation, Kind
from unhack.sandbox.linux import namespaces
from unhack.sandbox.pool.worker_start import ENVIRON

_READABLE = """
def f(paths):
    found = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                found.append([path, len(file.read(64))])
        except OSError:
            pass
    return found
"""
_WRITABLE = """
import os
def f(folders, name):
    found = []
    for folder in folders:
        path = os.path.join(folder, name)
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            os.unlink(path)
        except OSError:
            continue
        found.append(folder)
    return found
"""


def _as_program(source: str, arguments: str) -> str:
    return f"{source}\nprint(repr(f{arguments}))"


def _environment(probe: Probe) -> None:
    seen = probe.ask("import os\ndef f(): return dict(os.environ)")
    expect(seen == ENVIRON, f"the environment is {seen!r}")
    if not probe.lacks(Kind.PROGRAM):
        ended = probe.python("import os; print(sorted(os.environ.items()))")
        expect(ended.text() == f"{sorted(ENVIRON.items())}\n", f"a program sees {ended.text()}")


def _determinism(probe: Probe) -> None:
    source = "import random, time\ndef f(): return [hash('a'), random.random(), time.time()]"
    first, second = probe.ask(source), probe.ask(source)
    expect(first[:2] == second[:2], f"two runs gave {first[:2]} and {second[:2]}")
    late = [moment - clock.START for *_, moment in (first, second)]
    expect(all(0 <= seconds < 86400 for seconds in late), f"the clock is {late} s after its start")


def _descriptors(probe: Probe) -> None:
    source = """
import os
def f():
    found = []
    for fd in range(4096):
        try:
            os.fstat(fd)
        except OSError:
            continue
        found.append(fd)
    return found
"""
    for kind in probe.kinds(Kind.FUNCTION, Kind.SCRATCH):
        seen = probe.ask(source, kind=kind)
        expect(seen == [0, 1, 2, 3], f"a {kind} job holds the descriptors {seen}")
    if not probe.lacks(Kind.PROGRAM):
        ended = probe.python(_as_program(source, "()"))
        expect(ended.text() == "[0, 1, 2]\n", f"a program holds the descriptors {ended.text()}")


def _identity(probe: Probe) -> None:
    source = "import os\ndef f(): return [*os.getresuid(), *os.getresgid(), *os.getgroups()]"
    if probe.backend.isolation is Isolation.LANDLOCK and os.geteuid() != 0:
        raise SkipError("without namespaces an ordinary user has no other uid to give")
    ids = probe.ask(source)
    expect(len(set(ids)) == 1, f"uids, gids and groups are {ids}")
    mine = {0, os.geteuid(), os.getegid()}
    expect(ids[0] not in mine, f"the job runs as {ids[0]}, which is root or the caller")


def _capabilities(probe: Probe) -> None:
    source = """
import ctypes
def f():
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capget(header, data)
    return list(data)
"""
    for kind in probe.kinds(Kind.FUNCTION, Kind.SCRATCH):
        held = probe.ask(source, kind=kind)
        expect(not any(held), f"a {kind} job holds the capabilities {held}")
    if not probe.lacks(Kind.PROGRAM):
        ended = probe.python(_as_program(source, "()"))
        expect(ended.text() == "[0, 0, 0, 0, 0, 0]\n", f"a program holds {ended.text()}")


@contextmanager
def _secret(probe: Probe) -> Generator[str]:
    """A file that anybody on the host may read."""
    with tempfile.TemporaryDirectory(prefix=probe.token) as folder:
        os.chmod(folder, 0o755)
        path = Path(folder, "secret")
        path.write_text("secret")
        path.chmod(0o644)
        yield str(path)


def _nothing_readable(probe: Probe, paths: list[str]) -> None:
    for kind in probe.kinds(Kind.FUNCTION, Kind.SCRATCH):
        found = probe.ask(_READABLE, [paths], kind=kind)
        expect(not found, f"a {kind} job read {found}")
    if not probe.lacks(Kind.PROGRAM):
        ended = probe.python(_as_program(_READABLE, f"({paths!r})"))
        expect(ended.text() == "[]\n", f"a program read {ended.text()}")


def _host_files(probe: Probe) -> None:
    with _secret(probe) as path:
        ways = [path, "../" * 12 + path, f"/proc/self/root{path}", f"/proc/1/root{path}"]
        ways += [f"/proc/{os.getpid()}/root{path}", "/etc/passwd", "/etc/shadow", "/etc/hostname"]
        _nothing_readable(probe, ways)


def _proc(probe: Probe) -> None:
    owners = ["self", "1", str(os.getpid())]
    names = ["environ", "maps", "mem", "cmdline", "status"]
    paths = [f"/proc/{owner}/{name}" for owner in owners for name in names]
    _nothing_readable(probe, [*paths, "/proc/cpuinfo", "/proc/meminfo", "/sys/kernel/notes"])


def _writes(probe: Probe) -> None:
    folders = ["/", "/tmp", "/var/tmp", "/dev/shm", "/dev", "/usr", "/usr/lib", "/etc", "/run"]
    folders += ["/home", "/root", "/scratch", os.path.dirname(os.__file__), tempfile.gettempdir()]
    folders.append(".")
    found = probe.ask(_WRITABLE, [folders, probe.token])
    expect(not found, f"a function job can write in {found}")
    outside = [folder for folder in folders if folder not in {"/tmp", "."}]
    outside = [folder for folder in outside if not folder.startswith(("/tmp/", "/scratch/"))]
    if not probe.lacks(Kind.SCRATCH):
        found = probe.ask(_WRITABLE, [outside, probe.token], kind=Kind.SCRATCH)
        expect(not found, f"a scratch job can write in {found}")
    if not probe.lacks(Kind.PROGRAM):
        ended = probe.python(_as_program(_WRITABLE, f"({outside!r}, {probe.token!r})"))
        expect(ended.text() == "[]\n", f"a program can write in {ended.text()}")


def _host_name(probe: Probe) -> None:
    if probe.backend.isolation is Isolation.LANDLOCK:
        raise SkipError("without namespaces the host's name is seen")
    name = probe.ask("import os\ndef f(): return os.uname().nodename")
    expect(name == namespaces.HOST_NAME, f"the host is called {name!r}")


CHECKS = (
    ConformanceCheck("the environment is exactly the documented one", _environment),
    ConformanceCheck("the clock, the hash seed and the random seed are fixed", _determinism),
    ConformanceCheck("no descriptor is open but the job's own", _descriptors),
    ConformanceCheck("the uid and the gid are nobody's", _identity),
    ConformanceCheck("no capability is held", _capabilities),
    ConformanceCheck("no host file can be read", _host_files),
    ConformanceCheck("nothing of /proc and /sys can be read", _proc),
    ConformanceCheck("the host's name is not shown", _host_name),
    ConformanceCheck("nothing can be written outside the private directory", _writes),
)
