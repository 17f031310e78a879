"""Standard types that cross a seal exactly, and containers that both of its halves hold.

Covered: the tables of types; the containers of both halves, compared part by part at each message.
Not covered: subclasses of these types, which are objects; changes that another thread makes while
a message is under way.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Iterable
from typing import Any, Protocol

TYPES = {
    kind.__name__: kind
    for kind in (
        *(int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset),
        *(object, range, slice, type(None)),
    )
} | {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}
"""Types that cross as themselves, by name."""
NAMES = {kind: name for name, kind in TYPES.items()}


DATA_TYPES = frozenset(
    (  # noqa: SIM905
        "datetime.date datetime.time datetime.datetime datetime.timedelta datetime.timezone "
        "decimal.Decimal fractions.Fraction uuid.UUID collections.OrderedDict collections.Counter "
        "collections.defaultdict collections.deque pathlib.Path pathlib.PurePath "
        "pathlib.PosixPath pathlib.PurePosixPath pathlib.PureWindowsPath ipaddress.IPv4Address "
        "ipaddress.IPv6Address ipaddress.IPv4Network ipaddress.IPv6Network "
        "ipaddress.IPv4Interface ipaddress.IPv6Interface"
    ).split()
)
"""Types of plain data that are told by their names, so that they are the judge's own there."""
_RUNNERS = ("unittest", "doctest", "bdb", "pdb", "test")
"""Libraries whose exceptions say to a runner what became of a test."""
_ABSTRACT = ("pathlib.Path", "pathlib.PurePath")


def data_type_name(value: Any) -> str:
    """The name of a class of the standard library that is one of `DATA_TYPES` or an exception;
    empty for any other."""
    name = type_name(value)
    return name if data_type(name) is value else ""


def data_type(name: Any) -> type | None:
    """The class that such a name stands for here; None where its module is not loaded."""
    module, _, attribute = str(name).rpartition(".")
    top = module.partition(".")[0]
    if top not in sys.stdlib_module_names or top in _RUNNERS or attribute[:1] == "_":
        return None
    found = getattr(sys.modules.get(module), attribute, None)
    if not isinstance(found, type) or type_name(found) != name:
        return None
    return found if name in DATA_TYPES or issubclass(found, Exception) else None


class UnsharableError(ValueError):
    """A value that cannot cross; the text says what it is."""


def load_type(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(__import__(module), attribute)


def _datetime_parts(value: Any) -> list[Any]:
    zone = value.tzinfo
    timezone = load_type("datetime.timezone")
    if zone is None or type(zone) is timezone:
        name = zone and zone.__getinitargs__()[1:]
        return [value.isoformat(), value.fold, *(name or ())]
    if standard_name(type(zone)) != "zoneinfo.ZoneInfo" or not zone.key:
        raise UnsharableError(f"a time in the zone {zone!r:.60}")
    return [value.replace(tzinfo=None).isoformat(), value.fold, None, zone.key]


def _datetime(kind: Any, parts: list[Any]) -> Any:
    text, fold, *zone = parts
    found = kind.fromisoformat(text).replace(fold=fold)
    if len(zone) == 2:
        return found.replace(tzinfo=load_type("zoneinfo.ZoneInfo")(zone[1]))
    if zone:
        offset = found.tzinfo.utcoffset(None)
        return found.replace(tzinfo=load_type("datetime.timezone")(offset, zone[0]))
    return found


def _timezone(kind: Any, parts: list[Any]) -> Any:
    seconds, micros, *name = parts
    offset = load_type("datetime.timedelta")(seconds=seconds, microseconds=micros)
    return kind(offset, *name)


def _timezone_parts(value: Any) -> list[Any]:
    offset = value.utcoffset(None)
    whole = offset.days * 86400 + offset.seconds
    return [whole, offset.microseconds, *value.__getinitargs__()[1:]]


_AS_TEXT: tuple[Callable[[Any], Any], Callable[[Any, Any], Any]] = (
    str,
    lambda kind, text: kind(text),
)


EXACT: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "decimal.Decimal": _AS_TEXT,
    "uuid.UUID": (lambda value: value.hex, lambda kind, text: kind(hex=text)),
    **{
        name: _AS_TEXT
        for name in DATA_TYPES
        if name.startswith(("ipaddress.", "pathlib.P")) and name not in _ABSTRACT
    },
    "zoneinfo.ZoneInfo": (lambda value: value.key, lambda kind, text: kind(text)),
    "datetime.timezone": (_timezone_parts, _timezone),
    "fractions.Fraction": (
        lambda value: [hex(value.numerator), hex(value.denominator)],
        lambda kind, parts: kind(int(parts[0], 16), int(parts[1], 16)),
    ),
    "datetime.date": (
        lambda value: value.isoformat(),
        lambda kind, text: kind.fromisoformat(text),
    ),
    "datetime.time": (_datetime_parts, _datetime),
    "datetime.datetime": (_datetime_parts, _datetime),
    "datetime.timedelta": (
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda kind, parts: kind(*parts),
    ),
    "builtins.range": (
        lambda value: [hex(value.start), hex(value.stop), hex(value.step)],
        lambda kind, parts: kind(*(int(part, 16) for part in parts)),
    ),
    "builtins.ellipsis": (lambda _: None, lambda kind, _: ...),
    "builtins.NotImplementedType": (lambda _: None, lambda kind, _: NotImplemented),
}
"""Immutable standard types: how to write and how to read their values."""

