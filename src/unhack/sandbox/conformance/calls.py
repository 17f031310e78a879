"""Checks of the system call filter, and of executable memory."""

from __future__ import annotations

import json
from collections.abc import Callable

from unhack.sandbox.conformance.kernel import CALLER, ENOSYS, EPERM, FORBIDDEN, Forbidden
from unhack.sandbox.conformance.probe import (
    ConformanceCheck,
    ConformanceError,
    Probe,
    describe,
    expect,
)
from unhack.sandbox.job import Kind
from unhack.sandbox.linux.syscalls import TABLES, machine

_NAMED = (
    "mount",
    "unshare",
    "bpf",
    "io_uring_setup",
    "keyctl",
    "userfaultfd",
    "perf_event_open",
    "kexec_load",
    "personality",
    "socket",
)


def _errnos(probe: Probe, kind: Kind) -> dict[str, int]:
    """The answer to each forbidden call in a job of a kind; asked once."""
    if kind not in probe.errnos:
        calls = [[call.name, call.number, list(call.arguments)] for call in FORBIDDEN]
        if kind is Kind.PROGRAM:
            ended = probe.python(f"{CALLER}\nimport json; print(json.dumps(f({calls!r})))")
            try:
                probe.errnos[kind] = json.loads(ended.text())
            except ValueError:
                raise ConformanceError(f"no answer: {describe(ended.outcome)}") from None
        else:
            probe.errnos[kind] = probe.ask(CALLER, [calls], kind=kind)
    return probe.errnos[kind]


def _expect_denied(probe: Probe, calls: list[Forbidden]) -> None:
    for kind in probe.kinds():
        errnos = _errnos(probe, kind)
        wanted = [call for call in calls if call.programs_too or kind is not Kind.PROGRAM]
        through = [f"{call.name} (errno {errnos[call.name]})" for call in wanted
                   if errnos[call.name] not in {EPERM, ENOSYS}]  # fmt: skip
        expect(not through, f"in a {kind} job the kernel was reached by {', '.join(through)}")


def _denies(name: str) -> Callable[[Probe], None]:
    return lambda probe: _expect_denied(probe, [call for call in FORBIDDEN if call.name == name])


def _others(probe: Probe) -> None:
    _expect_denied(probe, [call for call in FORBIDDEN if call.name not in _NAMED])


def _foreign_numbers(probe: Probe) -> None:
    """Check that x32 numbers, which name the same calls a second time, are denied."""
    if machine() != "x86_64":
        return
    no_arguments: list[int] = []
    calls = [["x32", 0x40000000 | TABLES["x86_64"]["getpid"], no_arguments]]
    errno = probe.ask(CALLER, [calls])["x32"]
    expect(errno in {EPERM, ENOSYS}, f"getpid by its x32 number: errno {errno}")


def _executable_memory(probe: Probe) -> None:
    table = {"x86_64": (9, 10), "aarch64": (222, 226)}[machine()]
    source = f"""
import ctypes
def f():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    def call(*args):
        return libc.syscall(*[ctypes.c_long(a) for a in args])
    got = []
    if call({table[0]}, 0, 4096, 7, 0x22, -1, 0) != -1:
        got.append("writable and executable")
    if call({table[0]}, 0, 4096, 5, 0x22, -1, 0) != -1:
        got.append("anonymous and executable")
    page = call({table[0]}, 0, 4096, 3, 0x22, -1, 0)
    if page == -1:
        got.append("no writable memory at all")
    if call({table[1]}, page, 4096, 5) != -1:
        got.append("executable after it was written")
    return got
"""
    for kind in probe.kinds(Kind.FUNCTION, Kind.SCRATCH):
        got = probe.ask(source, kind=kind)
        expect(not got, f"a {kind} job got memory that is {', '.join(got)}")


CHECKS = (
    *(ConformanceCheck(f"the filter denies {name}", _denies(name)) for name in _NAMED),
    ConformanceCheck("the filter denies every other forbidden call", _others),
    ConformanceCheck("the filter denies numbers of a foreign interface", _foreign_numbers),
    ConformanceCheck(
        "memory that was written cannot be executed by function jobs", _executable_memory
    ),
)
