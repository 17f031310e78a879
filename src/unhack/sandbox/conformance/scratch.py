"""Checks of the private directory, and of what two jobs could share."""

from __future__ import annotations

from unhack.sandbox.conformance.probe import LIMITS, ConformanceCheck, Probe, describe, expect
from unhack.sandbox.job import Kind
from unhack.sandbox.limits import MIB

_FILL = """
import os
def f(size, most):
    written = count = 0
    block = b"x" * size
    for number in range(most):
        try:
            with open(str(number), "wb", buffering=0) as file:
                count += 1
                written += file.write(block) if block else 0
        except OSError:
            break
        if len(block) and written % size:
            break
    return [written, count]
"""


def _private(probe: Probe) -> None:
    probe.require(Kind.SCRATCH)
    source = """
import os
def f(name):
    seen = os.listdir("."), os.listdir("/tmp"), os.getcwd()
    for folder in (".", "/tmp"):
        with open(os.path.join(folder, name + str(len(folder))), "w") as file:
            file.write("mine")
    os.makedirs("deep/er")
    os.chmod("deep", 0)
    return list(seen)
"""
    for number in range(3):
        seen = probe.ask(source, [probe.token], kind=Kind.SCRATCH)
        expect(seen == [[], [], "/scratch/work"], f"job {number} found {seen}")
    for _ in range(2):
        ended = probe.command(["sh", "-c", f"ls -A . /tmp; echo mine > {probe.token}"])
        left = set(ended.text().split()) - {".:", "/tmp:"}
        expect(ended.code == 0 and not left, f"a program found {left}: {describe(ended.outcome)}")


def _bytes(probe: Probe) -> None:
    probe.require(Kind.SCRATCH)
    limits = LIMITS.with_(disk_bytes=1 * MIB)
    written, _ = probe.ask(_FILL, [65536, 200], kind=Kind.SCRATCH, limits=limits)
    expect(0 < written <= MIB, f"{written} bytes fitted where 1 MiB is the limit")


def _inodes(probe: Probe) -> None:
    probe.require(Kind.SCRATCH)
    limits = LIMITS.with_(disk_bytes=1 * MIB)
    _, count = probe.ask(_FILL, [0, 4096], kind=Kind.SCRATCH, limits=limits)
    expect(0 < count <= 1024, f"{count} files fitted in 1 MiB")


def _no_set_uid(probe: Probe) -> None:
    probe.require(Kind.SCRATCH)
    source = """
import os, stat
def f():
    made = []
    for kind, device in ((stat.S_IFCHR, os.makedev(1, 5)), (stat.S_IFBLK, os.makedev(8, 0))):
        try:
            os.mknod("node", 0o666 | kind, device)
            made.append(kind)
        except OSError:
            pass
    return made
"""
    made = probe.ask(source, kind=Kind.SCRATCH)
    expect(not made, f"device nodes of the kinds {made} were made")


def _shared(probe: Probe) -> None:
    mark = """
import builtins, json, os, sys
def f(token):
    seen = [hasattr(builtins, token), hasattr(json, token), token in os.environ, token in sys.path]
    setattr(builtins, token, 1)
    setattr(json, token, 1)
    os.environ[token] = "1"
    sys.path.append(token)
    json.dumps = lambda *a, **k: "poisoned"
    return seen
"""
    for kind in probe.kinds(Kind.FUNCTION, Kind.SCRATCH):
        for _ in range(2 * probe.backend.slots + 1):
            seen = probe.ask(mark, [probe.token.replace("-", "_")], kind=kind)
            expect(not any(seen), f"a {kind} job found what another left: {seen}")


CHECKS = (
    ConformanceCheck("the private directory is empty and no other job's", _private, harmless=False),
    ConformanceCheck("the private directory is bounded in bytes", _bytes, harmless=False),
    ConformanceCheck("the private directory is bounded in files", _inodes, harmless=False),
    ConformanceCheck("no device node can be made", _no_set_uid, harmless=False),
    ConformanceCheck("a job leaves nothing behind for the next", _shared),
)
