"""Functions, classes and objects of the script that the solution was handed, by number.

They stay in this process: the solution gets a number and a shape, and may call, read or step what
it was handed while the judge waits for its answer. Whatever else stands in this process has no
number, and so cannot be asked for.

Handed over: functions, classes, methods and objects that a file of the script defines; methods of
plain containers, streams in memory and of files, mocks, iterators.
By name, each side's own: what the standard library or an installed package of the task has under
its name.
Not covered, and refused: names with an underscore that no class of the script defines, modules,
frames and code; objects of any other library; cases of tests; asynchronous functions.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import collections
import collections.abc
import enum
import functools
import inspect
import io
import operator
import re
import sys
import tempfile
import types
from collections.abc import Callable
from typing import Any

from unhack.core import plain
from unhack.sandbox.guest.candidate import special
from unhack.sandbox.guest.candidate.standard import NAMES, UnsharableError
from unhack.sandbox.guest.judge.names import is_script_code
from unhack.sandbox.guest.judge.proxies import Mirror

Encode = Callable[..., Any]
_MAX_HANDED = 100_000
_CONTAINERS = (list, dict, set, collections.deque, collections.OrderedDict, collections.Counter)
_CONTAINERS_TOO = (collections.defaultdict, str, bytes, tuple, frozenset)
_ITERATORS = (types.GeneratorType, map, filter, zip, enumerate, reversed)
_ITERATORS_TOO = tuple(type(iter(one)) for one in ([], (), "", {}, set[int](), b"", range(1)))
_WRAPPERS = (staticmethod, classmethod, property, functools.cached_property)
_BY_PARTS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
_SHAPES = (
    *("Mapping", "MutableMapping", "Sequence", "MutableSequence", "Set", "MutableSet"),
    *("Iterator", "Generator"),
)
_STREAM_SHAPES = ("IOBase", "RawIOBase", "BufferedIOBase", "TextIOBase")
_STREAMS = (
    *(io.IOBase, tempfile._TemporaryFileWrapper, tempfile.SpooledTemporaryFile),  # pyright: ignore[reportPrivateUsage]
)
_OF_LIBRARIES = (*_STREAMS, types.SimpleNamespace)
"""Classes of the standard library whose objects reach nothing but what they are made of."""
_SAX = ("xml.sax.handler", "xml.sax.saxutils")


def is_stream(kind: type) -> bool:
    """True for a class of streams in memory or of files."""
    return issubclass(kind, _STREAMS)


def is_known_library(kind: type) -> bool:
    """True for a class of the standard library whose objects are handed over."""
    return issubclass(kind, _OF_LIBRARIES) or any(
        base.__module__ in _SAX for base in type.mro(kind)
    )


class LibraryCall:
    """A method of an object of the standard library that was handed over, by its name."""

    def __init__(self, target: Any, name: str) -> None:
        self.target = target
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.target, self.__name__)(*args, **kwargs)


def is_script_function(value: Any) -> bool:
    """True for a function whose code stands in a file of the script, or that wraps one."""
    for _ in range(8):
        if type(value) is types.FunctionType and is_script_code(value.__code__):
            return True
        value = getattr(value, "__wrapped__", None)
        if not isinstance(value, (types.FunctionType, functools._lru_cache_wrapper)):  # pyright: ignore[reportPrivateUsage]
            return False
    return False


def is_script_class(kind: Any) -> bool:
    """True for a class that a file of the script defines, below none of the solution's."""
    if not isinstance(kind, type) or type(kind) is Mirror:
        return False
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None) or ""
    return file.startswith("/scratch/work/") or kind.__module__ in ("verifier", "__main__")


def is_case(kind: type) -> bool:
    """True for a class of tests, whose objects may hold what is expected."""
    unit: Any = sys.modules.get("unittest")
    return (kind.__name__.startswith("Test") and any(
        name.startswith("test") for item in type.mro(kind) for name in vars(item)
    )) or (unit is not None and issubclass(kind, unit.TestCase))  # fmt: skip


def is_mock(value: Any) -> bool:
    """True for a mock of the standard library."""
    module: Any = sys.modules.get("unittest.mock")
    return module is not None and isinstance(value, module.NonCallableMock)


