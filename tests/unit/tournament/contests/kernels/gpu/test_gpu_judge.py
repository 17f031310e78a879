"""The judge of the device kernels, with host memory in the place of a device's."""

from __future__ import annotations

import contextlib
import ctypes
import socket
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unhack.tournament.contest import Measurement

torch: Any = pytest.importorskip("torch")

from unhack.tournament.contests.kernels import score  # noqa: E402
from unhack.tournament.contests.kernels.gpu import (  # noqa: E402
    corpus,
    honest,
    judge,
    memory,
    oracle,
    worker,
)
from unhack.tournament.contests.kernels.gpu.problems import registry  # noqa: E402

ROOF = judge.GpuRoof(1e15, 1e18, 1e18)
EXACTLY = (
    "late_thread", "lazy_output", "zero_output", "input_returned", "half_product", "eight_bits",
    "other_gelu", "narrow_softmax", "clobbered_input", "zeroed_input", "impostor_shape",
    "replay_by_pointer", "replay_by_sample", "first_calls_only", "result_in_the_output",
    "first_head_for_all", "estimated_topk", "not_a_number", "stale_weights", "sleeping_thread",
    "guessed_seed",
)  # fmt: skip
"""Cheats that are in the stand-in what they are on a device: no stream of their own is needed to be
late, no graph, no unit of ten bits, no size of the statement."""
HONEST = (
    "library_attention", "in_place_on_the_output", "channels_last", "float_scan", "fused_epilogue",
    "block_with_fused_attention", "mean_before_the_head", "talks_of_the_judge", "joined_streams",
    "three_products",
)  # fmt: skip


class HostDriver:
    """Addresses of this process are handles: both sides live in it."""

    kept: dict[int, Any] = {}  # noqa: RUF012

    def allocate(self, size: int) -> int:
        memory_there = np.zeros(size, np.uint8)
        self.kept[memory_there.ctypes.data] = memory_there
        return memory_there.ctypes.data

    def free(self, address: int) -> None:
        del address  # views of it may still be alive in the worker's thread

    def handle(self, address: int) -> bytes:
        return address.to_bytes(memory.HANDLE_BYTES, "little")

    def open(self, handle: bytes) -> int:
        return int.from_bytes(handle, "little")

    def synchronize(self) -> None:
        pass


def host_tensor(module: Any, address: int, shape: tuple[int, ...], dtype: str = "float32") -> Any:
    kind = getattr(module, dtype)
    held = (ctypes.c_uint8 * (int(np.prod(shape)) * kind.itemsize)).from_address(address)
    return module.frombuffer(held, dtype=module.uint8).view(kind).view(shape)


class HostStream:
    """All work of the host is done when it returns."""

    def wait_stream(self, other: object) -> None:
        del other


@pytest.fixture
def on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "DEVICE", "cpu")
    monkeypatch.setattr(oracle, "DEVICE", "cpu")
    monkeypatch.setattr(torch.cuda, "Stream", HostStream)
    monkeypatch.setattr(torch.cuda, "stream", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "current_stream", HostStream)
    monkeypatch.setattr(memory, "Driver", HostDriver)
    monkeypatch.setattr(memory, "tensor", host_tensor)
    monkeypatch.setattr(memory, "load_torch", lambda: torch)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: None)
    monkeypatch.setattr(worker.calls, "unshare", lambda _: None)
    monkeypatch.setattr(judge, "_THRASH_BYTES", 1 << 12)
    monkeypatch.setattr(judge, "_WAIT_SHARE", 1e9)  # a busy host makes every copy wait


threads: list[threading.Thread] = []


def start(side: str) -> socket.socket:
    del side
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def serve() -> None:
        with contextlib.suppress(OSError):
            worker.main(theirs.detach())

    threads.append(threading.Thread(target=serve, daemon=True))
    threads[-1].start()
    return ours