KINDS = {
    "collections.Counter": "dict",
    "collections.OrderedDict": "dict",
    "collections.defaultdict": "dict",
    "collections.deque": "deque",
    "builtins.bytearray": "bytearray",
}
"""Mutable standard types besides list, dict and set, by how they are read."""
MUTABLE = frozenset({list, dict, set, bytearray})


def type_name(kind: type) -> str:
    """`module.name` of a class, read without code of the class."""
    module = type.__getattribute__(kind, "__module__")
    name = type.__getattribute__(kind, "__qualname__")
    return f"{module}.{name}" if isinstance(module, str) and isinstance(name, str) else "object"


def standard_name(kind: type) -> str:
    """The name of a standard type of the tables above, or nothing."""
    name = type_name(kind)
    if name not in KINDS and name not in EXACT:
        return ""
    if name in ("builtins.ellipsis", "builtins.NotImplementedType"):
        return name if kind in (type(...), type(NotImplemented)) else ""
    module, _, attribute = name.rpartition(".")
    return name if getattr(sys.modules.get(module), attribute, None) is kind else ""


def is_container(value: Any) -> bool:
    """True for a mutable container of a type that crosses."""
    kind = type(value)
    return kind in MUTABLE or (kind not in NAMES and KINDS.get(standard_name(kind)) is not None)


def is_mapping(value: Any) -> bool:
    """True for a dict, and for the standard types that are read like one."""
    return type(value) is dict or KINDS.get(type_name(type(value))) == "dict"


def snapshot(value: Any) -> Any:
    """The parts of a container, to see later whether it changed."""
    if is_mapping(value):
        return [list(value.keys()), list(value.values())]
    return bytes(value) if type(value) is bytearray else list(value)


def is_unchanged(value: Any, before: Any) -> bool:
    """True when a container has the very parts that it had when `before` was taken."""
    if type(value) is bytearray:
        return bytes(value) == before
    if is_mapping(value):
        return all(
            len(now) == len(then) and all(map(operator.is_, now, then))
            for now, then in zip((value.keys(), value.values()), before, strict=True)
        )
    return len(value) == len(before) and all(map(operator.is_, value, before))


class _Fills(Protocol):
    def fill(self, container: Any, content: Any) -> None: ...


class _Writes(Protocol):
    def content_held(self, container: Any) -> Any: ...


class SharedContainers:
    """The containers that both sides hold."""

    def __init__(self) -> None:
        self.containers: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}
        self.before: dict[int, Any] = {}

    def add(self, number: int, container: Any) -> None:
        """Hold a container from now on; `settle` takes note of its parts."""
        self.containers[number] = container
        self.numbers[id(container)] = number

    def drop(self, number: int) -> None:
        """Forget a container."""
        container = self.containers.pop(number, None)
        if container is not None:
            del self.numbers[id(container)]
            self.before.pop(number, None)

    def settle(self) -> None:
        """Note the parts of what is new."""
        for number, container in self.containers.items():
            if number not in self.before:
                self.before[number] = snapshot(container)

    def changes(self, writer: _Writes) -> list[Any]:
        """[number, content] of each container that changed here since the last message."""
        changed = [
            number
            for number, container in self.containers.items()
            if number in self.before and not is_unchanged(container, self.before[number])
        ]
        written: list[Any] = []
        for number in changed:
            container = self.containers[number]
            written.append([number, writer.content_held(container)])
            self.before[number] = snapshot(container)
        return written

    def apply(self, reader: _Fills, changed: Iterable[Any]) -> None:
        """Make the changes that the other side made."""
        for number, content in changed:
            container = self.containers[number]
            reader.fill(container, content)
            self.before[number] = snapshot(container)


def references(values: list[Any]) -> list[int]:
    """How often each value is referred to; `references([[]])` is what an unused one has."""
    return [sys.getrefcount(value) for value in values]
