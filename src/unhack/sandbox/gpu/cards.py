"""The cards of this host by the names that options give them: `cuda`, `cuda:1`; who uses them.

    with cotenants((4711,)):
        check_free(card, ours=own_processes())

On one machine agents are children of the process that measures, and nobody has to be told of them.
On a node of a cluster another process starts them; whoever sends the measurement there names them.

Covered: what `CUDA_VISIBLE_DEVICES` leaves; what is missing, said before anything is spent: no
card, no driver library, no toolkit, no nvidia-ml-py, a card that somebody else uses. What agents of
this tournament hold of a card is no stranger's. To ask the driver opens no context: it costs a card
nothing.
Not covered: what PyTorch can do with a card (whoever needs it asks PyTorch); agents of other
tournaments, which are strangers.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import re
import signal
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from unhack.core.errors import SandboxUnavailableError, UsageError
from unhack.sandbox.gpu.driver_files import CONTROL, MEMORY, card_nodes, find_library, find_nvcc
from unhack.sandbox.linux.processes import tree_of

_DEVICE = re.compile(r"cuda(:\d+)?")
_VISIBLE = "CUDA_VISIBLE_DEVICES"
_BUSY_BYTES = 1 << 30
"""More than that in use by processes that are not ours: the card is somebody's."""
_IDLE_PERCENT = 2
_PATIENCE_S = 10.0
_LOOK_S = 0.1
_REASONS = {
    0x4: "power cap", 0x8: "hardware slowdown", 0x20: "thermal slowdown",
    0x40: "hardware thermal slowdown", 0x80: "power brake",
}  # fmt: skip
"""Bits that say that the card runs slower than its load asks for."""
_COTENANTS: list[int] = []


@dataclass(frozen=True, slots=True)
class Card:
    """One card that a sealed process can be given."""

    index: int
    node: str
    name: str = "a card that the driver does not name"
    uuid: str = ""

    @property
    def key(self) -> str:
        """The same for every process of the host."""
        return self.uuid or os.path.basename(self.node)


@dataclass(frozen=True, slots=True)
class CardClocks:
    """The state of a card at one moment."""

    sm_mhz: int
    memory_mhz: int
    celsius: int
    held_back_by: tuple[str, ...]


def bindings() -> ModuleType:
    """NVIDIA's own bindings of its management library. Raises SandboxUnavailableError."""
    try:
        return importlib.import_module("pynvml")  # only hosts with a card need it
    except ImportError:
        raise SandboxUnavailableError(
            "a GPU is here, and nvidia-ml-py, by which its memory is watched, is not: "
            "pip install '.[tournament]' in a checkout of unhack"
        ) from None


class Nvml:
    """The driver's word on its cards. Raises SandboxUnavailableError where it cannot be asked."""

    def __init__(self) -> None:
        self._library: Any = bindings()
        path = find_library("libnvidia-ml.so.1")
        if not path:
            raise SandboxUnavailableError("the driver's library libnvidia-ml.so.1 is not here")
        try:
            ctypes.CDLL(path)  # the bindings look for it by name alone, and find what is loaded
        except OSError as error:
            raise SandboxUnavailableError(
                f"the driver's library cannot be loaded: {error}"
            ) from None
        self._call("Init")

    def cards(self) -> list[Card]:
        """Every card in sight of this process."""
        return [self._card(index) for index in range(self._call("DeviceGetCount"))]

    def memory(self, index: int) -> tuple[int, int]:
        """(bytes in use by anybody, bytes of the card)."""
        held = self._ask(index, "MemoryInfo")
        return held.used, held.total

    def processes(self, index: int) -> dict[int, int]:
        """Bytes by pid of the processes with a context; 0 where the driver does not tell."""
        found = self._ask(index, "ComputeRunningProcesses")
        return {one.pid: one.usedGpuMemory or 0 for one in found}

    def load(self, index: int) -> int:
        """Percent of the last sample (a sixth of a second to one) with a kernel at work."""
        return self._ask(index, "UtilizationRates").gpu

    def clocks(self, index: int) -> CardClocks:
        """Clocks at this moment."""
        known = self._library
        sm_mhz = self._ask(index, "ClockInfo", known.NVML_CLOCK_SM)
        memory_mhz = self._ask(index, "ClockInfo", known.NVML_CLOCK_MEM)
        celsius = self._ask(index, "Temperature", known.NVML_TEMPERATURE_GPU)
        bits = self._ask(index, "CurrentClocksThrottleReasons")
        reasons = tuple(text for bit, text in _REASONS.items() if bits & bit)
        return CardClocks(sm_mhz, memory_mhz, celsius, reasons)

    def _card(self, index: int) -> Card:
        node = f"/dev/nvidia{self._ask(index, 'MinorNumber')}"
        return Card(index, node, self._ask(index, "Name"), self._ask(index, "UUID"))

    def _ask(self, index: int, what: str, *arguments: int) -> Any:
        handle = self._call("DeviceGetHandleByIndex", index)
        return self._call(f"DeviceGet{what}", handle, *arguments)

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self._library, f"nvml{name}")(*arguments)
        except self._library.NVMLError as error:
            raise SandboxUnavailableError(f"the driver refused nvml{name}: {error}") from None


@cache
def nvml() -> Nvml:
    """The management library of this process. Raises SandboxUnavailableError."""
    return Nvml()


