"""Host memory in the place of a card's: the judge and its sealed workers are the real ones."""

from __future__ import annotations

import functools
import mmap
import os
from collections.abc import Callable
from typing import Any

import pytest

from unhack.sandbox.gpu.cards import Card
from unhack.sandbox.gpu.process import GpuLimits
from unhack.sandbox.rootfs import interpreter
from unhack.tournament.contest import Measurement
from unhack_contests.kernels import score
from unhack_contests.kernels.calls.gains import TrimmedGains

torch: Any = pytest.importorskip("torch")

from unhack_contests.kernels.gpu import judge as judge_module  # noqa: E402
from unhack_contests.kernels.gpu import measure, oracle, probe, shared_memory, side  # noqa: E402
from unhack_contests.kernels.gpu.guest.device_memory import DeviceBlock  # noqa: E402
from unhack_contests.kernels.gpu.settings import GpuRoofline, GpuRules  # noqa: E402
from unhack_contests.kernels.gpu.side import GpuSetting  # noqa: E402
from unhack_contests.submission import RefusedError  # noqa: E402

SETTING = GpuSetting(
    Card(0, "/dev/zero", "host memory"), "cpu", "none",
    GpuLimits(memory_bytes=2 << 30, disk_bytes=64 << 20, processes=64),
)  # fmt: skip
RULES = GpuRules(pairs=4, roofline=GpuRoofline(1e15, 1e18, 1e18), thrash_bytes=1 << 12)
STAND_IN = """
import sys; sys.path.insert(0, "/harness")
import mmap, types, torch
from unhack_contests.kernels.gpu.guest import worker
def map_memory(torch, fd, size):
    shared = torch.frombuffer(mmap.mmap(fd, size), dtype=torch.uint8)
    return types.SimpleNamespace(synchronize=lambda: None), shared
worker.map_memory = map_memory
torch.cuda.synchronize = lambda *_: None
class Stream:
    wait_stream = wait_event = lambda self, other: None
torch.cuda.Stream = torch.cuda.current_stream = Stream
torch.cuda.stream = lambda stream: __import__("contextlib").nullcontext()
torch.set_num_threads(1)
worker.main()
"""
"""What runs in a worker instead of `worker.main()` alone: the same harness over a memory file."""


class HostDriver:
    """Memory files are blocks."""

    def export(self, block: DeviceBlock) -> int:
        return os.dup(block.handle)

    def free(self, block: DeviceBlock) -> None:
        os.close(block.handle)


def allocate(module: Any, size: int, device: str) -> tuple[Any, DeviceBlock, Any]:
    fd = os.memfd_create("card")
    os.ftruncate(fd, size)
    data = module.frombuffer(mmap.mmap(fd, size), dtype=module.uint8)
    return HostDriver(), DeviceBlock(0, size, fd), data


@pytest.fixture
def on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_memory, "allocate", allocate)
    monkeypatch.setattr(oracle, "DEVICE", "cpu")
    monkeypatch.setattr(oracle, "load", functools.partial(oracle.load, small=True))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: None)
    command = [interpreter(), "-B", "-P", "-s", "-c", STAND_IN]
    monkeypatch.setattr(side, "command", lambda: command)
    monkeypatch.setattr(judge_module, "_WAIT_SHARE", 1e9)  # a busy host makes every copy wait
    monkeypatch.setattr(probe, "_BUSY", 1e9)  # and the probe, which takes microseconds here
    monkeypatch.setattr(score, "_HOST_S", 1.0)  # and what the judge does before a call
    monkeypatch.setattr(judge_module, "_MOST_S", 0.0)  # and no two programs are ever alike
    monkeypatch.setattr(judge_module, "_QUIET_S", 2.0)
    monkeypatch.setattr(judge_module, "_LONG_ENOUGH_S", 2e-3)


@pytest.fixture
def reference(on_the_host: None) -> Callable[[str], str]:
    """The source of a problem's reference."""
    return lambda problem: oracle.load(torch, problem, seed=5).reference


@pytest.fixture
def judged(on_the_host: None) -> Callable[..., Measurement]:
    """Judges a submission to one problem: its Python, and files beside it."""

    def judge(problem: str, solution: str, files: dict[str, bytes] | None = None) -> Measurement:
        every = {f"{problem}.py": solution.encode(), **(files or {})}
        try:
            played = measure.play(torch, problem, every, 5, setting=SETTING, rules=RULES)
        except RefusedError as error:
            return error.measured()
        return score.decide(played.record, charge_load=False, gains=TrimmedGains)

    return judge
