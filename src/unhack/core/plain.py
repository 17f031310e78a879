"""Plain data: the only thing that crosses a process border.

Tagged JSON. None, bool, int, finite float, str, list and dict with string keys stand for
themselves; everything else is an object with a single key that starts with `$`:

    {"$tuple": [...]}  {"$set": [...]}  {"$frozenset": [...]}  {"$bytes": "base64"}
    {"$float": "nan" | "inf" | "-inf"}  {"$int": "0x..."}  {"$complex": [re, im]}
    {"$dict": [[key, value], ...]}           keys that are not strings, or that start with `$`
    {"$std": ["collections.Counter", data]}  a value type of the standard library (`value_types`)
    {"$as": ["module.Subclass", value]}      a subclass or numpy value, as a builtin
    {"$opaque": "module.Type"}               a value that is not data; equal to nothing

Covered: `loads` never runs code, bounds nesting, refuses colliding keys, and fails only with
`PlainDataError`, whatever bytes it is given. `dumps` reads the values of subclasses of builtins
through the builtin's own methods, so that an overridden `__eq__`, `__iter__` or `__len__` has no
say.
Not covered: identity and aliasing (a list that holds the same list twice arrives as two lists).
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, cast

from unhack.core import value_types

MAX_DEPTH = 100
"""Deepest nesting of a value."""
MAX_INT_BITS = 1 << 22
"""Largest integer accepted, in bits."""
_BIG_INT = 1 << 1024
_MAX_COLLIDING = 64


class PlainDataError(ValueError):
    """The bytes are not plain data, or the value cannot become plain data."""


class AsBuiltin:
    """A value of a subclass of a builtin (or a numpy value), as the builtin it stands for."""

    __slots__ = ("type_name", "value")

    def __init__(self, type_name: str, value: Any) -> None:
        self.type_name = type_name
        self.value = value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AsBuiltin)
            and self.type_name == other.type_name
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash(self.value)  # keys that collide as builtins collide before, where it is checked

    def __repr__(self) -> str:
        return f"{self.type_name}({self.value!r})"


class Opaque:
    """A value that is not data. It equals nothing, itself included."""

    __slots__ = ("type_name",)

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return hash(self.type_name)

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


encode_json = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
"""JSON-ready objects as one line; built once, because each job forks before it encodes."""


def dumps(value: Any) -> str:
    """`value` as tagged JSON on one line."""
    return encode_json(encode_tags(value))


def _type_name(kind: type) -> str:
    module = type.__getattribute__(kind, "__module__")
    name = type.__getattribute__(kind, "__qualname__")
    if not (isinstance(module, str) and isinstance(name, str)):
        return "object"
    return (name if module == "builtins" else f"{module}.{name}")[:200]


def encode_tags(value: Any, depth: int = 0) -> Any:
    """`value` as JSON-ready objects with tags (see the module docstring).

    Raises `PlainDataError` when the nesting exceeds `MAX_DEPTH`.
    """
    kind = cast("type[Any]", type(value))
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -_BIG_INT < value < _BIG_INT else {"$int": hex(value)}
    if kind is float:
        if value - value == 0.0:
            return value
        return {"$float": "inf" if value > 0 else "-inf" if value < 0 else "nan"}
    if depth >= MAX_DEPTH:
        raise PlainDataError(f"nested more than {MAX_DEPTH} levels")
    handler = _ENCODERS.get(kind)
    if handler is not None:
        return handler(value, depth + 1)
    return _encode_other(value, kind, depth)


def _encode_list(value: list[Any], depth: int) -> Any:
    if set(map(type, value)) == {int} and min(value) > -_BIG_INT and max(value) < _BIG_INT:
        return value.copy()  # such as the tokens of a completion
    return [item if type(item) is str else encode_tags(item, depth) for item in value]


def _encode_dict(value: dict[Any, Any], depth: int) -> Any:
    if all(type(key) is str and key[:1] != "$" for key in value):
        return {key: encode_tags(item, depth) for key, item in value.items()}
    return {
        "$dict": [
            [encode_tags(key, depth), encode_tags(item, depth)] for key, item in value.items()
        ]
    }


def _encode_sorted(value: Any, depth: int) -> list[Any]:
    items = [encode_tags(item, depth) for item in value]
    return sorted(items, key=json.dumps)


_ENCODERS: dict[type, Callable[[Any, int], Any]] = {
    list: _encode_list,
    dict: _encode_dict,
    tuple: lambda value, depth: {"$tuple": [encode_tags(item, depth) for item in value]},
    set: lambda value, depth: {"$set": _encode_sorted(value, depth)},
    frozenset: lambda value, depth: {"$frozenset": _encode_sorted(value, depth)},
    bytes: lambda value, depth: {"$bytes": base64.b64encode(value).decode("ascii")},
    complex: lambda value, depth: {"$complex": [encode_tags(value.real), encode_tags(value.imag)]},
}

_iterate: dict[type, Callable[[Any], Any]] = {
    kind: cast("Any", kind).__iter__
    for kind in (str, list, tuple, dict, set, frozenset, bytes, bytearray)
}
_dict_get = cast("Callable[[Any, Any], Any]", dict.__getitem__)  # pyright: ignore[reportUnknownMemberType]
_BASES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, lambda value: int.__add__(value, 0)),
    (float, lambda value: float.__add__(value, -0.0)),  # keeps the sign of zero
    (complex, lambda value: complex.__add__(value, complex(-0.0, -0.0))),
    (str, lambda value: "".join(_iterate[str](value))),
    (list, lambda value: list(_iterate[list](value))),
    (tuple, lambda value: tuple(_iterate[tuple](value))),
    (dict, lambda value: {key: _dict_get(value, key) for key in _iterate[dict](value)}),
    (set, lambda value: set(_iterate[set](value))),
    (frozenset, lambda value: frozenset(_iterate[frozenset](value))),
    (bytes, lambda value: bytes(_iterate[bytes](value))),
    (bytearray, lambda value: bytes(_iterate[bytearray](value))),
)


def _encode_other(value: Any, kind: type, depth: int) -> Any:
    name = _type_name(kind)
    data = value_types.take_apart(value, kind, name=name)
    if data is not None:
        return {"$std": [name, encode_tags(data, depth + 1)]}
    for base, read in _BASES:
        if base in type.mro(kind):
            return {"$as": [name, encode_tags(read(value), depth + 1)]}
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return {"$as": [f"numpy.{value.dtype.name}", encode_tags(value.tolist(), depth + 1)]}
    return {"$opaque": name}


def loads(data: str | bytes) -> Any:
    """The value in `data`. Raises `PlainDataError`, and nothing else, on anything malformed."""
    value = parse_json(data)
    try:
        return decode_tags(value)
    except RecursionError:
        raise PlainDataError("nested too deeply") from None


def parse_json(data: str | bytes) -> Any:
    """JSON with its tags still in it. Raises `PlainDataError`, and nothing else."""
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except PlainDataError:
        raise
    except (ValueError, RecursionError, TypeError, OverflowError, MemoryError) as error:
        raise PlainDataError(f"not plain data: {type(error).__name__}") from None


def _refuse_constant(name: str) -> Any:
    raise PlainDataError(f"not plain data: bare {name}")


def decode_tags(value: Any, depth: int = 0) -> Any:
    """Turn JSON objects with tags back into values."""
    kind = cast("type[Any]", type(value))
    if kind is list:
        if depth > 2 * MAX_DEPTH + 10:
            raise PlainDataError("nested too deeply")
        return [
            item if type(item) in _SCALARS else decode_tags(item, depth + 1)
            for item in cast("list[Any]", value)
        ]
    if kind is not dict:
        return value
    if depth > 2 * MAX_DEPTH + 10:
        raise PlainDataError("nested too deeply")
    mapping = cast("dict[str, Any]", value)
    if len(mapping) == 1:
        ((tag, inner),) = mapping.items()
        if tag[:1] == "$":
            return _decode_tag(tag, inner, depth + 2)
    elif any(key[:1] == "$" for key in mapping):
        raise PlainDataError("a tag stands beside other keys")
    return {key: decode_tags(item, depth + 1) for key, item in mapping.items()}


_SCALARS = frozenset({str, int, float, bool, type(None)})
_FLOATS = frozenset({"nan", "inf", "-inf"})


def _decode_float(inner: Any, depth: int) -> float:
    if inner not in _FLOATS:
        raise PlainDataError("not one of nan, inf, -inf")
    return float(inner)  # a new object each time: containers take the same NaN for equal


def _decode_tag(tag: str, inner: Any, depth: int) -> Any:
    try:
        handler = _DECODERS[tag]
    except KeyError:
        raise PlainDataError(f"unknown tag {tag[:20]!r}") from None
    try:
        return handler(inner, depth)
    except PlainDataError:
        raise
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise PlainDataError(f"bad {tag} value: {type(error).__name__}") from None


def _decode_items(inner: Any, depth: int) -> list[Any]:
    if type(inner) is not list:
        raise PlainDataError("expected a list")
    return [decode_tags(item, depth) for item in cast("list[Any]", inner)]


def _decode_int(inner: Any, depth: int) -> int:
    if type(inner) is not str or len(inner) > MAX_INT_BITS // 4:
        raise PlainDataError("integer too large")
    return int(inner, 16)


def _decode_complex(inner: Any, depth: int) -> complex:
    real, imag = _decode_items(inner, depth)
    if type(real) is not float or type(imag) is not float:
        raise PlainDataError("complex needs two floats")
    return complex(real, imag)


def _check_hashes(items: list[Any]) -> list[Any]:
    """Refuse keys made to collide: inserting n of one hash would cost n² comparisons. Found by
    sorting: a table of the hashes could be made to collide itself."""
    hashes = sorted(map(hash, items)) if len(items) > _MAX_COLLIDING else []
    if any(one == other for one, other in zip(hashes, hashes[_MAX_COLLIDING:], strict=False)):
        raise PlainDataError("hash values collide")
    return items


def _decode_dict(inner: Any, depth: int) -> dict[Any, Any]:
    pairs = _decode_items(inner, depth)
    keys = _check_hashes([key for key, _ in pairs])
    return dict(zip(keys, (item for _, item in pairs), strict=True))


def _decode_as(inner: Any, depth: int) -> AsBuiltin:
    name, item = _decode_items(inner, depth)
    if type(name) is not str:
        raise PlainDataError("type name must be a string")
    return AsBuiltin(name, item)


def _decode_std(inner: Any, depth: int) -> Any:
    if type(inner) is not list or inner[0] not in value_types.NAMES:
        raise PlainDataError("no value type of the standard library")
    name, encoded = cast("list[Any]", inner)
    data = decode_tags(encoded, depth)
    if name in {"dict_keys", "dict_items"}:
        items = cast("list[Any]", data)
        _check_hashes([item[0] for item in items] if name == "dict_items" else items)
    return value_types.put_together(name, data)


def _decode_opaque(inner: Any, depth: int) -> Opaque:
    if type(inner) is not str:
        raise PlainDataError("type name must be a string")
    return Opaque(inner)


_DECODERS: Mapping[str, Callable[[Any, int], Any]] = {
    "$tuple": lambda inner, depth: tuple(_decode_items(inner, depth)),
    "$set": lambda inner, depth: set(_check_hashes(_decode_items(inner, depth))),
    "$frozenset": lambda inner, depth: frozenset(_check_hashes(_decode_items(inner, depth))),
    "$bytes": lambda inner, depth: base64.b64decode(inner, validate=True),
    "$float": _decode_float,
    "$int": _decode_int,
    "$complex": _decode_complex,
    "$dict": _decode_dict,
    "$std": _decode_std,
    "$as": _decode_as,
    "$opaque": _decode_opaque,
}


def to_builtins(value: Any) -> Any:
    """`value` with every `AsBuiltin` replaced by the builtin value that it stands for."""
    kind = cast("type[Any]", type(value))
    if kind is AsBuiltin:
        return to_builtins(value.value)
    if kind is list or kind is tuple:
        # Scalars without a call: at some depths each call has the interpreter map its stack anew.
        items = (item if type(item) in _SCALARS else to_builtins(item) for item in value)
        return cast("Any", kind(items))
    if kind is dict:
        return {to_builtins(key): to_builtins(item) for key, item in value.items()}
    if kind is set or kind is frozenset:
        return cast("Any", kind(to_builtins(item) for item in value))
    return value
