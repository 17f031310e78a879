"""A Triton or CUDA submission beside eager PyTorch, over buffers that the judge owns.

The judge allocates every buffer in its own context and passes IPC handles. Before a call it fills
inputs with fresh data and the output with a NaN pattern, and writes more than the device's cache
holds. Its clock runs from one packet to the other; then it copies the output in its own context.
Work that goes on after the token shows in one of two ways: the copy holds the pattern, or the copy
has to wait for the device, and the wait counts.

Covered: streams, threads, lazy and cached outputs, other batch sizes, addresses that come back with
fresh data, the floor of the device's memory and matrix units.
Not covered: the sandbox. A worker with a device is a process of its own, without a network where
the kernel allows it, but it is not sealed: run it where nothing else is worth reaching.
"""

from __future__ import annotations

import json
import math
import os
import random
import select
import socket
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from unhack.tournament.contest import Flag, Measurement, invalid
from unhack.tournament.contests.kernels import score
from unhack.tournament.contests.kernels.calls.session import CallRecord, KernelCall
from unhack.tournament.contests.kernels.gpu import memory, oracle

Start = Callable[[str], socket.socket]
"""Starts `gpu.worker` and returns the judge's end of its socket; the argument names the side."""

_START_S, _CALL_S = 180.0, 120.0
_THRASH_BYTES = 256 << 20
_SETS = 2
_ALIKE = 3
"""In every so many calls of a shape, inputs share most values with those of the call before."""
_NAN_BITS = {1: 0x51, 2: 0x7FC1, 4: 0x7FC00001, 8: 0x7FF8000000000001}
"""A quiet NaN of each format of so many bytes; whole numbers that are far out of range."""
_BITS: dict[int, Callable[[Any], Any]] = {
    1: lambda torch: torch.uint8, 2: lambda torch: torch.int16,
    4: lambda torch: torch.int32, 8: lambda torch: torch.int64,
}  # fmt: skip
_SETTLE_S = 0.01
_WAIT_SHARE = 0.2
"""Of the reference's time: so long may the judge's copy wait for the device in most calls."""
_MAX_MESSAGE = 1 << 16
_UNASKED = "it sent a message although nothing was asked"


class WorkerError(Exception):
    """The submission's process did not do what it was asked for."""

    def __init__(self, text: str, *, impostor: bool = False, forged: bool = False) -> None:
        super().__init__(text)
        self.impostor, self.forged = impostor, forged


@dataclass(frozen=True, slots=True)
class GpuRoof:
    """Of the device."""

    bytes_per_s: float
    """The fastest of copying, reading and writing."""
    flops_per_s: float
    """Of products with 10-bit mantissas: float32 accuracy costs at least as much."""
    half_flops_per_s: float
    """Of products of bfloat16."""