def measure(tmp_path: Path, problem: str, solution: str, pairs: int = 3) -> Measurement:
    made = judge.KernelJudge(problem, seed=5, pairs=pairs, roof=ROOF, small=True)
    (tmp_path / "reference.py").write_text(made.case.reference)
    (tmp_path / "solution.py").write_text(solution)
    plain = made.reference(start, str(tmp_path / "reference.py"), seed=5)
    try:
        return made.measure(start, plain, solution=str(tmp_path / "solution.py"), seed=5)
    finally:
        plain.close(made.driver)
        while threads:
            threads.pop().join(10)


def reference(problem: str) -> str:
    return oracle.load(torch, problem, seed=5, small=True).reference


def on_this_host(entry: corpus.Entry) -> str:
    return entry.python.replace('device="cuda"', 'device="cpu"')


@pytest.mark.usefixtures("on_the_host")
class TestTheDeviceJudge:
    @pytest.mark.parametrize(
        "problem",
        [
            pytest.param(name, marks=[] if name in registry.DEFAULT else pytest.mark.slow)
            for name in registry.NAMES
        ],
    )
    def test_the_reference_itself_is_valid(self, tmp_path: Path, problem: str) -> None:
        found = measure(tmp_path, problem, reference(problem))
        assert found.valid, found.reason
        assert not found.flags
        assert not score.bounds(found)

    @pytest.mark.parametrize("name", HONEST)
    def test_an_unusual_honest_kernel_is_valid(self, tmp_path: Path, name: str) -> None:
        entry = corpus.entries("honest")[name]
        found = measure(tmp_path, entry.problem, on_this_host(entry))
        assert found.valid, found.reason
        assert not found.flags

    @pytest.mark.parametrize("name", EXACTLY)
    def test_a_cheat_gets_its_flag(
        self, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        entry = corpus.entries("cheats")[name]
        if entry.flag == "work_after_done":
            monkeypatch.setattr(judge, "_SETTLE_S", 0.2)  # a thread wakes late on a busy host
        found = measure(tmp_path, entry.problem, on_this_host(entry))
        assert found.fitness == 0
        kinds = {one.kind for one in found.flags}
        assert entry.flag in kinds if entry.flag else not found.valid, found

    def test_a_kernel_that_does_nothing_is_wrong_and_not_accused(self, tmp_path: Path) -> None:
        text = honest.null(["bias_gelu"])["bias_gelu.py"].decode()
        found = measure(tmp_path, "bias_gelu", text)
        assert not found.valid
        assert found.flags == ()

    def test_a_wrong_column_is_no_accusation(self, tmp_path: Path) -> None:
        right = "return eager(x, up, up_bias, down, down_bias)"
        text = reference("mlp")
        assert right in text
        wrong = right.replace("down_bias)", "down_bias + 2 * (torch.arange(x.shape[1]) == 3))")
        found = measure(tmp_path, "mlp", text.replace(right, wrong + ".to(x.dtype)"))
        assert not found.valid
        assert found.flags == ()

    def test_a_message_that_nobody_asked_for_is_forged(self, tmp_path: Path) -> None:
        text = (
            "import inspect\nimport torch\nfrom torch import nn\n\n\n"
            "class Model(nn.Module):\n"
            "    def forward(self, x, out):\n"
            "        out.copy_(torch.softmax(x, dim=-1))\n"
            "        for frame in inspect.stack():\n"
            "            if 'answer' in frame.frame.f_locals:\n"
            "                here = frame.frame.f_locals\n"
            "                here['peer'].send(here['answer'])\n"
        )
        found = measure(tmp_path, "softmax", text)
        assert "forged_verdict" in {one.kind for one in found.flags}, found

    def test_a_process_that_ends_is_invalid(self, tmp_path: Path) -> None:
        text = "import os\nfrom torch import nn\n\n\nclass Model(nn.Module):\n    pass\n"
        found = measure(tmp_path, "softmax", text)
        assert "loaded" in found.reason or "NotImplemented" in found.reason

    @pytest.mark.slow
    def test_no_descriptor_is_left_open(
        self, tmp_path: Path, no_descriptor_left: Callable[[], AbstractContextManager[None]]
    ) -> None:
        measure(tmp_path, "softmax", reference("softmax"))  # what stays is made once
        with no_descriptor_left():
            measure(tmp_path, "softmax", reference("softmax"))
