"""Predicates that asserts make of a result, as values: judged on plain data, in the judge.

Covered: Python's meaning of each comparison; a comparison that would raise is not met.
Not covered: results that are not plain data. They count as objects without methods: true, equal to
nothing.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from unhack.core import plain
from unhack.verifiers.values.compare import equally, is_near


class Predicate(Protocol):
    """A condition on a result."""

    @property
    def value(self) -> Any:
        """The value that the result is compared with, for people."""
        ...

    def __call__(self, output: Any, /) -> bool:
        """True when `output`, plain data, meets it. Never raises."""
        ...


def _as_given(value: Any) -> Any:
    return value


VIEWS: dict[str, Callable[[Any], Any]] = {
    "": _as_given,
    "bool": bool,
    "tuple": tuple,
    "list": list,
    "set": set,
    "frozenset": frozenset,
    "sorted": sorted,
    "len": len,
}
"""Pure functions of the result that an assert may look through."""


def _is(left: Any, right: Any) -> bool:
    return type(left) is type(right) and left == right


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": equally,
    "!=": lambda left, right: not equally(left, right),
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": _is,
    "in": lambda left, right: any(equally(left, item) for item in right),
}


@dataclass(frozen=True, slots=True)
class Compared:
    """`view(output) operator value`."""

    operator: str
    """`==`, `!=`, `<`, `<=`, `>`, `>=`, `in`, or `is` with None, True or False."""
    value: Any
    view: str = ""
    """A key of `VIEWS`; sets are only compared with `==`."""

    def __call__(self, output: Any, /) -> bool:
        try:
            if self.operator != "is":
                output = plain.to_builtins(output)
            if self.view in {"set", "frozenset"}:
                return _same_set(output, self.value)
            return bool(_OPERATORS[self.operator](VIEWS[self.view](output), self.value))
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return False


def _same_set(output: Any, expected: Any) -> bool:
    """`set(output) == expected`, collecting only what `expected` holds: a set of many values with
    one hash would take the square of their number."""
    if not isinstance(expected, (set, frozenset)):
        return False
    wanted, found = cast("set[Any]", expected), set[Any]()
    for item in output:
        if item not in wanted:
            return False
        found.add(item)
    return len(found) == len(wanted)


@dataclass(frozen=True, slots=True)
class Near:
    """`abs(output - value)` within an absolute bound, or what `math.isclose` says of the two."""

    value: Any
    abs_tol: float
    rel_tol: float | None = None
    """Of the larger of the two magnitudes, as in `math.isclose`; None compares the distance
    alone."""
    inclusive: bool = True
    """True when a distance of exactly `abs_tol` is near enough, where `rel_tol` is None."""

    def __call__(self, output: Any, /) -> bool:
        output = plain.to_builtins(output)
        try:
            if self.rel_tol is not None:
                tolerances = {"rel_tol": self.rel_tol, "abs_tol": self.abs_tol}
                return math.isclose(output, self.value, **tolerances)
            distance = abs(output - self.value)
            return bool(distance <= self.abs_tol if self.inclusive else distance < self.abs_tol)
        except (ArithmeticError, TypeError, ValueError):
            return False


@dataclass(frozen=True, slots=True)
class AllClose:
    """Equal, or floats within tolerance where `value` is a float, a list of floats or `abs_tol` is
    set.

    The comparison of EvalPlus: `abs(a - b) <= abs_tol + 1e-7 * abs(b)`, the outer types the same.
    """

    value: Any
    abs_tol: float = 0.0

    def __call__(self, output: Any, /) -> bool:
        if equally(output, self.value):
            return True
        abs_tol = self.abs_tol or (1e-6 if _all_floats(self.value) else 0.0)
        output = plain.to_builtins(output)
        try:
            same_type = type(output) is type(self.value)
            return abs_tol > 0 and same_type and _all_close(output, self.value, abs_tol)
        except (ArithmeticError, TypeError, ValueError):
            return False


def _all_floats(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        items = cast("list[Any]", value)
        return bool(items) and all(isinstance(item, float) for item in items)
    return isinstance(value, float)


def _all_close(left: Any, right: Any, abs_tol: float) -> bool:
    if isinstance(right, (list, tuple)):
        items = cast("list[Any]", right)
        return len(left) == len(items) and all(
            _all_close(one, other, abs_tol) for one, other in zip(left, items, strict=True)
        )
    return left == right or bool(abs(left - right) <= abs_tol + 1e-7 * abs(right))


@dataclass(frozen=True, slots=True)
class JsonValue:
    """Equal to a value that was written as JSON: tuples count as lists at any depth, and floats
    may differ by a relative 1e-9."""

    value: Any
    unwrap: bool = False
    """A `value` that is a list of exactly one item also stands for that item."""
    int_keys: bool = False
    """Keys of `value` that read as integers are integers; of dicts within it they may be."""

    def __call__(self, output: Any, /) -> bool:
        output = plain.to_builtins(output)
        wanted = [self.value]
        if self.unwrap and isinstance(self.value, list) and len(self.value) == 1:  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
            wanted += self.value  # pyright: ignore[reportUnknownMemberType]
        if self.int_keys:
            wanted = list(map(with_int_keys, wanted))
        return any(self._same(output, item) for item in wanted)

    def _same(self, left: Any, right: Any) -> bool:
        if isinstance(right, list):
            items = cast("list[Any]", right)
            return (
                isinstance(left, (list, tuple))
                and len(cast("list[Any]", left)) == len(items)
                and all(map(self._same, cast("list[Any]", left), items))
            )
        if isinstance(right, dict):
            forms = [cast("dict[Any, Any]", right)]
            if self.int_keys and (numbered := with_int_keys(right)) is not right:
                forms.append(numbered)
            return isinstance(left, dict) and any(
                len(cast("dict[Any, Any]", left)) == len(form)
                and all(key in left and self._same(left[key], form[key]) for key in form)
                for form in forms
            )
        if isinstance(right, float) and isinstance(left, (int, float)):
            return is_near(left, right, rel_tol=1e-9, abs_tol=1e-9)
        return equally(left, right)


def with_int_keys(value: Any) -> Any:
    """A dict whose keys are all integers in texts, as JSON makes them, with integers as keys;
    anything else as it is."""
    if not isinstance(value, dict):
        return value
    items = cast("dict[Any, Any]", value)
    try:
        return {int(key): item for key, item in items.items()}
    except (TypeError, ValueError):
        return items


@dataclass(frozen=True, slots=True)
class AnyOutput:
    """Any output or none, as `value` says; an output that is a bool is compared itself."""

    value: bool

    def __call__(self, output: Any, /) -> bool:
        return (output if isinstance(output, bool) else output is not None) == self.value


@dataclass(frozen=True, slots=True)
class PolynomialZero:
    """The output is a zero of the polynomial whose coefficients, constant term first, are
    `value`."""

    value: Sequence[float]
    abs_tol: float

    def __call__(self, output: Any, /) -> bool:
        output = plain.to_builtins(output)
        try:
            terms = [factor * math.pow(output, power) for power, factor in enumerate(self.value)]
            return abs(sum(terms)) <= self.abs_tol
        except (ArithmeticError, TypeError, ValueError):
            return False
