"""Comparison of an output with the expected value. Everything here is plain data already.

Covered: type-strict equality, Python equality, floats with tolerance and NaN/inf rules, multisets;
value types of the standard library (`core.value_types`) by type and value; values of other
subclasses and of numpy (`AsBuiltin`) fail the strict comparison and count as the builtin they stand
for in the others; opaque values equal nothing.
Not covered: answers that need code to be recognised; those need a checker.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Callable
from datetime import datetime, time
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

from unhack.core import plain


class Compare(StrEnum):
    """The comparisons of function tasks.

    Example:

        matches([3, 1], [1, 3], compare=Compare.UNORDERED)  # True
    """

    EXACT = "exact"
    EQUAL = "equal"
    FLOAT = "float"
    UNORDERED = "unordered"


def exactly(left: Any, right: Any) -> bool:
    """Same types all the way down, same values; NaN equals nothing."""
    kind = cast("type[Any]", type(left))
    if kind is not type(right):
        return False
    if kind is list or kind is tuple:
        return len(left) == len(right) and all(map(exactly, left, right))
    if kind is dict:
        return _same_items(left, right)
    if kind is set or kind is frozenset:
        return _type_key(left) == _type_key(right)
    if kind in _PARTS:
        return exactly(_PARTS[kind](left), _PARTS[kind](right))
    return _python_equal(left, right)


def _same_items(left: dict[Any, Any], right: dict[Any, Any]) -> bool:
    keys = {_type_key(key): key for key in right}
    return len(left) == len(right) and all(
        (typed := _type_key(key)) in keys and exactly(item, right[keys[typed]])
        for key, item in left.items()
    )


_EMPTY: dict[Any, Any] = {}
_PARTS: dict[type, Callable[[Any], Any]] = {
    Counter: dict,
    defaultdict: dict,
    OrderedDict: lambda value: list(value.items()),
    deque: list,
    UserDict: lambda value: value.data,
    UserList: lambda value: value.data,
    SimpleNamespace: lambda value: value.__dict__,
    type(_EMPTY.keys()): set,
    type(_EMPTY.items()): dict,
    array: lambda value: [value.typecode, *value],
    datetime: lambda value: [value.replace(tzinfo=None).isoformat(), value.utcoffset()],
    time: lambda value: [value.replace(tzinfo=None).isoformat(), value.utcoffset()],
}
"""Value types that hold others, or whose `==` looks at less than the value."""


def _python_equal(left: Any, right: Any) -> bool:
    """Python's `==`; a comparison that raises, as one with a signalling NaN does, is False."""
    try:
        return bool(left == right)
    except (ArithmeticError, TypeError, ValueError):
        return False


def _type_key(value: Any) -> Any:
    """A hashable stand-in that is equal exactly when values and types are.

    NaN, subclass and opaque values get one that equals nothing.
    """
    kind = cast("type[Any]", type(value))
    if kind in (list, tuple):
        return kind, tuple(map(_type_key, value))
    if kind is dict:
        return kind, frozenset((_type_key(key), _type_key(item)) for key, item in value.items())
    if kind in (set, frozenset):
        return kind, frozenset(map(_type_key, value))
    if kind in _PARTS:
        return kind, _type_key(_PARTS[kind](value))
    if kind in (bytearray, memoryview):
        return kind, bytes(value)
    if kind in (plain.AsBuiltin, plain.Opaque) or not _python_equal(value, value):
        return object()
    return kind, value


def equally(left: Any, right: Any) -> bool:
    """Python's `==` on plain values; `1 == 1.0 == True`; NaN equals nothing."""
    return _python_equal(plain.to_builtins(left), right) and not _holds_opaque(left)


def _holds_opaque(value: Any) -> bool:
    kind = cast("type[Any]", type(value))
    if kind is plain.Opaque:
        return True
    if kind is list or kind is tuple:
        return any(map(_holds_opaque, value))
    if kind is dict:
        return any(map(_holds_opaque, value.values()))
    return False


def closely(left: Any, right: Any, *, rel_tol: float, abs_tol: float) -> bool:
    """Like `equally`, with numbers within tolerance.

    NaN matches NaN only where the expected value is NaN; an infinity matches only itself; a bool
    matches only a bool.
    """
    left = plain.to_builtins(left)
    if isinstance(right, bool) or isinstance(left, bool):
        return type(left) is type(right) and left == right
    if isinstance(right, (int, float)):
        return isinstance(left, (int, float)) and is_near(
            left, right, rel_tol=rel_tol, abs_tol=abs_tol
        )
    if isinstance(right, complex):
        return isinstance(left, (int, float, complex)) and all(
            is_near(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
            for a, b in ((left.real, right.real), (left.imag, right.imag))
        )
    if isinstance(right, (Decimal, Fraction)):
        return type(left) is type(right) and is_near(left, right, rel_tol=rel_tol, abs_tol=abs_tol)
    if type(left) is not type(right):
        return False
    kind = cast("type[Any]", type(right))
    if kind in _PARTS and kind not in (datetime, time):
        left, right = _PARTS[kind](left), _PARTS[kind](right)
    if isinstance(right, (list, tuple)):
        items = cast("list[Any]", right)
        return len(left) == len(items) and all(
            closely(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
            for a, b in zip(left, items, strict=True)
        )
    if isinstance(right, dict):
        expected = cast("dict[Any, Any]", right)
        return left.keys() == expected.keys() and all(
            closely(left[key], item, rel_tol=rel_tol, abs_tol=abs_tol)
            for key, item in expected.items()
        )
    return _python_equal(left, right)


FINE_TOLERANCE = 1e-6
"""A relative tolerance up to this one is there for rounding, not to let another integer pass."""
_INTEGER_ROOM = Fraction(1, 100)


def is_near(left: Any, right: Any, *, rel_tol: float, abs_tol: float) -> bool:
    """Two real numbers within tolerance; NaN matches NaN, an infinity only itself.

    Against an integer a fine relative tolerance gives at most 0.01, so that 1000000006.5 is not
    1000000007; both are compared exactly, beyond the precision of floats too.
    """
    try:
        if math.isnan(right):
            return math.isnan(left)
        if isinstance(right, int) and rel_tol <= FINE_TOLERANCE and math.isfinite(left):
            off = abs(Fraction(left) - right)
            if off > max(_INTEGER_ROOM, Fraction(abs_tol)):
                return False
        return math.isclose(left, right, rel_tol=rel_tol, abs_tol=abs_tol)
    except (OverflowError, ValueError):  # beyond the range of floats, or a signalling NaN
        return _python_equal(left, right)


def unordered(left: Any, right: Any) -> bool:
    """The outer list or tuple as a multiset of `exactly` equal values."""
    if type(left) is not type(right) or not isinstance(right, (list, tuple)):
        return exactly(left, right)
    items, expected = cast("list[Any]", left), cast("list[Any]", right)
    if len(items) != len(expected):
        return False
    return Counter(map(_type_key, items)) == Counter(map(_type_key, expected))


def matches(
    left: Any, right: Any, *, compare: Compare, rel_tol: float = 1e-9, abs_tol: float = 1e-9
) -> bool:
    """True when the output `left` is accepted for the expected value `right`."""
    if compare is Compare.EXACT:
        return exactly(left, right)
    if compare is Compare.EQUAL:
        return equally(left, right)
    if compare is Compare.FLOAT:
        return closely(left, right, rel_tol=rel_tol, abs_tol=abs_tol)
    return unordered(left, right)
