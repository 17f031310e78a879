"""Frames: values with numeric arrays, as they cross between a judge and a submission's process.

A frame is `<QQ` (bytes of the header, bytes of the body), the header as JSON, and the body: the
buffers of arrays and byte strings one after the other. In the header a value is None, bool, int,
float, str or list as in JSON; everything else is an object with one key:

    {"$a": [dtype, shape]}  {"$b": size}  {"$t": [...]}  {"$d": [[key, value], ...]}

Covered: `decode` never runs code and never trusts a size; it fails only with `FrameError`,
whatever bytes it is given. Arrays arrive with a dtype of `DTYPES`, in C order, in memory of the
receiver.
Not covered: object arrays, sparse arrays, views that share memory.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np

HEADER = struct.Struct("<QQ")
_SIZES = {"int": (8, 16, 32, 64), "uint": (8, 16, 32, 64), "float": (16, 32, 64)}
DTYPES = frozenset(["bool", *(f"{kind}{bits}" for kind, all_ in _SIZES.items() for bits in all_)])
MAX_HEADER_BYTES = 16 << 20
_MAX_DEPTH = 60
_MAX_DIMS = 16


class FrameError(ValueError):
    """The bytes are not a frame, or the value cannot become one."""


def encode(value: Any) -> list[bytes]:
    """The parts of a frame, to be sent one after the other. Raises FrameError."""
    body: list[bytes] = []
    header = json.dumps(_encode(value, body, 0), separators=(",", ":")).encode()
    return [HEADER.pack(len(header), sum(map(len, body))), header, *body]


def sizes(head: bytes, *, max_bytes: int) -> tuple[int, int]:
    """(bytes of the header, bytes of the body) that follow. Raises FrameError above `max_bytes`."""
    header, body = HEADER.unpack(head)
    if header > MAX_HEADER_BYTES or body > max_bytes:
        raise FrameError(f"an answer of {header + body} bytes is more than the {max_bytes} allowed")
    return header, body


def decode(header: bytes, body: bytes | bytearray) -> Any:
    """The value of a frame. Raises FrameError."""
    try:
        encoded = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"not a frame: {error}") from None
    taken = [0]
    value = _decode(encoded, memoryview(body), taken, 0)
    if taken[0] != len(body):
        raise FrameError("the body is longer than its arrays")
    return value


def _encode(value: Any, body: list[bytes], depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise FrameError("too deeply nested")
    if value is None or isinstance(value, (bool, str)):
        return value if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(cast("bytes", value))
        body.append(data)
        return {"$b": len(data)}
    if isinstance(value, list):
        return [_encode(item, body, depth + 1) for item in cast("list[Any]", value)]
    if isinstance(value, tuple):
        items = cast("tuple[Any, ...]", value)
        return {"$t": [_encode(item, body, depth + 1) for item in items]}
    if isinstance(value, dict):
        pairs = cast("dict[Any, Any]", value).items()
        return {"$d": [[str(key), _encode(item, body, depth + 1)] for key, item in pairs]}
    return _encode_array(value, body)


def _encode_array(value: Any, body: list[bytes]) -> Any:
    dtype = getattr(getattr(value, "dtype", None), "name", None)
    if dtype is None:
        raise FrameError(
            f"{type(value).__name__} cannot cross: None, bool, int, float, str, bytes, list, "
            "tuple, dict and arrays can"
        )
    if dtype not in DTYPES:
        raise FrameError(
            f"an array of {dtype} cannot cross: arrays of {', '.join(sorted(DTYPES))} can"
        )
    if not getattr(value, "shape", ()):  # a scalar
        return value.item()
    body.append(value.tobytes())
    return {"$a": [dtype, list(value.shape)]}


def _decode(value: Any, body: memoryview, taken: list[int], depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise FrameError("too deeply nested")
    if isinstance(value, list):
        return _decode_all(cast("list[Any]", value), body, taken, depth)
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if len(fields) != 1:
        raise FrameError("an object with other than one key")
    [(tag, inner)] = fields.items()
    if tag == "$b" and type(inner) is int:
        return bytes(_take(body, taken, inner))
    if tag == "$t" and isinstance(inner, list):
        return tuple(_decode_all(cast("list[Any]", inner), body, taken, depth))
    if tag == "$d" and isinstance(inner, list):
        return _decode_pairs(cast("list[Any]", inner), body, taken, depth)
    if tag == "$a":
        return _decode_array(inner, body, taken)
    raise FrameError(f"unknown tag {tag!r:.40}")


def _decode_all(items: Iterable[Any], body: memoryview, taken: list[int], depth: int) -> list[Any]:
    return [_decode(item, body, taken, depth + 1) for item in items]


def _decode_pairs(
    pairs: Iterable[Any], body: memoryview, taken: list[int], depth: int
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        if not (isinstance(pair, list) and len(cast("list[Any]", pair)) == 2):
            raise FrameError("a mapping of other than pairs")
        key, item = cast("list[Any]", pair)
        if not isinstance(key, str) or key in found:
            raise FrameError("a mapping with a key that is no string, or twice the same")
        found[key] = _decode(item, body, taken, depth + 1)
    return found


def _decode_array(inner: Any, body: memoryview, taken: list[int]) -> np.ndarray[Any, Any]:
    import numpy as np  # only where arrays cross

    if not (isinstance(inner, list) and len(cast("list[Any]", inner)) == 2):
        raise FrameError("an array without dtype and shape")
    dtype, shape = cast("list[Any]", inner)
    known = isinstance(dtype, str) and dtype in DTYPES
    if not known or not isinstance(shape, list) or len(cast("list[Any]", shape)) > _MAX_DIMS:
        raise FrameError(f"an array of {dtype!r:.40} cannot cross")
    dims = cast("list[Any]", shape)
    if any(type(size) is not int or size < 0 for size in dims):
        raise FrameError("a shape of other than sizes")
    kind = np.dtype(dtype)
    data = _take(body, taken, math.prod(dims) * kind.itemsize)
    return np.frombuffer(data, dtype=kind).reshape(dims).copy()


def _take(body: memoryview, taken: list[int], size: int) -> memoryview:
    start = taken[0]
    if size < 0 or start + size > len(body):
        raise FrameError("an array is longer than the body")
    taken[0] = start + size
    return body[start : start + size]
