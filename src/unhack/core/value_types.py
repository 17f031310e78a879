"""Value types of the standard library that plain data carries with their exact type.

    Counter  OrderedDict  defaultdict  deque  UserDict  UserList  UserString  SimpleNamespace
    Decimal  Fraction  date  time  datetime  timedelta  timezone  range  bytearray  memoryview
    array  dict.keys()  dict.items()

Each is taken apart into plain data and made again from it by the class of the standard library
itself: nothing that a receiver runs comes from the sender.

Covered: sizes and digits are bounded where arithmetic on them would not be linear; what does not
fit its type is a ValueError, TypeError or OverflowError and nothing else.
Not covered: subclasses, time zones other than a fixed offset, the factory of a `defaultdict` that
is not a builtin type (a receiver gets one without), `maxlen` and type code in comparisons by `==`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, cast

MAX_DIGITS = 100_000
"""Digits of a Decimal."""
MAX_FRACTION_BITS = 1 << 15
"""Bits of each part of a Fraction; reducing one takes quadratic time."""
_MAX_EXPONENT = 1_000_000
_FACTORIES: dict[str, Any] = {
    kind.__name__: kind for kind in (int, float, complex, str, bool, list, dict, set, tuple, bytes)
}


def take_apart(value: Any, kind: type, *, name: str) -> Any:
    """Plain data of a value whose exact type, called `name`, is one of these, else None."""
    row = _PARTS.get(name)
    # By identity: any class may call itself what it likes.
    return None if row is None or find_type(name) is not kind else row(value)


def put_together(name: str, data: Any) -> Any:
    """The value that `take_apart` gave this data for.

    Raises ValueError, TypeError, KeyError, OverflowError or ArithmeticError on anything else.
    """
    return _MAKERS[name](find_type(name, load=True), data)


def find_type(name: str, *, load: bool = False) -> Any:
    """The class with this name of the standard library; None when its module is not loaded."""
    if name in _BUILTINS:
        return _BUILTINS[name]
    module, _, attribute = name.rpartition(".")
    if load:
        import importlib  # most values need no module at all

        return getattr(importlib.import_module(module), attribute)
    return getattr(sys.modules.get(module), attribute, None)


_EMPTY: dict[Any, Any] = {}
_BUILTINS: dict[str, Any] = {
    "range": range,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "dict_keys": type(_EMPTY.keys()),
    "dict_items": type(_EMPTY.items()),
}


def _zone(moment: Any) -> Any:
    """[[days, seconds, microseconds]] of a fixed offset, [] of none, None of any other zone."""
    zone = moment.tzinfo
    if zone is None:
        return []
    if type(zone) is not find_type("datetime.timezone"):
        return None
    return [_span(zone.utcoffset(None))]


def _span(span: Any) -> list[int]:
    return [span.days, span.seconds, span.microseconds]


def _zoned(fields: list[Any], moment: Any) -> list[Any] | None:
    zone = _zone(moment)
    return None if zone is None else [*fields, moment.fold, zone]


def _decimal_text(value: Any) -> str | None:
    text = str(value)
    return text if len(text) <= MAX_DIGITS else None


def _ratio(value: Any) -> list[int] | None:
    parts: list[int] = [value.numerator, value.denominator]
    return None if max(abs(parts[0]), parts[1]).bit_length() > MAX_FRACTION_BITS else parts


def _memory(value: Any) -> bytes | None:
    return value.tobytes() if value.format == "B" and value.ndim == 1 else None


def _factory(value: Any) -> list[Any]:
    name = getattr(value.default_factory, "__name__", "")
    known = _FACTORIES.get(name) is value.default_factory
    return [name if known else "", dict(value)]


_PARTS: dict[str, Callable[[Any], Any]] = {
    "collections.Counter": dict,
    "collections.OrderedDict": dict,
    "collections.defaultdict": _factory,
    "collections.deque": lambda value: [value.maxlen, list(value)],
    "collections.UserDict": lambda value: dict(value.data),
    "collections.UserList": lambda value: list(value.data),
    "collections.UserString": lambda value: str(value.data),
    "types.SimpleNamespace": lambda value: dict(value.__dict__),
    "decimal.Decimal": _decimal_text,
    "fractions.Fraction": _ratio,
    "datetime.date": lambda value: [value.year, value.month, value.day],
    "datetime.time": lambda v: _zoned([v.hour, v.minute, v.second, v.microsecond], v),
    "datetime.datetime": lambda v: _zoned(
        [v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond], v
    ),
    "datetime.timedelta": _span,
    "datetime.timezone": lambda value: _span(value.utcoffset(None)),
    "array.array": lambda value: None if value.typecode == "u" else [value.typecode, list(value)],
    "range": lambda value: [value.start, value.stop, value.step],
    "bytearray": bytes,
    "memoryview": _memory,
    "dict_keys": list,
    "dict_items": lambda value: [list(pair) for pair in value],
}


def _exact(data: Any, kind: type) -> Any:
    if type(data) is not kind:
        raise TypeError(f"expected a {kind.__name__}")
    return data


def _integers(data: Any, count: int | None = None) -> list[int]:
    items = cast("list[Any]", _exact(data, list))
    if not all(type(item) is int for item in items) or count not in (None, len(items)):
        raise TypeError("expected integers")
    return items


def _make_mapping(kind: Any, data: Any) -> Any:
    return kind(_exact(data, dict))


def _make_counter(kind: Any, data: Any) -> Any:
    made = kind()
    dict.update(made, _exact(data, dict))  # pyright: ignore[reportUnknownMemberType]
    return made


def _make_defaultdict(kind: Any, data: Any) -> Any:
    name, items = _exact(data, list)
    return kind(_FACTORIES[name] if name else None, _exact(items, dict))


def _make_deque(kind: Any, data: Any) -> Any:
    length, items = _exact(data, list)
    return kind(_exact(items, list), None if length is None else _exact(length, int))


def _make_namespace(kind: Any, data: Any) -> Any:
    return kind(**_exact(data, dict))


def _make_decimal(kind: Any, data: Any) -> Any:
    text = _exact(data, str)
    if len(text) > MAX_DIGITS:
        raise ValueError("too many digits")
    made = kind(text)
    if made.is_finite() and abs(made.adjusted()) > _MAX_EXPONENT:
        raise ValueError("the exponent is too large")
    return made


def _make_fraction(kind: Any, data: Any) -> Any:
    above, below = _integers(data, 2)
    if max(abs(above), abs(below)).bit_length() > MAX_FRACTION_BITS:
        raise ValueError("too many digits")
    return kind(above, below)


def _make_date(kind: Any, data: Any) -> Any:
    return kind(*_integers(data, 3))


def _offset(data: Any) -> Any:
    return find_type("datetime.timezone")(_delta(data)) if data else None


def _delta(data: Any) -> Any:
    days, seconds, microseconds = _integers(data, 3)
    return find_type("datetime.timedelta", load=True)(days, seconds, microseconds)


def _make_moment(kind: Any, data: Any) -> Any:
    *fields, fold, zone = _exact(data, list)
    offsets = _exact(zone, list)
    return kind(*_integers(fields), fold=fold, tzinfo=_offset(offsets[0]) if offsets else None)


def _make_timezone(kind: Any, data: Any) -> Any:
    return kind(_delta(data))


def _make_array(kind: Any, data: Any) -> Any:
    code, items = _exact(data, list)
    if code == "u":
        raise ValueError("an array of characters")
    return kind(_exact(code, str), _exact(items, list))


_MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "collections.Counter": _make_counter,
    "collections.OrderedDict": _make_mapping,
    "collections.defaultdict": _make_defaultdict,
    "collections.deque": _make_deque,
    "collections.UserDict": _make_mapping,
    "collections.UserList": lambda kind, data: kind(_exact(data, list)),
    "collections.UserString": lambda kind, data: kind(_exact(data, str)),
    "types.SimpleNamespace": _make_namespace,
    "decimal.Decimal": _make_decimal,
    "fractions.Fraction": _make_fraction,
    "datetime.date": _make_date,
    "datetime.time": _make_moment,
    "datetime.datetime": _make_moment,
    "datetime.timedelta": lambda kind, data: _delta(data),
    "datetime.timezone": _make_timezone,
    "array.array": _make_array,
    "range": lambda kind, data: range(*_integers(data, 3)),
    "bytearray": lambda kind, data: bytearray(_exact(data, bytes)),
    "memoryview": lambda kind, data: memoryview(_exact(data, bytes)),
    "dict_keys": lambda kind, data: dict.fromkeys(_exact(data, list)).keys(),
    "dict_items": lambda kind, data: dict(map(tuple, _exact(data, list))).items(),
}
NAMES = frozenset(_MAKERS)
"""The names of the types, as they cross."""
