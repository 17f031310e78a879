"""Checks that each limit is enforced, and named as what ended the job.

Times are ample: a busy host is slow to end a job, and one that goes on does so for far longer.
"""

from __future__ import annotations

import resource
import time

from unhack.sandbox.conformance.probe import (
    LIMITS,
    NO_ARGUMENTS,
    ConformanceCheck,
    Probe,
    SkipError,
    describe,
    expect,
    lines,
)
from unhack.sandbox.job import Ending, Isolation, Job, Kind
from unhack.sandbox.limits import MIB
from unhack.sandbox.linux import rlimits

_STUBBORN = """
import time
def f():
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass
"""


def _wall(probe: Probe) -> None:
    outcome = probe.calls(_STUBBORN, NO_ARGUMENTS, limits=LIMITS.with_(wall_s=0.4))
    expect((outcome.ending, outcome.limit) == (Ending.LIMIT, "wall"), describe(outcome))
    expect(0.35 <= outcome.wall_s < 20.0, f"it was ended after {outcome.wall_s:.2f} s, not 0.4")


def _cpu(probe: Probe) -> None:
    outcome = probe.calls(
        "def f():\n while True: pass", NO_ARGUMENTS, limits=LIMITS.with_(cpu_s=1.0)
    )
    expect((outcome.ending, outcome.limit) == (Ending.LIMIT, "cpu"), describe(outcome))
    expect(outcome.cpu_s < 4.0, f"it used {outcome.cpu_s:.1f} CPU seconds of 1")


def _memory(probe: Probe) -> None:
    source = """
def f():
    kept = []
    while len(kept) < 512:
        kept.append(bytearray(b"x" * (1 << 20)))
    return len(kept)
"""
    limits = LIMITS.with_(memory_bytes=64 * MIB)
    for kind in probe.kinds(Kind.FUNCTION, Kind.SCRATCH):
        outcome = probe.calls(source, NO_ARGUMENTS, kind=kind, limits=limits)
        refused = any(
            "MemoryError" in line[2] for line in lines(outcome.result) if line[1] == "raise"
        )
        ended = outcome.limit == "memory"
        expect(refused or ended, f"512 MiB fitted into 64 MiB of a {kind} job: {describe(outcome)}")
    if not probe.lacks(Kind.PROGRAM):
        done = probe.python(f"{source}\nprint(f())", limits=limits)
        expect(done.code != 0, f"512 MiB fitted into a program's 64 MiB: {describe(done.outcome)}")


def _results(probe: Probe) -> None:
    limits = LIMITS.with_(output_bytes=65536)
    outcome = probe.calls("def f(): return 'x' * (8 << 20)", NO_ARGUMENTS * 4, limits=limits)
    expect((outcome.ending, outcome.limit) == (Ending.LIMIT, "output"), describe(outcome)[:100])
    kept = len(outcome.result)
    expect(outcome.truncated and kept <= 65536, f"{kept} bytes of results were kept of 65536")


def _stdout(probe: Probe) -> None:
    limits = LIMITS.with_(output_bytes=65536)
    for source in ("while True: print('x' * 1000)", "print('x' * 65536)"):
        outcome = probe.script(source, limits=limits)
        expect((outcome.ending, outcome.limit) == (Ending.LIMIT, "output"), describe(outcome)[:100])
        kept = len(outcome.stdout)
        expect(outcome.truncated and kept == 65536, f"{kept} bytes of stdout were kept of 65536")


def _file_size(probe: Probe) -> None:
    probe.require(Kind.SCRATCH)
    source = """
import os
def f():
    try:
        with open("large", "wb", buffering=0) as file:
            while file.tell() < 16 << 20:
                file.write(b"x" * 65536)
    except OSError:
        pass
    return os.path.getsize("large")
"""
    limits = LIMITS.with_(file_bytes=MIB, disk_bytes=64 * MIB)
    size = probe.ask(source, kind=Kind.SCRATCH, limits=limits)
    expect(0 < size <= MIB, f"a file of {size} bytes was written where 1 MiB is the limit")


def _open_files(probe: Probe) -> None:
    source = """
import os
def f():
    count = 0
    try:
        for count in range(512):
            os.dup(0)
    except OSError:
        pass
    return count
"""
    count = probe.ask(source, limits=LIMITS.with_(open_files=16))
    expect(0 < count <= 16, f"{count} descriptors could be opened where 16 is the limit")


