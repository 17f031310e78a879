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
from collections import (
    Counter,
    OrderedDict,
    UserDict,
    UserList,
    UserString,
    defaultdict,
    deque,
)
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import partial
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
    if kind in _SETS:
        return len(left) == len(right) and _same_texts([left], [right])
    if kind in _PARTS:
        return exactly(_PARTS[kind](left), _PARTS[kind](right))
    return _python_equal(left, right)


def _same_items(left: dict[Any, Any], right: dict[Any, Any]) -> bool:
    if len(left) != len(right):
        return False
    if all(type(key) in _PLAIN_KEYS for keys in (left, right) for key in keys):
        return all(key in right and exactly(item, right[key]) for key, item in left.items())
    return _same_texts([left], [right])


_PLAIN_KEYS = (str, int)
"""Types of keys that are equal to none of another type among them."""
_EMPTY: dict[Any, Any] = {}
_PARTS: dict[type, Callable[[Any], Any]] = {
    Counter: dict,
    defaultdict: dict,
    OrderedDict: lambda value: list(value.items()),
    deque: list,
    UserDict: lambda value: value.data,
    UserList: lambda value: value.data,
    SimpleNamespace: lambda value: value.__dict__,
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


class _EqualsNothingError(Exception):
    """A value that no other one equals: NaN, one of a subclass, an opaque one."""


def _same_texts(left: list[Any], right: list[Any]) -> bool:
    """True for two lists of the same values in any order. Sorted texts are compared: nothing that
    comes from a candidate is hashed, so nothing can be made to collide."""
    try:
        return sorted(map(_text, left)) == sorted(map(_text, right))
    except _EqualsNothingError:
        return False


def _text(value: Any) -> str:
    """A text that two values share exactly where `exactly` holds of them.

    Raises _EqualsNothingError.
    """
    kind = cast("type[Any]", type(value))
    write = _WRITERS.get(kind)
    if write is not None:
        inner = write(value)
    elif kind in _PARTS:
        inner = _text(_PARTS[kind](value))
    else:
        raise _EqualsNothingError
    return f"{kind.__name__}{len(inner)}:{inner}"


def _mapping_text(items: Any) -> str:
    return "".join(sorted(_text(key) + _text(item) for key, item in items))


def _set_text(value: Any) -> str:
    return "".join(sorted(map(_text, value)))


def _float_text(value: float) -> str:
    if math.isnan(value):
        raise _EqualsNothingError
    return (value + 0.0).hex()  # both zeros are one


def _decimal_text(value: Decimal) -> str:
    if value.is_nan():
        raise _EqualsNothingError
    if value.is_infinite() or not value:
        return str(value) if value else "0"
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits))
    bare = text.rstrip("0")
    return f"{sign}{bare}e{int(exponent) + len(text) - len(bare)}"


def _range_text(value: range) -> str:
    if not value:
        return ""
    first, last = value[0], value[-1]
    return f"{first:x},{last:x},{value.step if first != last else 0:x}"


def _span_text(value: timedelta) -> str:
    return f"{value.days},{value.seconds},{value.microseconds}"


_SETS = (set, frozenset, type(_EMPTY.keys()), type(_EMPTY.items()))
_WRITERS: dict[type, Callable[[Any], str]] = {
    type(None): str,
    bool: str,
    int: lambda value: f"{value:x}",
    float: _float_text,
    complex: lambda value: f"{_float_text(value.real)},{_float_text(value.imag)}",
    str: str,
    bytes: lambda value: value.decode("latin-1"),
    bytearray: lambda value: value.decode("latin-1"),
    memoryview: lambda value: value.tobytes().decode("latin-1"),
    list: lambda value: "".join(map(_text, value)),
    tuple: lambda value: "".join(map(_text, value)),
    dict: lambda value: _mapping_text(value.items()),
    **dict.fromkeys(_SETS, _set_text),
    Decimal: _decimal_text,
    Fraction: lambda value: f"{value.numerator:x}/{value.denominator:x}",
    date: date.isoformat,
    timedelta: _span_text,
    timezone: lambda value: _span_text(value.utcoffset(None)),
    range: _range_text,
    UserString: lambda value: value.data,
}
"""Value types, with a text that says all that their `==` looks at."""


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
    return _closely(rel_tol, abs_tol, plain.to_builtins(left), right)


def _closely(rel_tol: float, abs_tol: float, left: Any, right: Any) -> bool:
    kind = cast("type[Any]", type(right))
    if kind is bool or type(left) is bool:
        return kind is type(left) and left == right
    if isinstance(right, (int, float)):
        return isinstance(left, (int, float)) and is_near(
            left, right, rel_tol=rel_tol, abs_tol=abs_tol
        )
    if kind is complex:
        return isinstance(left, (int, float, complex)) and all(
            is_near(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
            for a, b in ((left.real, right.real), (left.imag, right.imag))
        )
    if kind is not type(left):
        return False
    if isinstance(right, (Decimal, Fraction)):
        return is_near(left, right, rel_tol=rel_tol, abs_tol=abs_tol)
    if kind in _PARTS and kind not in (datetime, time):
        left, right = plain.to_builtins(_PARTS[kind](left)), _PARTS[kind](right)
    near: Callable[[Any, Any], bool] = partial(_closely, rel_tol, abs_tol)
    if isinstance(right, (list, tuple)):
        items = cast("list[Any]", right)
        return len(left) == len(items) and all(map(near, left, items))
    if isinstance(right, dict):
        expected = cast("dict[Any, Any]", right)
        return left.keys() == expected.keys() and all(
            near(left[key], item) for key, item in expected.items()
        )
    return _python_equal(left, right)


FINE_TOLERANCE = 1e-5
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
        if type(left) in (int, float) and left == right:
            return True
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
    return _same_texts(items, expected)


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
