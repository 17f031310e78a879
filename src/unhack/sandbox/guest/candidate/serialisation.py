"""Values on their way through a seal: plain data, with objects and mutable containers by number.

Both halves of a seal encode and decode with these classes; each adds the objects of its own side.
Beside the tags of `core.plain`:

    {"$std": [name, payload]}   a value of a standard type that is kept exactly
    {"$type": name}             a builtin type, out of a fixed table
    {"$error": [...]}           an exception (see `describe_error` of each side)
    {"$object": [n, class]}     object n of the candidate (towards the judge); {"$ref": n} back
    {"$same": k}                container k of this message, in the order of reading
    {"$arg": k}                 container k of the request that this reply answers
    {"$shared": n}              a container that both sides hold, under the number n

A mutable container that both sides hold is one container to the script: before each message a side
looks which of them changed since the last one and says so.

Covered: aliases and cycles within a message, containers shared over many messages, exact types.
Not covered: changes that another thread makes while a message is under way.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import sys
from typing import Any, cast

from unhack.core import plain
from unhack.sandbox.guest.candidate.standard import (
    EXACT,
    KINDS,
    NAMES,
    TYPES,
    SharedContainers,
    UnsharableError,
    load_type,
    standard_name,
    type_name,
)

_PLAIN = frozenset({str, bool, type(None)})
_LARGE = 1 << 1023
_JSON_SCALARS = frozenset({str, int, float, bool, type(None)})


class Writer:
    """One message being written."""

    def __init__(self, shared: SharedContainers) -> None:
        self.shared = shared
        self.order: list[Any] = []
        self._seen: dict[int, int] = {}
        self._is_held = False

    def object(self, value: Any, kind: type, depth: int) -> Any:
        """A value that is no data. Raises UnsharableError where this side has no objects."""
        del value, depth
        raise UnsharableError(f"a {type_name(kind).removeprefix('builtins.')} is not plain data")

    def note(self, value: Any, count: int) -> bool:
        """Take note of how often a value is referred to; True when somebody else holds it."""
        del value, count
        return False

    def encode(self, value: Any, depth: int = 0) -> Any:
        """`value` as JSON-ready objects. Raises UnsharableError."""
        kind = cast("type[Any]", type(value))
        if kind in _PLAIN:
            return value
        if kind is int or kind is float or kind is bytes or kind is complex:
            return plain.encode_tags(value)
        if depth >= plain.MAX_DEPTH:
            raise UnsharableError(f"a value nested more than {plain.MAX_DEPTH} levels")
        if kind is list or kind is dict or kind is set:
            return self._container(value, depth, sys.getrefcount(value))
        if kind is tuple or kind is frozenset:
            if not value or _PLAIN.issuperset(map(type, value)):
                items: Any = list(value)
            else:
                items = self._below(value, depth, sys.getrefcount(value))
            return {"$tuple": items} if kind is tuple else {"$frozenset": items}
        if kind is slice:
            return {"$std": ["builtins.slice", self._below(
                (value.start, value.stop, value.step), depth, 0)]}  # fmt: skip
        name = standard_name(kind)
        if name in KINDS:
            return self._container(value, depth, sys.getrefcount(value))
        if name:
            return {"$std": [name, EXACT[name][0](value)]}
        if type(kind) is type and kind is type and value in NAMES:
            return {"$type": NAMES[value]}
        return self.object(value, kind, depth)

    def encode_all(self, values: list[Any]) -> list[Any]:
        """Each of `values`, which the caller holds nowhere else."""
        return [self.encode(item) for item in values]

    def content_held(self, container: Any) -> Any:
        """The parts of a container that both sides hold."""
        before, self._is_held = self._is_held, True
        try:
            return self.content(container, 0)
        finally:
            self._is_held = before

    def _container(self, value: Any, depth: int, count: int) -> Any:
        number = self.shared.numbers.get(id(value))
        if number is not None:
            return {"$shared": number}
        place = self._seen.get(id(value))
        if place is not None:
            return {"$same": place}
        place = self._seen[id(value)] = len(self.order)
        self.order.append(value)
        before = self._is_held
        self._is_held = before or self.note(value, count)
        if self._is_held:
            self.hold(place)
        try:
            return self.content(value, depth)
        finally:
            self._is_held = before

    def hold(self, place: int) -> None:
        """Take note that container `place` of this message stays with somebody here."""

    def _below(self, value: Any, depth: int, count: int) -> list[Any]:
        before = self._is_held
        self._is_held = before or self.note(value, count)
        try:
            return [self.encode(item, depth + 1) for item in value]
        finally:
            self._is_held = before

    def content(self, value: Any, depth: int) -> Any:
        """The parts of a container, with the tag of its type."""
        kind = type(value)
        if kind is list:
            return self._items(value, depth)
        if kind is dict:
            return self._pairs(value, depth)
        if kind is set:
            return {"$set": [self.encode(item, depth + 1) for item in value]}
        name = standard_name(kind)
        if name == "builtins.bytearray":
            return {"$std": [name, plain.encode_tags(bytes(value))["$bytes"]]}
        if name == "collections.deque":
            return {"$std": [name, [value.maxlen, self._items(list(value), depth)]]}
        payload = self._pairs(value, depth, tagged=True)["$dict"]
        if name == "collections.defaultdict":
            factory = value.default_factory
            if factory is not None and factory not in NAMES:
                raise UnsharableError("a defaultdict whose factory is no builtin type")
            return {"$std": [name, [factory and NAMES[factory], payload]]}
        return {"$std": [name, payload]}

    def _items(self, value: list[Any], depth: int) -> list[Any]:
        kinds = set(map(type, value))
        if kinds <= _PLAIN:
            return list(value)
        if len(kinds) == 1:
            (kind,) = kinds
            if kind is int and min(value) > -_LARGE and max(value) < _LARGE:
                return list(value)
        written: list[Any] = []
        for item in value:
            written.append(self.encode(item, depth + 1))
        return written

    def _pairs(self, value: Any, depth: int, *, tagged: bool = False) -> Any:
        keys = list(value.keys())  # no key is looked up: its hash may be asked of the other side
        items = iter(value.values())
        if not tagged and all(type(key) is str and key[:1] != "$" for key in keys):
            found: dict[str, Any] = {}
            for key in keys:
                item = next(items)
                found[key] = self.encode(item, depth + 1)
            return found
        pairs: list[Any] = []
        for key in keys:
            item = next(items)
            pairs.append([self.encode(key, depth + 1), self.encode(item, depth + 1)])
        return {"$dict": pairs}


class Reader:
    """One message being read. Everything malformed raises PlainDataError."""

    def __init__(self, shared: SharedContainers) -> None:
        self.shared = shared
        self.order: list[Any] = []
        self.arguments: list[Any] = []
        """Containers of the request, for a reply."""
        self.held: dict[int, int] = {}
        """Place in this message -> number, of containers that stay with the other side."""

    def object(self, tag: str, inner: Any) -> Any:
        """A value that only this side knows how to read."""
        raise plain.PlainDataError(f"unknown tag {tag[:20]!r}")

    def decode(self, value: Any, depth: int = 0) -> Any:
        """The value that stands in a message."""
        kind = type(value)
        if kind is not list and kind is not dict:
            return value
        if depth > plain.MAX_DEPTH:
            raise plain.PlainDataError("nested too deeply")
        if kind is list:
            return self._fill_new([], value, depth)
        if len(value) == 1:
            ((tag, inner),) = value.items()
            if tag[:1] == "$":
                return self._tagged(tag, inner, value, depth=depth)
        return self._fill_new({}, value, depth)

    def _tagged(self, tag: str, inner: Any, value: Any, *, depth: int) -> Any:
        if tag in ("$tuple", "$frozenset"):
            items = self._decode_all(inner, depth)
            return tuple(items) if tag == "$tuple" else frozenset(hashable(items))
        if tag == "$set":
            return self._fill_new(set(), value, depth)
        if tag == "$dict":
            return self._fill_new({}, value, depth)
        if tag == "$same":
            return self.order[natural(inner)]
        if tag == "$arg":
            return self.arguments[natural(inner)]
        if tag == "$shared":
            return self.shared.containers[natural(inner)]
        if tag == "$std":
            return self._standard(inner, value, depth)
        if tag == "$type":
            return TYPES[inner]
        if tag in ("$float", "$int", "$bytes", "$complex"):
            return plain.decode_tags(value)
        return self.object(tag, inner)

    def _standard(self, inner: Any, value: Any, depth: int) -> Any:
        name, payload = inner
        if name == "builtins.slice":
            return slice(*self._decode_all(payload, depth))
        if name in KINDS:
            kind = load_type(name)
            if name == "collections.defaultdict":
                empty = kind(payload[0] and TYPES[payload[0]])
            elif name == "collections.deque":
                empty = kind(maxlen=payload[0])
            else:
                empty = kind()
            return self._fill_new(empty, value, depth)
        if name in ("builtins.ellipsis", "builtins.NotImplementedType"):
            return EXACT[name][1](None, None)
        return EXACT[name][1](load_type(name), payload)

    def _fill_new(self, container: Any, content: Any, depth: int) -> Any:
        place = len(self.order)
        self.order.append(container)
        number = self.held.get(place)
        if number is not None:
            if number in self.shared.containers:
                raise plain.PlainDataError("a number was given twice")
            self.shared.add(number, container)
        self.fill(container, content, depth)
        return container

    def fill(self, container: Any, content: Any, depth: int = 0) -> None:
        """Give a container new parts; they are written for its very type."""
        kind = type(container)
        if kind is list:
            container[:] = self._decode_all(content, depth)
        elif kind is dict:
            pairs = self._read_pairs(content, depth)
            container.clear()
            container.update(pairs)
        elif kind is set:
            items = hashable(self._decode_all(_only(content, "$set"), depth))
            container.clear()
            container.update(items)
        else:
            name, payload = _only(content, "$std")
            if name != standard_name(kind):
                raise plain.PlainDataError("content of another type")
            self._fill_standard(container, name, payload, depth=depth)

    def _fill_standard(self, container: Any, name: str, payload: Any, *, depth: int) -> None:
        if name == "builtins.bytearray":
            container[:] = plain.decode_tags({"$bytes": payload})
        elif name == "collections.deque":
            items = self._decode_all(payload[1], depth)
            container.clear()
            container.extend(items)
        else:
            inner = payload[1] if name == "collections.defaultdict" else payload
            pairs = self._read_pairs({"$dict": inner}, depth)
            container.clear()
            for key, item in pairs.items():
                container[key] = item

    def _read_pairs(self, content: Any, depth: int) -> dict[Any, Any]:
        if type(content) is not dict:
            raise plain.PlainDataError("expected a mapping")
        if len(content) == 1 and "$dict" in content:
            read = [
                (self.decode(key, depth + 1), self.decode(item, depth + 1))
                for key, item in content["$dict"]
            ]
            hashable([key for key, _ in read])
            return dict(read)
        if any(key[:1] == "$" for key in content):
            raise plain.PlainDataError("a tag stands beside other keys")
        return {
            key: item if type(item) in _JSON_SCALARS else self.decode(item, depth + 1)
            for key, item in content.items()
        }

    def _decode_all(self, items: Any, depth: int) -> list[Any]:
        if type(items) is not list:
            raise plain.PlainDataError("expected a list")
        if _JSON_SCALARS.issuperset(map(type, items)):
            return items
        return [
            item if type(item) in _JSON_SCALARS else self.decode(item, depth + 1) for item in items
        ]


def _only(content: Any, tag: str) -> Any:
    if type(content) is not dict or list(content) != [tag]:
        raise plain.PlainDataError(f"expected {tag}")
    return content[tag]


def natural(value: Any) -> int:
    """A number of the wire that is to be an index. Raises PlainDataError."""
    if type(value) is not int or value < 0:
        raise plain.PlainDataError("not a natural number")
    return value


def hashable(items: list[Any]) -> list[Any]:
    """The items, whose hash values do not collide on purpose."""
    return plain._check_hashes(items)  # pyright: ignore[reportPrivateUsage]
