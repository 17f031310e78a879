"""Where a machine's time goes while something runs: counters, and a profile of the kernel.

`Counters` reads /proc before and after. `Profile` samples every core each millisecond by
perf_event_open(2) and names what the kernel was in; a lock's own function is named with the one
that wanted it. Both are divided by the number of things that were done, so that one worker can be
held against many: what grows is what the cores share. Needs root, or kernel.perf_event_paranoid
below 1 and readable addresses in /proc/kallsyms; without them there are counters only.
Sources: perf_event_open(2), proc(5).
"""

from __future__ import annotations

import bisect
import ctypes
import fcntl
import mmap
import os
import platform
import re
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

_TICK_MS = 1e3 / os.sysconf("SC_CLK_TCK")
_CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_INTERRUPTS = {"RES": "reschedule", "CAL": "function_call", "TLB": "tlb_shootdown", "LOC": "timer"}
_VMSTAT = {
    "pgfault": "page_faults", "pgfree": "pages_freed", "pgmigrate_success": "pages_migrated",
    "numa_foreign": "pages_of_another_node", "nr_tlb_remote_flush": "remote_tlb_flushes",
}  # fmt: skip


def read_counters() -> dict[str, float]:
    """Running totals of the machine: milliseconds of CPU by kind, and events."""
    found: dict[str, float] = {}
    for line in Path("/proc/stat").read_text().splitlines():
        name, *words = line.split()
        if name == "cpu":
            values = [int(word) * _TICK_MS for word in words[:8]]
            found |= {f"{key}_ms": value for key, value in zip(_CPU_FIELDS, values, strict=True)}
        elif name in ("ctxt", "processes"):
            found["context_switches" if name == "ctxt" else name] = int(words[0])
    for line in Path("/proc/interrupts").read_text().splitlines():
        name, _, rest = line.strip().partition(":")
        if name in _INTERRUPTS:
            found[_INTERRUPTS[name]] = sum(int(word) for word in rest.split() if word.isdigit())
    for line in Path("/proc/vmstat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name in _VMSTAT:
            found[_VMSTAT[name]] = int(value)
    for line in Path("/proc/softirqs").read_text().splitlines()[1:]:
        name, _, rest = line.strip().partition(":")
        if name in ("RCU", "SCHED"):
            found[f"softirq_{name.lower()}"] = sum(map(int, rest.split()))
    return found


class Counters:
    """What the machine counted while the block ran."""

    def __enter__(self) -> Counters:
        self._before = read_counters()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        after = read_counters()
        self.found = {name: after[name] - self._before[name] for name in after}

    def each(self, count: int) -> dict[str, float]:
        """Of each thing that was done; idle time is left out."""
        idle = ("idle_ms", "iowait_ms")
        return {n: round(v / count, 4) for n, v in self.found.items() if n not in idle and v}


_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_PERIOD_NS = 1_000_000
_SAMPLE_IP, _SAMPLE_CALLCHAIN = 1, 1 << 5
_DISABLED, _EXCLUDE_IDLE, _EXCLUDE_USER_CHAIN = 1, 1 << 7, 1 << 22
_ENABLE, _DISABLE = 0x2400, 0x2401
_PAGES = 128
_RECORD_SAMPLE = 9
_KEPT = 60
"""Places of a profile that are told."""
_MARKERS = -4096
"""Callchain entries above this, as unsigned numbers, say whose frames follow."""
_LOCK = re.compile(
    r"(spin|rwsem|mutex|osq|queued_(read|write)|percpu_(down|up)|down_(read|write)|up_(read|write))"
    r"|^_raw_|^__raw_callee_save|^rcu_read|^lock_"
)


class Profile:
    """Samples of all cores while the block runs, idle cores left out."""

    def __init__(self) -> None:
        self.error = ""
        self.samples: Counter[str] = Counter()
        self._rings: list[tuple[int, mmap.mmap]] = []

    def __enter__(self) -> Profile:
        try:
            self._symbols = _Symbols()
            for core in sorted(os.sched_getaffinity(0)):
                fd = _open_event(core)
                self._rings.append((fd, mmap.mmap(fd, (_PAGES + 1) * mmap.PAGESIZE)))
            self._tell(_ENABLE)
        except OSError as error:
            self.error = f"no profile: {error.strerror}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._tell(_DISABLE)
        for fd, ring in self._rings:
            for frames in _chains(ring):
                self.samples[self._symbols.name(frames)] += 1
            ring.close()
            os.close(fd)

    def _tell(self, request: int) -> None:
        for fd, _ in self._rings:
            fcntl.ioctl(fd, request, 0)

    def each(self, count: int) -> dict[str, Any]:
        """Microseconds of each thing that was done, by place; the error where nothing was seen."""
        if self.error:
            return {"error": self.error}
        scale = _PERIOD_NS / 1e3 / count
        return {name: round(n * scale, 2) for name, n in self.samples.most_common(_KEPT)}


def _open_event(core: int) -> int:
    flags = _DISABLED | _EXCLUDE_IDLE | _EXCLUDE_USER_CHAIN
    kinds = _SAMPLE_IP | _SAMPLE_CALLCHAIN
    head = struct.pack("IIQQQQQ", 1, 128, 0, _PERIOD_NS, kinds, 0, flags)
    attributes = ctypes.create_string_buffer(head, 128)
    libc = ctypes.CDLL(None, use_errno=True)
    number = _PERF_EVENT_OPEN.get(platform.machine(), -1)
    arguments = (number, ctypes.addressof(attributes), -1, core, -1, 8)  # close on exec
    fd = libc.syscall(*map(ctypes.c_long, arguments))
    if fd < 0:
        raise OSError(ctypes.get_errno(), f"perf_event_open: {os.strerror(ctypes.get_errno())}")
    return fd


def _chains(ring: mmap.mmap) -> Iterator[list[int]]:
    """The kernel's frames of each sample, the innermost first; none for a sample of a program."""
    (end,) = struct.unpack_from("Q", ring, 1024)
    data = ring[mmap.PAGESIZE : mmap.PAGESIZE + min(end, _PAGES * mmap.PAGESIZE)]
    at = 0
    while at + 8 <= len(data):
        kind, _, size = struct.unpack_from("IHH", data, at)
        if not size or at + size > len(data):
            return
        if kind == _RECORD_SAMPLE:
            _, count = struct.unpack_from("QQ", data, at + 8)
            frames = struct.unpack_from(f"{count}q", data, at + 24)
            in_kernel = bool(frames) and frames[0] == -128  # PERF_CONTEXT_KERNEL
            yield [frame for frame in frames if not _MARKERS < frame < 0] if in_kernel else []
        at += size


class _Symbols:
    """The kernel's functions by address. Raises OSError where addresses are hidden."""

    def __init__(self) -> None:
        pairs: list[tuple[int, str]] = []
        with Path("/proc/kallsyms").open() as lines:
            for line in lines:
                address, kind, name, *_ = line.split()
                if kind in "tTwW":
                    pairs.append((int(address, 16), name))
        pairs.sort()
        self._addresses = [address for address, _ in pairs]
        self._names = [name for _, name in pairs]
        if not pairs or not pairs[-1][0]:
            raise OSError(1, "/proc/kallsyms hides addresses")

    def name(self, frames: list[int]) -> str:
        """`program`, or the function; a lock's with the function that wants it."""
        if not frames:
            return "program"
        names = [self._one(frame & (1 << 64) - 1) for frame in frames]
        if not _LOCK.search(names[0]):
            return names[0]
        wants = next((name for name in names if not _LOCK.search(name)), "?")
        return f"{names[0]} for {wants}"

    def _one(self, address: int) -> str:
        index = bisect.bisect_right(self._addresses, address) - 1
        return self._names[index] if index >= 0 else hex(address)


def growth(few: dict[str, Any], many: dict[str, Any], *, count: int = 8) -> list[dict[str, Any]]:
    """The places whose time grew most from one profile to another."""
    if "error" in few or "error" in many:
        return []
    grown = sorted(many, key=lambda name: few.get(name, 0.0) - many[name])
    return [
        {"place": name, "few_us": few.get(name, 0.0), "many_us": many[name]}
        for name in grown[:count]
    ]