class HandedTable:
    """The numbers of one connection."""

    def __init__(self, installed: Callable[[], tuple[str, ...]]) -> None:
        """`installed`: top names of packages that both sides may import."""
        self._values: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._installed = installed
        self._told: set[int] = set()
        self._telling: set[int] = set()
        self._written: set[int] = set()

    def __getitem__(self, number: Any) -> Any:
        """The value that was handed over under a number. Raises PlainDataError."""
        if type(number) is not int or not 0 <= number < len(self._values):
            raise plain.PlainDataError("a number that the script gave to nothing")
        return self._values[number]

    def share(self, value: Any, kind: type, encode: Encode) -> Any:
        """A value of the script as it is written, or None where it is not handed over."""
        key = _key_of(value)
        number = self._numbers.get(key)
        if number is not None and number in self._told | self._telling:
            return {"$script": [number, None]}
        path = self._path(value, kind)
        if path:
            return {"$named": path}
        if kind in _WRAPPERS:
            return self._wrapper(value, kind, encode)
        if kind in _BY_PARTS:
            made, parts = value.__reduce__()[:2]
            return {"$wrap": [f"operator:{made.__name__}", list(map(encode, parts))]}
        if kind is re.Pattern:
            return {"$wrap": ["re:compile", [encode(value.pattern), value.flags]]}
        if isinstance(kind, enum.EnumType) and (is_script_class(kind) or self._path(kind, type)):
            if value.name in kind.__members__:
                return {"$member": [encode(kind), value.name]}
            return {"$wrap": [self._path(kind, type), [encode(value.value)]]}  # several flags
        described = self._describe(value, kind)
        if described is None:
            return None
        return self._tell(key, value, described, encode)

    def _tell(
        self, key: Any, value: Any, described: Callable[[Encode], Any], encode: Encode
    ) -> Any:
        """A number with the shape of what has it; it is told once more where it has not arrived."""
        number = self._numbers.get(key)
        if number is None:
            if len(self._values) >= _MAX_HANDED:
                raise UnsharableError("more functions and objects than are kept")
            number = self._numbers[key] = len(self._values)
            self._values.append(value)
        self._telling.add(number)
        try:
            found = {"$script": [number, described(encode)]}
        finally:
            self._telling.discard(number)
        self._written.add(number)
        return found

    def sent(self) -> None:
        """Take note that a message has gone out."""
        self._told |= self._written
        self._written.clear()

    def dropped(self) -> None:
        """Take note that a message was not sent."""
        self._written.clear()

    def class_of(self, kind: type, encode: Encode) -> Any:
        """The class of an object that is handed over, whatever defines it."""
        if is_script_class(kind):
            return encode(kind)
        key = ("class", id(kind))
        number = self._numbers.get(key)
        if number is not None and number in self._told | self._telling:
            return {"$script": [number, None]}
        # its number stands for nothing, so that nobody may call it
        return self._tell(key, None, lambda encode: _class(kind, encode), encode)

    def _path(self, value: Any, kind: type) -> str:
        """`module:name` of what both sides have; empty for anything else."""
        tops = self._installed()
        if kind is types.ModuleType:
            name = value.__name__
            known = name.partition(".")[0] in tops or name.partition(".")[0] in _LIBRARY
            return name if known and sys.modules.get(name) is value else ""
        for name in ("stdout", "stderr"):
            if value is getattr(sys, name):
                return f"sys:{name}"
        if not callable(value):
            return ""
        owner = getattr(value, "__objclass__", None)
        holder = owner if isinstance(owner, type) else value
        module = getattr(holder, "__module__", None)
        name = getattr(value, "__qualname__", None)
        if type(module) is not str or type(name) is not str:
            return ""
        top = module.partition(".")[0]
        if top not in _LIBRARY and top not in tops:
            return ""
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        return f"{module}:{name}" if found is value else ""

    def _wrapper(self, value: Any, kind: type, encode: Encode) -> Any:
        if kind is property:
            parts = [value.fget, value.fset, value.fdel]
        else:
            parts = [value.func if kind is functools.cached_property else value.__func__]
        module = "functools" if kind is functools.cached_property else "builtins"
        return {"$wrap": [f"{module}:{kind.__name__}", list(map(encode, parts))]}

    def _describe(self, value: Any, kind: type) -> Callable[[Encode], Any] | None:
        """Writes the shape of a value that may be handed over; None for any other."""
        if is_script_class(value):
            return None if is_case(value) else lambda encode: _class(value, encode)
        if isinstance(value, type):
            return (lambda encode: _class(value, encode)) if is_known_library(value) else None
        if _is_function(value, kind):
            return lambda encode: _function(value)
        if issubclass(kind, BaseException):
            if not is_script_class(kind):
                return None
            shown = () if issubclass(kind, AssertionError) else value.args
            return lambda encode: ["error", encode(kind), list(map(encode, shown))]
        if issubclass(kind, special.VALUES) and is_script_class(kind) and not is_case(kind):
            base = _value_base(kind)
            held = getattr(base, "__new__")(base, value)  # noqa: B009
            return lambda encode: ["value", encode(kind), encode(held)]
        if issubclass(kind, special.BASES):  # its content would be left behind
            return None
        is_known = is_mock(value) or kind in (*_ITERATORS, *_ITERATORS_TOO, object)
        is_known = is_known or kind.__module__ == "itertools"
        if is_known or (is_script_class(kind) and not is_case(kind)) or is_known_library(kind):
            return lambda encode: ["object", self.class_of(kind, encode)]
        return None


