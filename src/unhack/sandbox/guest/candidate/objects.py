"""The candidate's objects on their way to the judge: numbers, descriptions of classes, errors.

Covered: every object keeps its number while the judge has a proxy for it; a class is described
once, before the first object of it; an exception is told by its class, arguments and text.
Not covered: nothing here is trusted by the judge; it is the honest half of the protocol.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import abc
import enum
import sys
import types
from collections.abc import Callable, Collection, Sequence
from typing import Any

from unhack.core import plain
from unhack.sandbox.guest.candidate import special, trees
from unhack.sandbox.guest.candidate.serialisation import Reader, Writer
from unhack.sandbox.guest.candidate.standard import (
    TYPES,
    SharedContainers,
    UnsharableError,
    references,
    type_name,
)

_GENERATORS = (types.GeneratorType,)
_ITERATED = ("builtins", "types", "collections", "collections.abc")  # by `iter`, for members
_HEAP, _IMMUTABLE = 1 << 9, 1 << 8  # flags of a type: made at run time; of C code, not to change
_METACLASSES = (type, abc.ABCMeta, enum.EnumType, object)
"""The members of a metaclass that the judge knows beside what the solution adds."""
_SEQUENCE, _MAPPING = 1 << 5, 1 << 6  # flags of a type: what `match` takes its objects for
_ITERATED_TOO = ("collections.abc.Sequence", "collections.UserList", "collections.deque")
"""Of those, the ones below which a class of the solution still does."""
_UNUSED: list[int] = []
"""References to a value that only a message holds: while writing, and in `references`."""


class Objects:
    """The objects and classes that the judge knows by number."""

    def __init__(self, modules: Collection[str], packages: Collection[str] = ()) -> None:
        """`modules`: names of the solution's own modules; `packages`: of them, those that are
        imported as a tree of files, whose modules the judge imports in its turn."""
        self.modules = modules
        self.packages = packages
        self.objects: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}
        self.told: set[int] = set()
        """Numbers of classes that the judge knows, and of objects whose plain value it has."""
        self._own: dict[int, tuple[type, bool]] = {}
        self.count = 0

    def number(self, value: Any) -> int:
        """The number of an object, a new one where it has none."""
        found = self.numbers.get(id(value))
        if found is None:
            self.count += 1
            found = self.numbers[id(value)] = self.count
            self.objects[found] = value
        return found

    def forget(self, number: int) -> None:
        """Let go of an object that the judge has let go of; it asks for modules all along."""
        value = self.objects.get(number, self)
        if value is not self and type(value) is not types.ModuleType:
            del self.objects[number], self.numbers[id(value)]
            self.told.discard(number)

    def is_own(self, kind: type) -> bool:
        """True for a class that the solution defines, whatever it calls itself."""
        known = self._own.get(id(kind))
        if known is None:
            known = self._own[id(kind)] = (kind, not _is_standard(kind, self.modules))
        return known[1]

    def describe(self, kind: type) -> dict[str, Any]:
        """A class as data: what it is called, its bases, and its special methods."""
        mro = type.mro(kind)
        own, is_error = self.is_own(kind), issubclass(kind, BaseException)
        bases = [base for base in kind.__bases__ if own and self.is_own(base)]
        kept = [base for base in bases if issubclass(base, BaseException) is is_error]
        covered = {item for base in kept for item in type.mro(base)}
        spaces = [kind, *(item for item in mro[1:-1] if item not in covered)]
        spaces = [item for item in spaces if item is kind or is_error or not self.is_own(item)]
        base = next((item for item in special.BASES if item in mro and item is not kind), None)
        found: dict[str, Any] = {
            "name": type_name(kind),
            "bases": [self.number(item) for item in bases],
            "special": _special(kind, spaces, base, own=self.is_own),
            "foreign": [type_name(item) for item in mro[:-1] if not self.is_own(item)],
        }
        if base is not None:
            found["base"] = base.__name__
            if base not in special.VALUES:
                found["lowered"] = [
                    name
                    for name in special.LOWERED
                    if _definer(mro, name) is base or _definer(mro, name) in type.mro(base)[:-1]
                ]
        found.update(_flags(kind, mro, own=own))
        if is_error:
            found["doc"] = str(kind.__doc__ or "")[:4000]
            found["error"] = [type_name(item) for item in mro[:-1] if not self.is_own(item)]
            owns = [vars(item) for item in mro if self.is_own(item)]
            found["fields"] = sorted(special.FIELDS.intersection(set[str]().union(*owns)))
        return found


def _flags(kind: type, mro: list[type], *, own: bool) -> dict[str, Any]:
    """Further members that Python's own code looks at in a class."""
    flags: int = type.__dict__["__flags__"].__get__(kind)
    checker = _definer(type.mro(type(kind)), "__instancecheck__")
    found = {
        "disguised": own and _definer(mro, "__class__") is not object,
        "checks": own and checker is not type,
    }
    told: dict[str, Any] = {}
    if flags & (_SEQUENCE | _MAPPING):
        told["shape"] = "sequence" if flags & _SEQUENCE else "mapping"
    without = [name for name in special.ALL if _definer(mro, name) and not _slot(mro, name)]
    if not own and _definer(mro, "__getitem__") and not _definer(mro, "__iter__"):
        without.append("__iter__")  # C code that gets no iterator from what has items
    if without:
        told["without"] = without
    spaces = [vars(item) for item in type.mro(type(kind)) if own and item not in _METACLASSES]
    meta = [name for name in special.META if any(name in space for space in spaces)]
    if meta:
        told["meta"] = meta
    return {**told, **{name: True for name, value in found.items() if value}}


