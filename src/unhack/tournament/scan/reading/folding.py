"""The values of expressions of a program, as far as they can be told without running it.

Covered: literals, arithmetic, concatenation, slices, f-strings with unknown parts, names and class
attributes that are assigned once, the usual conversions, and the decoders of the standard library.
Not covered: anything that depends on input, loops or control flow; that is `UNKNOWN`.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import operator
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

UNKNOWN: Final = object()
HOLE = "\0"
"""Stands for the unknown part of an f-string."""
_LARGEST = 1 << 23
_MAX_DEPTH = 60
_do: Any = operator
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: _do.add, ast.Sub: _do.sub, ast.Mult: _do.mul,
    ast.Div: _do.truediv, ast.FloorDiv: _do.floordiv, ast.Mod: _do.mod,
    ast.BitOr: _do.or_, ast.BitAnd: _do.and_, ast.BitXor: _do.xor,
    ast.LShift: _do.lshift, ast.RShift: _do.rshift, ast.Pow: _do.pow,
}  # fmt: skip
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: _do.neg, ast.UAdd: _do.pos, ast.Invert: _do.invert,
    ast.Not: _do.not_,
}  # fmt: skip


def _inflate(data: bytes, wbits: int = 15) -> bytes:
    return zlib.decompressobj(wbits).decompress(data, _LARGEST)


def _backwards(value: Any) -> Any:
    return value[::-1]


def _gunzip(data: bytes) -> bytes:
    return _inflate(data, 31)


_list: Any = list
_tuple: Any = tuple
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "bytes": bytes, "bytearray": bytes, "str": str, "int": int, "float": float, "round": round,
    "abs": abs, "chr": chr, "ord": ord, "len": len, "list": _list, "tuple": _tuple,
    "reversed": _backwards, "sum": sum, "max": max, "min": min,
    "bytes.fromhex": bytes.fromhex, "binascii.unhexlify": binascii.unhexlify,
    "base64.b64decode": base64.b64decode, "base64.b32decode": base64.b32decode,
    "base64.b85decode": base64.b85decode, "base64.a85decode": base64.a85decode,
    "base64.urlsafe_b64decode": base64.urlsafe_b64decode, "base64.b16decode": base64.b16decode,
    "zlib.decompress": _inflate, "codecs.decode": codecs.decode,
    "gzip.decompress": _gunzip,
}  # fmt: skip
_METHODS = frozenset({
    "join", "encode", "decode", "replace", "strip", "lstrip", "rstrip", "lower", "upper", "split",
    "swapcase", "format", "removeprefix", "removesuffix", "splitlines",
})  # fmt: skip
_TOLD = (str, bytes, int, float, complex, list, tuple, dict, type(None))


class Constants:
    """The values of one parsed file."""

    def __init__(self, tree: ast.AST, *, dotted: Callable[[ast.AST], str]) -> None:
        """`dotted`: the absolute name that an expression stands for, or an empty text."""
        self._dotted = dotted
        self._names: dict[str, ast.AST | None] = {}
        self._members: dict[str, ast.AST | None] = {}
        self._known: dict[int, Any] = {}
        self._depth = 0
        for node in ast.walk(tree):
            self._note(node)

    def value(self, node: ast.AST) -> Any:
        """The value of the expression, or `UNKNOWN`."""
        key = id(node)
        if key not in self._known:
            self._known[key] = UNKNOWN
            if self._depth < _MAX_DEPTH:
                self._depth += 1
                try:
                    self._known[key] = self._value(node)
                except Exception:
                    self._known[key] = UNKNOWN
                finally:
                    self._depth -= 1
        return self._known[key]

    def text(self, node: ast.AST) -> str | None:
        """A text that it is worth; bytes are read as Latin-1; None where it is no text."""
        found = self.value(node)
        if isinstance(found, bytes):
            return found.decode("latin-1")
        return found if isinstance(found, str) else None

    def _note(self, node: ast.AST) -> None:
        """Remember assignments; a name that is bound twice is worth nothing."""
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value)
            case ast.AnnAssign(target=target, value=ast.AST() as value):
                self._bind(target, value)
            case ast.NamedExpr(target=target, value=value):
                self._bind(target, value)
            case ast.AugAssign(target=target):
                self._bind(target, None)
            case ast.For(target=target) | ast.AsyncFor(target=target):
                self._bind(target, None)
            case ast.comprehension(target=target) | ast.withitem(optional_vars=ast.AST() as target):
                self._bind(target, None)
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                self._names[name] = None
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                self._names.update(dict.fromkeys(names))
            case _:
                pass

    def _bind(self, target: ast.AST, value: ast.AST | None) -> None:
        match target:
            case ast.Name(id=name):
                self._names[name] = value if name not in self._names else None
                self._members[name] = value if name not in self._members else None
            case ast.Attribute(attr=name):
                self._members[name] = value if name not in self._members else None
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                given = value.elts if isinstance(value, ast.Tuple | ast.List) else []
                pairs = given if len(given) == len(parts) else [None] * len(parts)
                for part, its in zip(parts, pairs, strict=True):
                    self._bind(part, its)
            case ast.Starred(value=inner):
                self._bind(inner, None)
            case _:
                pass

    def _value(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                bound = self._names.get(name)
                return self.value(bound) if bound is not None else UNKNOWN
            case ast.Attribute(attr=name):
                bound = self._members.get(name)
                return self.value(bound) if bound is not None else UNKNOWN
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp(op=op, operand=operand):
                return self._all(_UNARY[type(op)], operand)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return self._all(lambda *values: list(values), *parts)
            case ast.Dict(keys=keys, values=values):
                return self._dict(keys, values)
            case ast.Subscript(value=whole, slice=part):
                return self._subscript(whole, part)
            case ast.JoinedStr(values=parts):
                return "".join(self._part(part) for part in parts)
            case ast.Call():
                return self._call(node)
            case _:
                return UNKNOWN

    def _all(self, work: Callable[..., Any], *nodes: ast.AST) -> Any:
        values = [self.value(node) for node in nodes]
        if any(value is UNKNOWN for value in values):
            return UNKNOWN
        return _check_value(work(*values))

    def _binary(self, node: ast.BinOp) -> Any:
        """The left spine is walked by a loop: concatenations of a thousand parts are usual."""
        spine: list[tuple[type[ast.operator], ast.AST]] = []
        left: ast.AST = node
        while isinstance(left, ast.BinOp):
            spine.append((type(left.op), left.right))
            left = left.left
        result = self.value(left)
        for kind, right in reversed(spine):
            other = self.value(right)
            if result is UNKNOWN or other is UNKNOWN:
                return UNKNOWN
            _check_size(kind, result, other)
            result = _check_value(_BINARY[kind](result, other))
        return result

    def _dict(self, keys: list[ast.expr | None], values: list[ast.expr]) -> Any:
        """A dictionary with whatever of it is known."""
        found: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            name = self.value(key) if key is not None else UNKNOWN
            if isinstance(name, str | bytes | int | float):
                found[name] = self.value(value)
        return found

    def _subscript(self, whole: ast.AST, part: ast.AST) -> Any:
        if isinstance(part, ast.Slice):
            ends = [
                self.value(end) if end is not None else None
                for end in (part.lower, part.upper, part.step)
            ]
            return (
                UNKNOWN if UNKNOWN in ends else self._all(operator.itemgetter(slice(*ends)), whole)
            )
        return self._all(operator.getitem, whole, part)

    def _part(self, node: ast.AST) -> str:
        inner = node.value if isinstance(node, ast.FormattedValue) else node
        plain = not isinstance(node, ast.FormattedValue) or node.format_spec is None
        value = self.value(inner) if plain else UNKNOWN
        return HOLE if value is UNKNOWN else str(value)

    def _call(self, node: ast.Call) -> Any:
        if any(word.arg is None for word in node.keywords):
            return UNKNOWN
        function = _FUNCTIONS.get(self._dotted(node.func))
        if function is not None:
            return self._all(function, *node.args)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            name = node.func.attr
            return self._all(partial(_method, name), node.func.value, *node.args)
        return UNKNOWN


def _method(name: str, owner: Any, *args: Any) -> Any:
    return getattr(owner, name)(*args)


def _check_size(kind: type[ast.operator], left: Any, right: Any) -> None:
    """Raises ValueError where the result could be huge."""
    if kind in (ast.Pow, ast.LShift) and not (abs(left) < 1e6 and abs(right) < 64):
        raise ValueError
    if kind is ast.Mult:
        for whole, times in ((left, right), (right, left)):
            if isinstance(whole, str | bytes | list) and len(whole) * times > _LARGEST:  # pyright: ignore[reportUnknownArgumentType]
                raise ValueError
    if kind is ast.Mod and isinstance(left, str | bytes):
        raise ValueError


def _check_value(value: Any) -> Any:
    if not isinstance(value, _TOLD):
        return UNKNOWN
    if isinstance(value, str | bytes | list) and len(value) > _LARGEST:  # pyright: ignore[reportUnknownArgumentType]
        return UNKNOWN
    return value  # pyright: ignore[reportUnknownVariableType]
