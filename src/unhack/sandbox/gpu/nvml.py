"""The driver's word on its cards, through NVIDIA's management library.

Covered: names, nodes, memory, clocks, temperatures, why clocks are held back, which processes use
a card. Opens no context: asking costs a card nothing.
Not covered: changing anything.
Source: the NVML reference. By hand, through ctypes: nothing here needs PyTorch.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.gpu.driver_files import find_library

_NAME_BYTES = 96
_SM_CLOCK, _MEMORY_CLOCK = 1, 2
_GPU_TEMPERATURE = 0
_MOST_PROCESSES = 256
_REASONS = {
    0x4: "power cap", 0x8: "hardware slowdown", 0x20: "thermal slowdown",
    0x40: "hardware thermal slowdown", 0x80: "power brake",
}  # fmt: skip
"""Bits that say that the card runs slower than its load asks for."""


class _Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class _Process(ctypes.Structure):
    _fields_ = [
        ("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong),
        ("instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class CardFacts:
    """One card as the driver counts it."""

    index: int
    name: str
    uuid: str
    node: str
    """`/dev/nvidiaN`."""


@dataclass(frozen=True, slots=True)
class CardClocks:
    """The state of a card at one moment."""

    sm_mhz: int
    memory_mhz: int
    celsius: int
    held_back_by: tuple[str, ...]


class Nvml:
    """The library, open. Raises SandboxUnavailableError where it is missing or does not start."""

    def __init__(self) -> None:
        path = find_library("libnvidia-ml.so.1")
        if not path:
            raise SandboxUnavailableError("the driver's library libnvidia-ml.so.1 is not here")
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            raise SandboxUnavailableError(
                f"the driver's library cannot be loaded: {error}"
            ) from None
        self._call("nvmlInit_v2")

    def cards(self) -> list[CardFacts]:
        """Every card in sight of this process."""
        count = ctypes.c_uint()
        self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        return [self._facts(index) for index in range(count.value)]

    def memory(self, index: int) -> tuple[int, int]:
        """(bytes in use by anybody, bytes of the card)."""
        held = _Memory()
        self._call("nvmlDeviceGetMemoryInfo", self._handle(index), ctypes.byref(held))
        return held.used, held.total

    def processes(self, index: int) -> dict[int, int]:
        """Bytes by pid of the processes with a context; 0 where the driver does not tell."""
        count = ctypes.c_uint(_MOST_PROCESSES)
        found = (_Process * _MOST_PROCESSES)()
        name = "nvmlDeviceGetComputeRunningProcesses_v3"
        self._call(name, self._handle(index), ctypes.byref(count), found)
        unknown = (1 << 64) - 1
        return {one.pid: 0 if one.used == unknown else one.used for one in found[: count.value]}

    def load(self, index: int) -> int:
        """Percent of the last sample (a sixth of a second to one) with a kernel at work."""
        found = (ctypes.c_uint * 2)()
        self._call("nvmlDeviceGetUtilizationRates", self._handle(index), found)
        return found[0]

    def clocks(self, index: int) -> CardClocks:
        """Clocks at this moment."""
        handle, number = self._handle(index), ctypes.c_uint()
        values: list[int] = []
        for kind in (_SM_CLOCK, _MEMORY_CLOCK):
            self._call("nvmlDeviceGetClockInfo", handle, kind, ctypes.byref(number))
            values.append(number.value)
        self._call("nvmlDeviceGetTemperature", handle, _GPU_TEMPERATURE, ctypes.byref(number))
        bits = ctypes.c_ulonglong()
        name = "nvmlDeviceGetCurrentClocksThrottleReasons"
        self._call(name, handle, ctypes.byref(bits))
        reasons = tuple(text for bit, text in _REASONS.items() if bits.value & bit)
        return CardClocks(values[0], values[1], number.value, reasons)

    def _facts(self, index: int) -> CardFacts:
        handle = self._handle(index)
        texts: list[str] = []
        for name in ("nvmlDeviceGetName", "nvmlDeviceGetUUID"):
            buffer = ctypes.create_string_buffer(_NAME_BYTES)
            self._call(name, handle, buffer, _NAME_BYTES)
            texts.append(buffer.value.decode(errors="replace"))
        minor = ctypes.c_uint()
        self._call("nvmlDeviceGetMinorNumber", handle, ctypes.byref(minor))
        return CardFacts(index, texts[0], texts[1], f"/dev/nvidia{minor.value}")

    def _handle(self, index: int) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(handle))
        return handle

    def _call(self, name: str, *arguments: Any) -> None:
        function = getattr(self._library, name, None)
        if function is None:
            raise SandboxUnavailableError(f"this driver has no {name}")
        code = function(*arguments)
        if code:
            raise SandboxUnavailableError(f"the driver refused {name} (code {code})")