def _is_standard(kind: type, own: Collection[str]) -> bool:
    """True for a class of the standard library, told by what it is: Python code makes no static
    types, and what only names a standard module is not what stands there."""
    flags: int = type.__dict__["__flags__"].__get__(kind)
    name = type_name(kind)
    top = name.partition(".")[0]
    if top in own or top not in sys.stdlib_module_names:
        return False
    if not flags & _HEAP or flags & _IMMUTABLE:
        return True
    module: Any = type.__getattribute__(kind, "__module__")
    found: Any = sys.modules.get(module)
    for part in name[len(module) + 1 :].split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found is kind


def _definer(mro: list[type], name: str) -> type | None:
    return next((item for item in mro if name in type.__getattribute__(item, "__dict__")), None)


def _slot(mro: list[type], name: str) -> Any:
    definer = _definer(mro, name)
    return definer and type.__getattribute__(definer, "__dict__")[name]


def _special(
    kind: type, spaces: list[type], base: type | None, *, own: Callable[[type], bool]
) -> list[str]:
    """The special methods that a class brings beside those of its own bases.

    Membership in a standard class is left to the judge, which iterates and compares.
    """
    errors = {"__str__", "__repr__"}
    plain_bases = set(type.mro(base)) if base is not None else set[type]()
    found: set[str] = set()
    for space in spaces:
        names = special.ALL.intersection(type.__getattribute__(space, "__dict__"))
        if space not in plain_bases:
            found |= names
        elif base not in special.VALUES:
            found |= names - special.LOWERED
        if not own(space):
            iterated = space.__module__ in _ITERATED and (
                not own(kind) or type_name(space) in _ITERATED_TOO
            )
            found -= (
                errors if issubclass(space, BaseException) else set(("__contains__",) * iterated)
            )
    mro = type.mro(kind)
    found = {name for name in found if _slot(mro, name) is not None}
    if issubclass(kind, _GENERATORS):
        found |= {"send", "throw", "close"}
    return sorted(found)


class CandidateWriter(Writer):
    """A reply being written."""

    def __init__(
        self, shared: SharedContainers, objects: Objects, arguments: dict[int, int]
    ) -> None:
        """`arguments`: id -> place, of the containers of the request."""
        super().__init__(shared)
        self.objects = objects
        self.held: list[int] = []
        self.classes: list[list[Any]] = []
        self.valued: list[int] = []
        """Objects whose plain value stands in this message."""
        self._arguments = arguments

    def encode(self, value: Any, depth: int = 0) -> Any:
        """As Writer; a container of the request goes back as itself."""
        if self._arguments:
            place = self._arguments.get(id(value))
            if place is not None and id(value) not in self.shared.numbers:
                return {"$arg": place}
        return super().encode(value, depth)

    def note(self, value: Any, count: int) -> bool:
        """Somebody else holds a value when there are more references than the message needs."""
        return not _UNUSED or count > _UNUSED[0]

    def hold(self, place: int) -> None:
        """Container `place` stays with the solution."""
        self.held.append(place)

    def object(self, value: Any, kind: type, depth: int) -> Any:
        """An object by its number, its class described before it."""
        if issubclass(kind, BaseException):
            return {"$error": self.error(value)}
        if isinstance(value, type):
            self.tell(value)
            return {"$class": self.objects.number(value)}
        if self.objects.packages and trees.is_module(value, self.objects.packages):
            return {"$module": [self.objects.number(value), *trees.described(value)]}
        told = self.tell(kind, has_buffer=_has_buffer(value, kind))
        return {"$object": [self.objects.number(value), told, *self.plain(value, depth)]}

    def plain(self, value: Any, depth: int) -> list[Any]:
        """The plain value of an object, the first time, where the judge makes one of its type."""
        mro = type.mro(type(value))
        if bytearray in mro:
            raise UnsharableError(f"a {type_name(type(value))}, which is derived from bytearray")
        number = self.objects.number(value)
        if number in self.objects.told or not any(base in mro for base in special.VALUES):
            return []
        encoded = self.encode(plain_value(value), depth)
        self.objects.told.add(number)
        self.valued.append(number)
        return [encoded]

    def tell(self, kind: type, *, has_buffer: bool = False) -> int:
        """The number of a class, which the judge knows from now on."""
        number = self.objects.number(kind)
        if number not in self.objects.told:
            self.objects.told.add(number)
            for base in kind.__bases__:
                if self.objects.is_own(kind) and self.objects.is_own(base):
                    self.tell(base)
            described = self.objects.describe(kind)
            described["special"] += ["__bytes__"] * has_buffer
            self.classes.append([number, described])
        return number

    def error(self, error: BaseException, depth: int = 0) -> dict[str, Any]:
        """An exception as data."""
        kind = type(error)
        error.__traceback__ = None
        names = [type_name(item) for item in type.mro(kind)[:-2]]
        found: dict[str, Any] = {"names": names, "text": _text(error)}
        if self.objects.is_own(kind):
            found["class"] = self.tell(kind)
            found["number"] = self.objects.number(error)
        args = self._carried(error.args)
        found["args"] = [found["text"]] if args is None else args
        found["members"] = self._named(_members(error))
        if not self.objects.is_own(kind):
            found["values"] = self._named(getattr(error, "__dict__", {}))
        cause, context = error.__cause__, error.__context__
        if depth < 8:
            if cause is not None:
                found["cause"] = self.error(cause, depth + 1)
            if context is not None:
                found["context"] = context is cause or self.error(context, depth + 1)
        return found

    def _named(self, values: dict[str, Any]) -> list[list[Any]]:
        """[name, value] of those that can be carried."""
        pairs = [(name, self._carried([value])) for name, value in list(values.items())]
        return [[name, *value] for name, value in pairs if value]

    def _carried(self, values: Sequence[Any]) -> list[Any] | None:
        """Values of an exception; None, and as if nothing had been written, where one cannot
        cross."""
        places, valued = len(self.order), len(self.valued)
        try:
            return [self.encode(item, 1) for item in values]
        except (UnsharableError, plain.PlainDataError):
            for item in self.order[places:]:
                self._seen.pop(id(item), None)
            del self.order[places:]
            self.held = [place for place in self.held if place < places]
            self.objects.told.difference_update(self.valued[valued:])
            return None