def find_cards() -> tuple[Card, ...]:
    """The cards whose nodes are here. Raises SandboxUnavailableError where one cannot be used."""
    nodes = card_nodes()
    if not nodes:
        raise SandboxUnavailableError(
            "there is no GPU here: no node /dev/nvidia0. In a container, start it with "
            "--gpus all (docker) or --device nvidia.com/gpu=all (podman)"
        )
    for node in (CONTROL, MEMORY):
        if not os.path.exists(node):
            raise SandboxUnavailableError(
                f"the driver's node {node} is missing: run `nvidia-modprobe -u -c 0` or nvidia-smi "
                "as root"
            )
    if not find_library("libcuda.so.1"):
        raise SandboxUnavailableError(
            "a GPU is here, and the driver's library libcuda.so.1 is not: install the driver's "
            "user part, or name its folder in LD_LIBRARY_PATH"
        )
    bindings()  # without them nobody would watch the card's memory
    try:
        known = nvml().cards()
    except SandboxUnavailableError:
        known: list[Card] = []
    cards = tuple(card for card in known if card.node in nodes)
    return cards or tuple(Card(index, node) for index, node in enumerate(nodes))


def choose_card(device: str) -> Card:
    """The card of `cuda` (the first) or `cuda:N`, among those that `CUDA_VISIBLE_DEVICES` leaves.
    Raises UsageError, SandboxUnavailableError."""
    if not _DEVICE.fullmatch(device):
        raise UsageError(f"device is cpu, cuda or cuda:N, not {device!r}")
    cards = visible_cards()
    number = int(device.partition(":")[2] or 0)
    if number >= len(cards):
        names = ", ".join(f"cuda:{index} ({card.name})" for index, card in enumerate(cards))
        raise UsageError(f"there is no {device} here; there is {names}")
    return cards[number]


def name_of(device: str) -> str:
    """The name of a card, such as `NVIDIA H100 80GB HBM3`. Raises like `choose_card`."""
    return choose_card(device).name


def visible_cards() -> tuple[Card, ...]:
    """The cards that `CUDA_VISIBLE_DEVICES` leaves this process, in its order: an entry that names
    none ends them. Raises SandboxUnavailableError where none is left or can be used."""
    cards = find_cards()
    text = os.environ.get(_VISIBLE)
    if text is None:
        return cards
    found: list[Card] = []
    for word in map(str.strip, text.split(",")):
        named = [card for card in cards if _is_named(card, word)]
        if len(named) != 1:
            break
        found += named
    if not found:
        raise SandboxUnavailableError(f"{_VISIBLE}={text!r} hides every card of this machine")
    return tuple(found)


def _is_named(card: Card, word: str) -> bool:
    if word.startswith("GPU-"):
        return card.uuid.startswith(word)
    return word.isdigit() and card.index == int(word)


def check_free(card: Card, *, ours: frozenset[int]) -> None:
    """Raise SandboxUnavailableError where processes that are not `ours` use the card."""
    try:
        held = nvml().processes(card.index)
    except SandboxUnavailableError:
        return  # a driver that tells nothing: the control of each measurement shows the noise
    others = {pid: size for pid, size in held.items() if pid not in ours}
    if sum(others.values()) < _BUSY_BYTES:
        return
    pid, size = max(others.items(), key=lambda item: item[1])
    raise SandboxUnavailableError(
        f"{card.name} is busy: process {pid} ({_command(pid)}) holds {size / (1 << 30):.1f} GiB of "
        "it. Times measured beside it mean nothing: end it, or choose another card (device=cuda:N)"
    )


def wait_until_idle(card: Card, *, others: Callable[[], frozenset[int]]) -> tuple[int, ...]:
    """Wait until no kernel is at work, so that a measurement may begin; the pids that were ended.

    `others` are processes of agents, which stand still: a kernel that one of them left running for
    longer than a few seconds is ended with its process. Raises SandboxUnavailableError when the
    card is busy all the same.
    """
    try:
        if _idles(card):
            return ()
        held = nvml().processes(card.index)
    except SandboxUnavailableError:
        return ()  # a driver that tells nothing: the control of each measurement shows the noise
    ended = tuple(sorted(others() & frozenset(held)))
    for pid in ended:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if not _idles(card):
        raise SandboxUnavailableError(
            f"{card.name} has been at work for {2 * _PATIENCE_S:.0f} s although nothing is asked "
            "of it: nvidia-smi shows by whom; end that, or choose another card (device=cuda:N)"
        )
    return ended


def _idles(card: Card) -> bool:
    """True when the card stands still within some seconds. Raises SandboxUnavailableError."""
    deadline = time.monotonic() + _PATIENCE_S
    while nvml().load(card.index) > _IDLE_PERCENT:
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_S)
    return True


@contextlib.contextmanager
def cotenants(pids: Sequence[int]) -> Generator[None]:
    """Count the trees below these processes as ours, for a block of code."""
    _COTENANTS.extend(pids)
    try:
        yield
    finally:
        for pid in pids:
            _COTENANTS.remove(pid)


def own_processes() -> frozenset[int]:
    """This process with all below it, and its co-tenants on the card."""
    return tree_of(os.getpid()).union(*map(tree_of, _COTENANTS))


def agents_processes() -> frozenset[int]:
    """The same without this process: agents that play meanwhile. To be called before it has
    started workers of its own."""
    return own_processes() - {os.getpid()}


def require_nvcc() -> str:
    """Path of the compiler. Raises SandboxUnavailableError."""
    found = find_nvcc()
    if not found:
        raise SandboxUnavailableError(
            "nvcc is not here, and CUDA C++ submissions need it: install the CUDA toolkit (its "
            "folder is looked for at /usr/local/cuda) or put nvcc on the PATH"
        )
    return found


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(200).replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "which this process cannot see"
    return words or "a kernel thread"
