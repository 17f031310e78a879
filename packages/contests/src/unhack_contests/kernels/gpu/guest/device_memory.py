"""Device memory that two processes share through a descriptor, by the CUDA driver interface.

One process creates a block and exports a descriptor of it; the other imports that and maps the
same memory. A descriptor crosses namespaces of every kind, and whoever holds none can map nothing.
(The older IPC handles do not cross: the driver looks for the exporter's abstract socket and pid.)

Covered: blocks of one card, mapped for reading and writing; views of them as PyTorch tensors.
Not covered: blocks that the importer may only read: the driver lets the importer choose.
Source: the CUDA driver API, "Virtual Memory Management"; the CUDA array interface, version 3.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

_PINNED, _BY_DESCRIPTOR, _ON_DEVICE = 1, 1, 1
_READ_WRITE = 3
_MINIMUM = 0


class DeviceError(Exception):
    """The driver refused; the text names the call and its code."""


class _Location(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("device", ctypes.c_int)]


class _Properties(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int), ("handle_kinds", ctypes.c_int), ("location", _Location),
        ("windows", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 8),
    ]  # fmt: skip


class _Access(ctypes.Structure):
    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


@dataclass(frozen=True, slots=True)
class DeviceBlock:
    """Memory of a card that is mapped here."""

    address: int
    size: int
    handle: int


class Driver:
    """The driver's library, for the card that this process counts as `device`."""

    def __init__(self, device: int = 0) -> None:
        self.device = device
        self._library = ctypes.CDLL("libcuda.so.1")

    def create(self, size: int) -> DeviceBlock:
        """Fresh memory of at least so many bytes. Raises DeviceError."""
        wanted = _Properties(_PINNED, _BY_DESCRIPTOR, _Location(_ON_DEVICE, self.device), None)
        unit = ctypes.c_size_t()
        self._call(
            "cuMemGetAllocationGranularity", ctypes.byref(unit), ctypes.byref(wanted), _MINIMUM
        )
        whole = -(-size // unit.value) * unit.value
        handle = ctypes.c_ulonglong()
        self._call(
            "cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(whole), ctypes.byref(wanted),
            ctypes.c_ulonglong(0),
        )  # fmt: skip
        return self._map(handle.value, whole)

    def export(self, block: DeviceBlock) -> int:
        """A descriptor of it, for the caller to close. Raises DeviceError."""
        fd = ctypes.c_int()
        self._call(
            "cuMemExportToShareableHandle", ctypes.byref(fd), ctypes.c_ulonglong(block.handle),
            _BY_DESCRIPTOR, ctypes.c_ulonglong(0),
        )  # fmt: skip
        return fd.value

    def open(self, fd: int, size: int) -> DeviceBlock:
        """The block behind a descriptor, of `size` bytes. Raises DeviceError."""
        handle = ctypes.c_ulonglong()
        name = "cuMemImportFromShareableHandle"
        self._call(name, ctypes.byref(handle), ctypes.c_void_p(fd), _BY_DESCRIPTOR)
        return self._map(handle.value, size)

    def free(self, block: DeviceBlock) -> None:
        """Unmap it and give it up. Raises DeviceError."""
        address, size = ctypes.c_ulonglong(block.address), ctypes.c_size_t(block.size)
        self._call("cuMemUnmap", address, size)
        self._call("cuMemAddressFree", address, size)
        self._call("cuMemRelease", ctypes.c_ulonglong(block.handle))

    def synchronize(self) -> None:
        """Wait for everything that this context does. Raises DeviceError."""
        self._call("cuCtxSynchronize")

    def _map(self, handle: int, size: int) -> DeviceBlock:
        address, whole = ctypes.c_ulonglong(), ctypes.c_size_t(size)
        nothing = ctypes.c_ulonglong(0)
        reserve = (ctypes.byref(address), whole, ctypes.c_size_t(0), nothing, nothing)
        self._call("cuMemAddressReserve", *reserve)
        offset = ctypes.c_size_t(0)
        self._call("cuMemMap", address, whole, offset, ctypes.c_ulonglong(handle), nothing)
        access = _Access(_Location(_ON_DEVICE, self.device), _READ_WRITE)
        self._call("cuMemSetAccess", address, whole, ctypes.byref(access), ctypes.c_size_t(1))
        return DeviceBlock(address.value, size, handle)

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


def bytes_of(torch: Any, block: DeviceBlock, device: str) -> Any:
    """The block as a tensor of bytes, without a copy."""
    return torch.as_tensor(_Span(block.address, block.size), device=device)


def view(torch: Any, memory: Any, place: list[Any]) -> Any:
    """The buffer at a place ([offset, dtype, shape]) of a tensor of bytes."""
    offset, dtype, shape = place
    kind = getattr(torch, dtype)
    count = math.prod(shape)
    return memory[offset : offset + count * kind.itemsize].view(kind).view(tuple(shape))
