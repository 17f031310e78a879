"""One side of a measurement: a sealed worker with a card, and the memory that they share.

    with GpuSide.begin(torch, case, files, setting=setting, seed=7) as side:
        side.load()
        seconds = side.call([0, 1])

Covered: what the worker is shown (its own two modules, the packages, the files of one side, one
card), what it is told, and what it answers.
Not covered: whether outputs are right (see `oracle`).
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unhack.agents.command_line.host_files import PACKAGES, package_binds
from unhack.sandbox.gpu.cards import Card
from unhack.sandbox.gpu.process import GpuLimits, GpuProcess, GpuProcessError, GpuRoom
from unhack.sandbox.rootfs import inside, interpreter
from unhack.tournament.kit import Files
from unhack_contests.kernels.gpu import guest, shared_memory
from unhack_contests.torch_card import CACHES

_MOST_SETS = 16
"""Of inputs for each shape: as many may be asked for under one token."""
_SETS_BYTES, _SETS_SHARE = 6 << 30, 12
"""For the sets of a shape at each side, and at most this part of the card: the judge's own copies
take as much again as all sides."""
_FEWEST_SETS = 2
"""However large they are."""
_QUIET_WINDOW_S, _QUIET_WINDOWS = 0.05, 4
_QUIET_SHARE = 0.02
"""Of one processor: with less, in so many windows in a row, a side is quiet."""
SETTLE_S = 0.01
"""For threads to fall asleep after a call; so long it is watched after that."""
_HARNESS = "/harness"
_GUEST = "unhack_contests/kernels/gpu/guest"
_READY_S, _LOAD_S, CALL_S = 300.0, 300.0, 60.0
_AWAKE_S = 0.1
_COMMAND = (
    "import sys; sys.path.insert(0, {harness!r}); "
    "from unhack_contests.kernels.gpu.guest.worker import main; main()"
)


@dataclass(frozen=True, slots=True)
class GpuSetting:
    """The place of a measurement."""

    card: Card
    device: str
    """PyTorch's name of it in this process."""
    arch: str
    """For nvcc: `sm_90`."""
    limits: GpuLimits = field(default_factory=GpuLimits)
    card_bytes: int = _SETS_SHARE * _SETS_BYTES
    """Of the card's memory."""


class SideError(Exception):
    """A side's process did not do what it was asked for."""

    def __init__(self, text: str, *, impostor: bool = False, forged: bool = False) -> None:
        """`impostor`: its answer is no plain tensor. `forged`: it spoke when nothing was asked."""
        super().__init__(text)
        self.impostor, self.forged = impostor, forged


def command() -> list[str]:
    """The command that runs inside."""
    return [inside(interpreter()), "-B", "-P", "-s", "-c", _COMMAND.format(harness=_HARNESS)]


def room(files: Files) -> GpuRoom:
    """The room of a worker with these files."""
    harness = str(Path(guest.__file__).parent)
    return GpuRoom(
        files=files,
        binds=(*package_binds(), (harness, f"{_HARNESS}/{_GUEST}")),
        environ={**CACHES, "PYTHONPATH": PACKAGES},
    )


