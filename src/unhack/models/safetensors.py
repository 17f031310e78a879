"""Weights on disk: the safetensors format, read as views of a mapped file and written whole.

A file is `<Q` (bytes of the header), the header as JSON (`name -> {dtype, shape, data_offsets}`),
and the tensors' bytes one after the other.

Covered: a file that is cut short or says nonsense of itself is a `UsageError`. Reading runs no
code.
Not covered: sharded checkpoints' index files (pass every shard), sub-byte types.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from unhack.core.errors import UsageError

_LENGTH = struct.Struct("<Q")
_MAX_HEADER = 100 << 20
_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4",
    "I16": "<i2", "I8": "|i1", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
_CODES = {np.dtype(text): code for code, text in _TYPES.items() if code != "BF16"}


def read(path: Path) -> dict[str, NDArray[Any]]:
    """Name -> read-only view of the mapped file; bfloat16 becomes float32 in memory.

    Raises UsageError for a file that is not in the format.
    """
    try:
        data: NDArray[Any] = np.memmap(path, dtype=np.uint8, mode="r")
        (length,) = _LENGTH.unpack(data[: _LENGTH.size].tobytes())
        if length > min(_MAX_HEADER, data.size):
            raise ValueError("the header is longer than the file")
        start = _LENGTH.size + length
        header = cast("dict[str, Any]", json.loads(data[_LENGTH.size : start].tobytes()))
        header.pop("__metadata__", None)
        return {name: _view(data[start:], fields) for name, fields in header.items()}
    except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
        raise UsageError(f"{path} is no safetensors file: {error}") from None


def encode(weights: Mapping[str, NDArray[Any]], *, note: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a file with these tensors; the same tensors give the same bytes."""
    header: dict[str, Any] = {"__metadata__": dict(note)} if note else {}
    parts: list[bytes] = []
    at = 0
    for name, array in weights.items():
        plain = np.ascontiguousarray(array)
        part = plain.tobytes()
        header[name] = {
            "dtype": _CODES[plain.dtype],
            "shape": list(plain.shape),
            "data_offsets": [at, at + len(part)],
        }
        at += len(part)
        parts.append(part)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([_LENGTH.pack(len(text)), text, *parts])


def _view(data: NDArray[Any], fields: Mapping[str, Any]) -> NDArray[Any]:
    kind, shape = fields["dtype"], tuple(fields["shape"])
    first, last = fields["data_offsets"]
    if not 0 <= first <= last <= data.size:
        raise ValueError("a tensor lies outside the file")
    array = data[first:last].view(_TYPES[kind]).reshape(shape)
    if kind == "BF16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array
