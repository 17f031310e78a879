"""Values of constant Python expressions, worked out from the syntax tree; nothing is executed.

Covered: literals of all builtin data types, arithmetic on them, calls of a few pure builtins
(`set([1, 2])`, `float("inf")`, `list(range(5))`), `math.pi` and its kin, names given by the caller.
Not covered: comprehensions, attributes, subscripts, f-strings; results of more than a few
megabytes.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, cast

from unhack.core import plain

_MAX_BITS = 1 << 20
_MAX_ITEMS = 1 << 20


class NotLiteralError(ValueError):
    """An expression is not constant in the sense of this module."""


_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: operator.mod,
    ast.Pow: lambda left, right: left**right,
    ast.LShift: lambda left, right: left << right,
    ast.RShift: lambda left, right: left >> right,
    ast.BitOr: lambda left, right: left | right,
    ast.BitAnd: lambda left, right: left & right,
    ast.BitXor: lambda left, right: left ^ right,
}
PURE: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "bool": bool,
    "bytes": bytes,
    "complex": complex,
    "dict": dict,
    "float": float,
    "frozenset": frozenset,
    "int": int,
    "len": len,
    "list": list,
    "max": max,
    "min": min,
    "range": range,
    "round": round,
    "set": set,
    "sorted": sorted,
    "str": str,
    "sum": sum,
    "tuple": tuple,
}
"""Builtins that a constant expression may call."""
_MATH = {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan}


def evaluate(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of a constant expression, as plain data. Raises NotLiteralError."""
    try:
        value = _value(node, names)
        plain.encode_tags(value)
    except NotLiteralError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise NotLiteralError(f"{type(error).__name__}: {error}") from None
    if not _is_plain(value):
        raise NotLiteralError(f"{type(value).__name__} is not plain data")
    return value


_SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes})


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        pairs = cast("dict[Any, Any]", value).items()
        return all(_is_plain(part) for pair in pairs for part in pair)
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_is_plain, cast("list[Any]", value)))
    return type(value) in _SCALARS


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value) if value is not Ellipsis:
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.List():
            return _items(node.elts, names)
        case ast.Tuple():
            return tuple(_items(node.elts, names))
        case ast.Set():
            return set(_items(node.elts, names))
        case ast.Dict():
            return _mapping(node, names)
        case ast.UnaryOp():
            return _UNARY[type(node.op)](_value(node.operand, names))
        case ast.BinOp():
            return _arithmetic(type(node.op), _value(node.left, names), _value(node.right, names))
        case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in _MATH:
            return _MATH[name]
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in PURE and name not in names:
            return _call(name, _items(node.args, names))
        case _:
            raise NotLiteralError(f"{ast.unparse(node):.60} is not a constant")


def _items(nodes: list[ast.expr], names: Mapping[str, Any]) -> list[Any]:
    values: list[Any] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            values.extend(_value(node.value, names))
        else:
            values.append(_value(node, names))
    return values


def _mapping(node: ast.Dict, names: Mapping[str, Any]) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            result.update(_value(value, names))
        else:
            result[_value(key, names)] = _value(value, names)
    return result


def _arithmetic(kind: type[ast.operator], left: Any, right: Any) -> Any:
    """`left op right`, unless the result would be huge."""
    if kind is ast.Mult:
        for sequence, count in ((left, right), (right, left)):
            if hasattr(sequence, "__len__") and isinstance(count, int):
                _bound(len(sequence) * count, _MAX_ITEMS)
    if isinstance(left, int) and isinstance(right, int):
        if kind is ast.Pow:
            _bound(left.bit_length() * right, _MAX_BITS)
        if kind is ast.LShift:
            _bound(left.bit_length() + right, _MAX_BITS)
        if kind is ast.Mult:
            _bound(left.bit_length() + right.bit_length(), _MAX_BITS)
    if kind is ast.Mod and isinstance(left, (str, bytes)):
        raise NotLiteralError("text formatting is not a constant here")
    return _BINARY[kind](left, right)


def _call(name: str, arguments: list[Any]) -> Any:
    for argument in arguments:
        if isinstance(argument, range):
            _bound(len(argument), _MAX_ITEMS)
        if name == "bytes" and isinstance(argument, int):
            _bound(argument, _MAX_ITEMS)
    return PURE[name](*arguments)


def _bound(size: int, limit: int) -> None:
    if size > limit:
        raise NotLiteralError("the result would be too large for a constant")