@dataclass(slots=True)
class GpuSide:
    """One worker with the buffers that it shares with the judge."""

    torch: Any
    peer: socket.socket
    inputs: list[list[Any]] = field(default_factory=list[list[Any]])
    outputs: list[Any] = field(default_factory=list[Any])
    addresses: list[int] = field(default_factory=list[int])

    def start(self, driver: memory.Driver, case: oracle.GpuCase, batches: list[list[Any]],
              solution: str) -> None:  # fmt: skip
        """Share buffers and load. `batches`: one sample of inputs for each shape."""
        plan: dict[str, Any] = {
            "solution": solution, "init": case.init,
            "inputs": [], "outputs": [], "parameters": {},
        }  # fmt: skip
        for batch in batches:
            shape, dtype = case.output_like(batch)
            for _ in range(_SETS):
                shared = [self._share(driver, tuple(data.shape), data.dtype) for data in batch]
                self.inputs.append([data for data, _ in shared])
                plan["inputs"].append([words for _, words in shared])
                output, words = self._share(driver, shape, dtype)
                self.outputs.append(output)
                plan["outputs"].append(words)
        for name, weight in case.weights.items():
            shape = tuple(weight.shape)
            buffer, plan["parameters"][name] = self._share(driver, shape, weight.dtype)
            buffer.copy_(weight)
        self.torch.cuda.synchronize()
        self.peer.settimeout(_START_S)
        self.peer.send(json.dumps(plan).encode())
        self._expect(b"R")
        self.peer.send(b"L")
        self._expect(b"R")

    def _share(
        self, driver: memory.Driver, shape: tuple[int, ...], dtype: Any
    ) -> tuple[Any, list[Any]]:
        address = driver.allocate(max(1, math.prod(shape)) * dtype.itemsize)
        self.addresses.append(address)
        name = str(dtype).removeprefix("torch.")
        words = [driver.handle(address).hex(), list(shape), name]
        return memory.tensor(self.torch, address, shape, name), words

    def call(self, number: int) -> float:
        """Seconds until the token is back. Raises WorkerError."""
        token = os.urandom(16)
        packet = json.dumps({"token": token.hex(), "set": number}).encode()
        if self.speaks():
            raise WorkerError(_UNASKED, forged=True)
        self.peer.settimeout(_CALL_S)
        started = time.perf_counter()
        self.peer.send(packet)
        self._expect(token)
        return time.perf_counter() - started

    def speaks(self) -> bool:
        """Tell whether something has arrived although nothing was asked."""
        return bool(select.select([self.peer], [], [], 0)[0])

    def _expect(self, wanted: bytes) -> None:
        try:
            said = self.peer.recv(_MAX_MESSAGE)
        except TimeoutError:
            raise WorkerError("it did not answer in time") from None
        except OSError as error:
            raise WorkerError(f"its process ended: {error}") from None
        if said == wanted:
            return
        if not said:
            raise WorkerError("its process ended")
        if said[:1] in (b"E", b"F"):
            raise WorkerError(said[1:].decode(errors="replace"), impostor=said[:1] == b"F")
        raise WorkerError("it answered what is no answer")

    def close(self, driver: memory.Driver) -> None:
        """Hang up and give the memory back."""
        self.peer.close()
        self.inputs.clear()
        self.outputs.clear()
        for address in self.addresses:
            driver.free(address)
        self.addresses.clear()


