"""Device memory that two processes share, by the CUDA driver interface.

Covered: plain allocations, their IPC handles, views of them as PyTorch tensors, synchronisation of
the whole context. PyTorch and the driver share the primary context of the device.
Not covered: managed memory, several devices.
Source: the CUDA driver API, "Memory Management"; the CUDA array interface, version 3.
"""

from __future__ import annotations

import ctypes
import importlib
import math
from dataclasses import dataclass
from typing import Any

DEVICE = "cuda"
HANDLE_BYTES = 64
_BLOCK_BYTES = 2 << 20
"""The driver cuts smaller allocations out of blocks of this size, and shares whole blocks."""
_LAZY_PEER_ACCESS = 1


class DeviceError(Exception):
    """The driver refused; the text names the call and its code."""


class _Handle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_char * HANDLE_BYTES)]


def load_torch() -> Any:
    """PyTorch with its context made current on this thread."""
    torch: Any = importlib.import_module("torch")
    torch.zeros(1, device=DEVICE)
    torch.cuda.synchronize()
    return torch


class Driver:
    """The driver's library."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self._library.cuIpcOpenMemHandle_v2.argtypes = [
            ctypes.POINTER(ctypes.c_uint64), _Handle, ctypes.c_uint
        ]  # fmt: skip

    def allocate(self, size: int) -> int:
        """Address of fresh memory. Raises DeviceError."""
        address = ctypes.c_uint64()
        whole = -(-size // _BLOCK_BYTES) * _BLOCK_BYTES
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(whole))
        return address.value

    def free(self, address: int) -> None:
        """Give memory back. Raises DeviceError."""
        self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def handle(self, address: int) -> bytes:
        """The handle by which another process opens it. Raises DeviceError."""
        made = _Handle()
        self._call("cuIpcGetMemHandle", ctypes.byref(made), ctypes.c_uint64(address))
        return ctypes.string_at(ctypes.byref(made), HANDLE_BYTES)

    def open(self, handle: bytes) -> int:
        """Address, here, of memory of another process. Raises DeviceError."""
        address = ctypes.c_uint64()
        given = _Handle.from_buffer_copy(handle)
        self._call("cuIpcOpenMemHandle_v2", ctypes.byref(address), given, _LAZY_PEER_ACCESS)
        return address.value

    def synchronize(self) -> None:
        """Wait for everything that this context does. Raises DeviceError."""
        self._call("cuCtxSynchronize")

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._library, name)(*arguments)
        if code:
            raise DeviceError(f"{name} failed with code {code}")


@dataclass(frozen=True, slots=True)
class _Span:
    """Memory in the form in which array libraries pass it on."""

    address: int
    size: int

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": (self.size,), "typestr": "|u1", "data": (self.address, False),
            "version": 3, "strides": None,
        }  # fmt: skip


def tensor(torch: Any, address: int, shape: tuple[int, ...], dtype: str = "float32") -> Any:
    """A tensor over that memory, without a copy."""
    kind = getattr(torch, dtype)
    size = math.prod(shape) * kind.itemsize
    if size == 0:
        return torch.empty(shape, dtype=kind, device=DEVICE)
    return torch.as_tensor(_Span(address, size), device=DEVICE).view(kind).view(shape)