@dataclass(slots=True)
class GpuSide:
    """A worker and its shared memory."""

    torch: Any
    process: GpuProcess
    memory: shared_memory.SharedMemory
    numbers: dict[bool, range]
    """By whether a shape is hidden: the numbers of its sets."""
    prepare_s: dict[bool, list[float]] = field(default_factory=lambda: {False: [], True: []})
    """Seconds of the judge's own work before each call, by whether its shape is hidden."""
    waits: dict[bool, list[float]] = field(default_factory=lambda: {False: [], True: []})
    """Seconds of the judge's copy after each call."""
    idle_s: dict[bool, list[float]] = field(default_factory=lambda: {False: [], True: []})
    """Processor seconds after each call (see `rest`)."""

    @classmethod
    @contextlib.contextmanager
    def begin(
        cls, torch: Any, case: Any, files: Files, *, setting: GpuSetting, seed: int
    ) -> Generator[GpuSide]:
        """Start a worker and share memory with it, without waiting; nothing of the submission runs
        yet. Raises SideError, DeviceError, SandboxUnavailableError."""
        room = min(_SETS_BYTES, setting.card_bytes // _SETS_SHARE)
        made, numbers = layout(torch, case, seed=seed, room=room)
        memory = shared_memory.SharedMemory(torch, made, setting.device)
        try:
            for name, weight in case.weights.items():
                memory.view(made.weights[name]).copy_(weight)
            process = start(files, setting)
            with process:
                side = cls(torch, process, memory, numbers)
                side._hand_over(case, setting)
                yield side
        finally:
            memory.close()

    def wait_until_ready(self) -> None:
        """Until it has mapped the shared memory. Raises SideError."""
        self._expect(b"R", _READY_S)

    def load(self) -> None:
        """Build and load the submission. Raises SideError."""
        self._send(b"L")
        self._expect(b"R", _LOAD_S)

    def call(self, numbers: list[int], *, timeout_s: float = CALL_S) -> float:
        """Seconds until the token is back; no set costs a round trip. Raises SideError.

        The judge looks for the answer without falling asleep, as long as calls usually take.
        """
        token = os.urandom(16)
        packet = json.dumps({"token": token.hex(), "sets": numbers}).encode()
        if self.process.speaks():
            raise unasked()
        self.process.thaw()
        started = time.perf_counter()
        self._send(packet)
        self._expect(token, timeout_s, awake_s=_AWAKE_S)
        return time.perf_counter() - started

    def wait_until_quiet(self, most_s: float) -> None:
        """Let it go on with what it began until it hardly takes any processor time, for so long at
        most. Raises SideError."""
        self.process.thaw()
        deadline, quiet = time.monotonic() + most_s, 0
        while quiet < _QUIET_WINDOWS and time.monotonic() < deadline:
            before, started = self.process.cpu_s(), time.monotonic()
            time.sleep(_QUIET_WINDOW_S)
            share = (self.process.cpu_s() - before) / (time.monotonic() - started)
            quiet = quiet + 1 if share <= _QUIET_SHARE else 0
        self.freeze()

    def rest(self) -> float:
        """Let it fall asleep, then watch it: processor seconds that it took although nothing was
        asked. It stands still from here to the next call."""
        time.sleep(SETTLE_S)
        before = self.process.cpu_s()
        time.sleep(SETTLE_S)
        took = self.process.cpu_s() - before
        self.freeze()
        return max(0.0, took)

    def freeze(self) -> None:
        """Let it stand still. Raises SideError."""
        try:
            self.process.freeze()
        except GpuProcessError as error:
            raise SideError(str(error)) from None

    def sets(self, numbers: list[int]) -> list[shared_memory.BufferSet]:
        """The places of these sets."""
        return [self.memory.plan.sets[number] for number in numbers]

    def _hand_over(self, case: Any, setting: GpuSetting) -> None:
        made = self.memory.plan
        plan = {
            "bytes": self.memory.size,
            "solution": case.name,
            "arch": setting.arch,
            "init": case.init,
            "sets": [{"inputs": one.inputs, "output": one.output} for one in made.sets],
            "weights": made.weights,
        }
        fd = self.memory.descriptor()
        try:
            self._send(json.dumps(plan).encode(), fd)
        finally:
            os.close(fd)

    def _send(self, packet: bytes, *fds: int) -> None:
        try:
            self.process.send(packet, fds=fds)
        except GpuProcessError as error:
            raise SideError(str(error)) from None

    def _expect(self, wanted: bytes, timeout_s: float, *, awake_s: float = 0.0) -> None:
        try:
            said = self.process.receive(timeout_s=timeout_s, awake_s=awake_s)
        except GpuProcessError as error:
            raise SideError(str(error)) from None
        if said == wanted:
            return
        if said[:1] in (b"E", b"F"):
            raise SideError(said[1:].decode(errors="replace"), impostor=said[:1] == b"F")
        raise SideError("it answered what is no answer", forged=True)


def start(files: Files, setting: GpuSetting) -> GpuProcess:
    """The worker's process, not yet begun."""
    return GpuProcess(
        command(), card=setting.card, room=room(files), limits=setting.limits, name="kernel"
    )


def layout(
    torch: Any, case: Any, *, seed: int, room: int
) -> tuple[shared_memory.MemoryPlan, dict[bool, range]]:
    """(the plan of the memory, the numbers of the sets by whether their shape is hidden); `room`:
    bytes for the sets of a shape."""
    groups: list[list[tuple[list[shared_memory.Shape], shared_memory.Shape]]] = []
    numbers: dict[bool, range] = {}
    for hidden in (False, True):
        inputs = case.inputs(hidden=hidden, seed=seed)
        shapes = [(tuple(data.shape), data.dtype) for data in inputs]
        output = case.output_like(inputs)
        fitting = room // shared_memory.bytes_of_set(torch, shapes, output)
        count = max(_FEWEST_SETS, min(_MOST_SETS, fitting))
        first = sum(len(group) for group in groups)
        numbers[hidden] = range(first, first + count)
        groups.append([(shapes, output)] * count)
    weights = {name: (tuple(data.shape), data.dtype) for name, data in case.weights.items()}
    return shared_memory.plan(torch, groups, weights, random.Random(seed)), numbers


def unasked() -> SideError:
    """It sent what nobody asked for."""
    return SideError("it sent a message although nothing was asked", forged=True)
