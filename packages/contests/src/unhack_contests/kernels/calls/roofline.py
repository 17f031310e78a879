"""How fast this machine can be at most, measured on it.

One thread reads a buffer that lies in its cache, and multiplies and adds in registers. Rates are
per second of CPU time, so another tenant does not lower them; a program on several cores is granted
as many times that. With cold caches nobody comes near: the floor is never above an honest time.

Source: Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from unhack.tournament.kit import KernelPlan, KernelProcess, Limits
from unhack_contests.kernels.compilation import compiler

_READ_BYTES = 256 << 10
_SAID = _READ_BYTES // 4 + 64
"""Offset at which the C code says how many operations a step has."""
_STEPS = 300_000
_TRIES = 12


@dataclass(frozen=True, slots=True)
class CpuRoof:
    """Of one core."""

    bytes_per_s: float
    flops_per_s: float

    def floor_s(self, traffic: float, flops: float, *, cores: int) -> float:
        """The least time for that much traffic and arithmetic."""
        return max(traffic / self.bytes_per_s, flops / self.flops_per_s) / cores


@functools.cache
def measure() -> CpuRoof:
    """The roofline of this machine; a third of a CPU second, once a process."""
    array = ["float32", 1, True]
    plan = KernelPlan(
        1 << 20, tuple((n, (array, array, "i", "i")) for n in ("pass", "multiply_add"))
    )
    limits = Limits(wall_s=120.0, cpu_s=60.0, soft_slice_s=120.0)
    code = compiler.compile_trusted(compiler.source("measuring", "roofline"))
    with (
        compiler.stage({"kernel.so": code}) as folder,
        KernelProcess(folder, entry="kernel.so", plan=plan, limits=limits) as worker,
    ):
        worker.load(timeout_s=30.0)
        numbers = np.frombuffer(worker.memory, np.float32)
        numbers[:] = 0.5
        passes = _best(worker, 0, repeats=100)
        steps = _best(worker, 1, repeats=_STEPS)
        return CpuRoof(passes * _READ_BYTES, steps * float(numbers[_SAID]))


def _best(worker: KernelProcess, index: int, *, repeats: int) -> float:
    """Repeats for each second of CPU time."""
    rates: list[float] = []
    for _ in range(_TRIES):
        before = worker.cpu_s()
        worker.call(index, (0, _READ_BYTES, _READ_BYTES // 4, repeats), timeout_s=30.0)
        rates.append(repeats / (worker.cpu_s() - before))
    return max(rates)