_LIBRARY = frozenset(sys.stdlib_module_names - {"unittest", "pdb", "test", "idlelib"})
_KEPT_BY_PARTS = (types.MethodType, types.BuiltinMethodType)


def _key_of(value: Any) -> Any:
    """The key that tells a value of the script from another; a method is new at each look."""
    if type(value) in _KEPT_BY_PARTS and value.__self__ is not None:
        return value.__name__, id(value.__self__)
    if type(value) is LibraryCall:
        return value.__name__, id(value.target)
    return id(value)


def _is_function(value: Any, kind: type) -> bool:
    if kind is LibraryCall:
        return True
    if kind is types.MethodType:
        known = is_mock(value.__self__) or is_known_library(type(value.__self__))
        return is_script_function(value.__func__) or known
    if kind is types.BuiltinMethodType:
        owner = type(value.__self__)
        return owner in (*_CONTAINERS, *_CONTAINERS_TOO) or is_known_library(owner)
    if kind is functools.partial:
        inner = value.func
        return _is_function(inner, type(inner)) or type(inner) is Mirror
    return is_script_function(value) and not inspect.iscoroutinefunction(value)


def _function(value: Any) -> Any:
    try:
        parameters: Any = [
            [one.name, int(one.kind), one.default is not one.empty]
            for one in inspect.signature(value).parameters.values()
        ]
    except (TypeError, ValueError):
        parameters = None
    name = getattr(value, "__name__", "function")
    return [
        "function",
        name,
        getattr(value, "__qualname__", name),
        str(getattr(value, "__module__", "")),
        None,
        parameters,
    ]


def _value_base(kind: type) -> Any:
    """The immutable builtin type that a class is derived from."""
    bases: tuple[Any, ...] = special.VALUES
    return next(item for item in bases if issubclass(kind, item))


def _class(kind: type, encode: Encode) -> Any:
    name, module = kind.__qualname__.rpartition(">.")[2], kind.__module__
    if isinstance(kind, enum.EnumType):
        bases = [encode(base) for base in kind.__bases__]
        members = [
            [one, encode(member.value)] for one, member in vars(kind)["_member_map_"].items()
        ]
        return ["enumeration", name, module, bases, members]
    if issubclass(kind, BaseException):
        base = next(item for item in type.mro(kind)[1:] if item in NAMES or is_script_class(item))
        return ["error_class", name, module, encode(base)]
    if issubclass(kind, special.VALUES):
        base = _value_base(kind)
        return ["value_class", name, module, encode(base), list(getattr(kind, "_fields", ()))]
    if issubclass(kind, special.BASES):
        raise UnsharableError(f"the class {name} of the script, derived from a builtin type")
    above = [encode(base) for base in kind.__bases__ if is_script_class(base)]
    shapes = [f"collections.abc:{one}" for one in _SHAPES if _has_shape(kind, one)]
    shapes += [f"io:{one}" for one in _STREAM_SHAPES if issubclass(kind, getattr(io, one))]
    return ["class", name, module, above, sorted(special_methods(kind)), shapes]


def _has_shape(kind: type, name: str) -> bool:
    return issubclass(kind, getattr(collections.abc, name))


def special_methods(kind: type) -> set[str]:
    """The special methods of a class that objects of it are asked for."""
    spaces = [vars(item) for item in type.mro(kind)[:-1]]
    left_out = {"__get__", "__set__", "__delete__", "__reduce__", *special.REFUSED}
    found = {name for space in spaces for name in special.ALL.intersection(space)} - left_out
    return {name for name in found if getattr(kind, name, None) is not None}