def _processes(probe: Probe) -> None:
    if probe.backend.isolation is Isolation.LANDLOCK:
        raise SkipError("without a user namespace the kernel counts every process of the user")
    limits = LIMITS.with_(processes=4, memory_bytes=2048 * MIB)
    limit = next(value for name, value in rlimits.encode(limits) if name == resource.RLIMIT_NPROC)
    threads = """
import threading
def f():
    threading.stack_size(65536)
    wait = threading.Event().wait
    try:
        for count in range(400):
            threading.Thread(target=wait, args=(30,), daemon=True).start()
    except RuntimeError:
        pass
    return count
"""
    count = probe.ask(threads, limits=limits)
    expect(0 < count <= limit, f"{count} threads ran at once where {limit} is the limit")
    forks = """
import os, time
for count in range(400):
    try:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
    except OSError:
        break
print(count)
"""
    if not probe.lacks(Kind.PROGRAM):
        ended = probe.python(forks, limits=limits)
        text = ended.text().strip()
        ok = text.isdigit() and 0 < int(text) <= limit
        expect(ok, f"{text or describe(ended.outcome)} processes where {limit} is the limit")


def _raising(probe: Probe) -> None:
    source = """
import resource
def f():
    raised = []
    for name in ("AS", "CPU", "FSIZE", "NOFILE", "CORE", "NICE", "RTPRIO", "MEMLOCK"):
        kind = getattr(resource, "RLIMIT_" + name)
        soft, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY:
            raised.append(name + " is unlimited")
            continue
        try:
            resource.setrlimit(kind, (hard + 1, hard + 1))
            raised.append(name)
        except (OSError, ValueError):
            pass
    return raised
"""
    for kind in probe.kinds(Kind.FUNCTION, Kind.SCRATCH):
        raised = probe.ask(source, kind=kind)
        expect(not raised, f"a {kind} job raised its limits: {', '.join(raised)}")


def _early_stop(probe: Probe) -> None:
    source = "import time\ndef f(x):\n if x: time.sleep(600)\n return x"
    job = probe.job(source, [[0], [1]], limits=LIMITS.with_(wall_s=120.0))
    job = Job(job.message, job.limits, job.profile, stop_when=lambda data: b"\n" in data)
    started = time.monotonic()
    outcome = probe.run(job)
    expect(outcome.ending is Ending.STOPPED, describe(outcome))
    expect(lines(outcome.result)[:1] == [[0, "ok", 0]], describe(outcome))
    expect(time.monotonic() - started < 60.0, "it went on after the judge had seen enough")


def _cancel(probe: Probe) -> None:
    job = probe.job(_STUBBORN, NO_ARGUMENTS, limits=LIMITS.with_(wall_s=120.0))
    started = time.monotonic()
    for delay in (0.0, 0.3):
        handle, wait = probe.start(job)
        time.sleep(delay)
        handle.cancel()
        outcome = wait()
        handle.cancel()
        expect(outcome.ending is Ending.STOPPED, f"cancelled after {delay} s: {describe(outcome)}")
    crowd = [probe.start(job) for _ in range(3 * probe.backend.slots)]
    for handle, _ in crowd:
        handle.cancel()
    endings = {wait().ending for _, wait in crowd}
    expect(endings == {Ending.STOPPED}, f"a cancelled crowd ended as {endings}")
    expect(time.monotonic() - started < 60.0, "cancelled jobs went on")


CHECKS = (
    ConformanceCheck("the wall limit ends a job that sleeps and catches everything", _wall),
    ConformanceCheck("the CPU limit ends a job that spins", _cpu),
    ConformanceCheck("the memory limit holds", _memory, harmless=False),
    ConformanceCheck("a flood of results is cut", _results),
    ConformanceCheck("a flood on stdout is cut", _stdout),
    ConformanceCheck("the file size limit holds", _file_size, harmless=False),
    ConformanceCheck("the number of open files is bounded", _open_files),
    ConformanceCheck("the number of processes and threads is bounded", _processes, harmless=False),
    ConformanceCheck("limits cannot be raised from inside", _raising),
    ConformanceCheck("a job ends early when the judge has seen enough", _early_stop, benign=True),
    ConformanceCheck("a job can be cancelled, whether it runs or waits", _cancel, benign=True),
)