def _has_buffer(value: Any, kind: type) -> bool:
    """True for an object of C code whose bytes are not those of its items."""
    flags: int = type.__dict__["__flags__"].__get__(kind)
    if flags & _HEAP and not flags & _IMMUTABLE:
        return False
    try:
        return bool(memoryview(value)) or True
    except TypeError:
        return False


def _members(error: BaseException) -> dict[str, Any]:
    """Attributes of a builtin exception beside its arguments, as `filename` and `name`."""
    bases = [item for item in type.mro(type(error)) if item.__module__ == "builtins"]
    found: dict[str, Any] = {}
    for name, slot in [pair for base in bases for pair in vars(base).items()]:
        if type(slot) is types.MemberDescriptorType and name != "exceptions":
            value = slot.__get__(error)
            if value is not None and value is not False:
                found.setdefault(name, value)
    return found


def _text(error: BaseException) -> str:
    try:
        text = str(error)[:4000]
    except BaseException:
        return "<its text raises>"
    return text if type(text) is str else ""


class CandidateReader(Reader):
    """A request being read."""

    def __init__(self, shared: SharedContainers, objects: Objects) -> None:
        super().__init__(shared)
        self.objects = objects

    def object(self, tag: str, inner: Any) -> Any:
        """An object of ours by its number, or an exception of the judge's."""
        if tag == "$ref":
            return self.objects.objects[inner]
        if tag == "$error":
            name, args = inner
            return TYPES[name](*self._decode_all(args, 1))
        return super().object(tag, inner)


def plain_value(value: Any) -> Any:
    """The value of a subclass of a builtin type as that type, read by the type's own methods."""
    mro = type.mro(type(value))
    for base, read in plain._BASES:  # pyright: ignore[reportPrivateUsage]
        if base in mro:
            return read(value)
    raise UnsharableError(f"a {type_name(type(value))} has no plain value")


def kept_places(received: list[Any]) -> list[int]:
    """The places of the request's containers that the solution still holds."""
    counts = references(received)
    places = {id(item): place for place, item in enumerate(received)}
    inner: dict[int, int] = {}
    below: list[list[int]] = []
    for item in received:
        parts = item.values() if isinstance(item, dict) else item
        found = [places[id(part)] for part in parts if id(part) in places]
        below.append(found)
        for place in found:
            inner[place] = inner.get(place, 0) + 1
    del parts  # pyright: ignore[reportPossiblyUnboundVariable]
    kept = {place for place, count in enumerate(counts) if count - inner.get(place, 0) > _UNUSED[1]}
    pending = list(kept)
    while pending:
        for place in below[pending.pop()]:
            if place not in kept:
                kept.add(place)
                pending.append(place)
    return sorted(kept)


def _calibrate() -> None:
    """Count the references to values that nobody holds, as the interpreter at hand counts them."""
    seen: list[int] = []

    class _Probe(CandidateWriter):
        def note(self, value: Any, count: int) -> bool:
            del value
            seen.append(count)
            return False

    probe = _Probe(SharedContainers(), Objects({}), {})
    probe.encode_all([[[1.5], "x"], {"a": [1, 2.5]}, ([1.5],)])
    _UNUSED[:] = [min(seen), references([[]])[0]]


_calibrate()