class KernelJudge:
    """Judges submissions of one problem on the current device."""

    def __init__(
        self, name: str, *, seed: int, pairs: int = 12, roof: GpuRoof, small: bool = False
    ) -> None:
        self.torch = memory.load_torch()
        self.driver = memory.Driver()
        self.case = oracle.load(self.torch, name, seed=seed, small=small)
        self.pairs, self.roof = pairs, roof
        self._thrash = self.torch.zeros(_THRASH_BYTES // 4, device=memory.DEVICE)

    def reference(self, start: Start, path: str, *, seed: int) -> GpuSide:
        """The reference's process, ready for several measurements; close it at the end."""
        side = GpuSide(self.torch, start("reference"))
        batches = [self.case.inputs(hidden=hidden, seed=seed) for hidden in (False, True)]
        side.start(self.driver, self.case, batches, path)
        return side

    def measure(self, start: Start, plain: GpuSide, *, solution: str, seed: int) -> Measurement:
        """`solution` is the path of a Python file that the worker loads."""
        batches = [self.case.inputs(hidden=hidden, seed=seed) for hidden in (False, True)]
        own = GpuSide(self.torch, start("submission"))
        try:
            try:
                own.start(self.driver, self.case, batches, solution)
            except WorkerError as error:
                return invalid(f"it cannot be loaded: {error}")
            record, ended = self._play(plain, own, random.Random(seed))
        finally:
            own.close(self.driver)
        if ended is not None:
            kinds = {"forged_value": ended.impostor, "forged_verdict": ended.forged}
            flags = [Flag(kind, str(ended), "judge") for kind, seen in kinds.items() if seen]
            return invalid(str(ended), *flags)
        return score.decide(record, charge_load=False, seed=seed)

    def _play(
        self, plain: GpuSide, own: GpuSide, rng: random.Random
    ) -> tuple[CallRecord, WorkerError | None]:
        record = CallRecord()
        waits: dict[bool, list[float]] = {False: [], True: []}
        shares: list[float] = []
        earlier: dict[bool, list[Any]] = {False: [], True: []}
        last: dict[bool, list[Any]] = {}
        for turn in range(2 * self.pairs):
            hidden = turn % 2 == 1
            seed = rng.getrandbits(62)
            if turn // 2 % _ALIKE == _ALIKE - 1:
                inputs = self.case.alike(last[hidden], hidden=hidden, seed=seed)
            else:
                inputs = self.case.inputs(hidden=hidden, seed=seed)
            last[hidden] = inputs
            truth = self.case.truth(inputs)
            number = int(hidden) * _SETS + turn // 2 % _SETS
            poison = self._poison(plain.outputs[number], turn)
            made: dict[int, tuple[float, float, Any]] = {}
            try:
                for side in (plain, own) if turn // 2 % 2 else (own, plain):
                    made[id(side)] = self._call(side, number, inputs, poison)
            except WorkerError as error:
                return record, error
            waits[hidden].append(made[id(plain)][1])
            asked = oracle.Asked(
                self.case, inputs, truth, made[id(plain)][2], poison, earlier[hidden]
            )
            wall, wait, output = made[id(own)]
            beyond = max(0.0, wait - statistics.median(waits[hidden]))
            shares.append(beyond / made[id(plain)][0])
            time.sleep(_SETTLE_S)
            call = KernelCall(
                group=self.case.name + (".hidden" if hidden else ""),
                hidden=hidden,
                reference_s=made[id(plain)][0],
                submission_s=wall + beyond,
                cpu_s=wall,
                floor_s=self.case.floor_s(inputs, self.roof),
                finding=oracle.examine(output, asked),
                late=self._late(own, number, output),
                tampered=self._tampered(own, number, inputs),
            )
            record.calls.append(call)
            earlier[hidden] = [*earlier[hidden][-2:], truth]
        if statistics.median(shares) > _WAIT_SHARE:  # one slow copy proves nothing
            for call in record.calls:
                call.late = True
        ended = WorkerError(_UNASKED, forged=True)
        return record, ended if own.speaks() else None

    def _call(
        self, side: GpuSide, number: int, inputs: list[Any], poison: Any
    ) -> tuple[float, float, Any]:
        """(seconds on the clock, seconds that the judge's own copy took, that copy)."""
        torch = self.torch
        for buffer, data in zip(side.inputs[number], inputs, strict=True):
            buffer.copy_(data)
        output = side.outputs[number]
        output.view(-1).view(torch.uint8).copy_(poison)
        copy = torch.empty_like(output)
        self._thrash.add_(1)
        torch.cuda.synchronize()
        wall = side.call(number)
        started = time.perf_counter()
        copy.copy_(output)
        torch.cuda.synchronize()
        return wall, time.perf_counter() - started, copy

    def _late(self, side: GpuSide, number: int, output: Any) -> bool:
        """Tell whether the output is not what it was when the token came."""
        torch = self.torch
        there, then = (data.view(-1).view(torch.uint8) for data in (side.outputs[number], output))
        return not bool(torch.equal(there, then))

    def _poison(self, output: Any, turn: int) -> Any:
        """Bytes that no computation leaves: NaN with another payload in every call."""
        torch = self.torch
        size = output.dtype.itemsize
        bits, kind = _NAN_BITS[size] + 2 * (turn % 30), _BITS[size](torch)
        pattern = torch.full((output.numel(),), bits, dtype=kind, device=memory.DEVICE)
        return pattern.view(torch.uint8)

    def _tampered(self, side: GpuSide, number: int, inputs: list[Any]) -> list[str]:
        pairs = zip(side.inputs[number], inputs, strict=True)
        return [str(i) for i, (a, b) in enumerate(pairs) if not bool(self.torch.equal(a, b))]


def measure_roof() -> GpuRoof:
    """The best of several runs: of memory, the fastest of copying, reading and writing; of
    products, square ones of two formats."""
    torch = memory.load_torch()
    arrays = [torch.ones(1 << 28, device=memory.DEVICE) for _ in range(2)]
    size = 4.0 * (1 << 28)
    rates = (
        2 * size / _best(torch, lambda: arrays[1].copy_(arrays[0])),
        size / _best(torch, arrays[0].sum),
        size / _best(torch, lambda: arrays[1].fill_(2.0)),
    )
    arrays.clear()
    a, b = (torch.randn(8192, 8192, device=memory.DEVICE) for _ in range(2))
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        multiplied = _best(torch, lambda: a @ b)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
    c, d = a.to(torch.bfloat16), b.to(torch.bfloat16)
    halves = _best(torch, lambda: c @ d)
    return GpuRoof(max(rates), 2.0 * 8192**3 / multiplied, 2.0 * 8192**3 / halves)


def _best(torch: Any, work: Callable[[], Any]) -> float:
    times: list[float] = []
    for _ in range(12):
        torch.cuda.synchronize()
        started = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return min(times)
