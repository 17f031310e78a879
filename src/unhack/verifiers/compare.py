"""Comparison of an output with the expected value. Everything here is plain data already.

Covered: type-strict equality, Python equality, floats with tolerance and NaN/inf rules, multisets;
values of subclasses and numpy values (`AsBuiltin`) fail the strict comparison and count as the
builtin they stand for in the others; opaque values equal nothing.
Not covered: answers that need code to be recognised; those need a checker.
"""

from __future__ import annotations

import math
from collections import Counter
from enum import StrEnum
from typing import Any, cast

from unhack.core import plain


class Compare(StrEnum):
    """The comparisons of function tasks."""

    EXACT = "exact"
    EQUAL = "equal"
    FLOAT = "float"
    UNORDERED = "unordered"


def exactly(left: Any, right: Any) -> bool:
    """Same builtin types all the way down, same values; NaN equals nothing."""
    kind = cast("type[Any]", type(left))
    if kind is not type(right):
        return False
    if kind is list or kind is tuple:
        return len(left) == len(right) and all(map(exactly, left, right))
    if kind is dict:
        keys = {_type_key(key): key for key in right}
        return len(left) == len(right) and all(
            (typed := _type_key(key)) in keys and exactly(item, right[keys[typed]])
            for key, item in left.items()
        )
    if kind is set or kind is frozenset:
        return _type_key(left) == _type_key(right)
    return bool(left == right)


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
    if kind in (plain.AsBuiltin, plain.Opaque) or value != value:  # noqa: PLR0124
        return object()
    return kind, value


def equally(left: Any, right: Any) -> bool:
    """Python's `==` on plain values; `1 == 1.0 == True`; NaN equals nothing."""
    return bool(plain.to_builtins(left) == right) and not _holds_opaque(left)


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
        return isinstance(left, (int, float)) and _near(left, right, rel_tol, abs_tol)
    if isinstance(right, complex):
        return isinstance(left, (int, float, complex)) and _near_complex(
            left, right, rel_tol, abs_tol
        )
    if type(left) is not type(right):
        return False
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
    return bool(left == right)


def _near(left: float, right: float, rel_tol: float, abs_tol: float) -> bool:
    try:
        if math.isnan(right):
            return math.isnan(left)
        return math.isclose(left, right, rel_tol=rel_tol, abs_tol=abs_tol)
    except OverflowError:  # an integer beyond the range of floats
        return left == right


def _near_complex(left: complex, right: complex, rel_tol: float, abs_tol: float) -> bool:
    return _near(left.real, right.real, rel_tol, abs_tol) and _near(
        left.imag, right.imag, rel_tol, abs_tol
    )


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
