"""Proxies: the Python classes and objects that a script has in place of the candidate's.

Each class of the solution is one class here, made by the metaclass `Mirror`; an object is an
instance of it that holds nothing but its number. Attributes are asked of the candidate.

Covered: attributes of objects and classes, calls, `isinstance` and `issubclass` between classes of
the solution, copies.
Not covered, and refused: pickling, code objects, fields of dataclasses.
What a test runner looks for in every object (`__test__`, marks of pytest) is not asked for it; the
script gets it like any other name.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any, cast

from unhack.sandbox.guest.candidate import special
from unhack.sandbox.guest.candidate.standard import NAMES
from unhack.sandbox.guest.judge.link import CandidateLink
from unhack.sandbox.guest.judge.names import ACTED_ON, is_asked, is_copying, reads_types

_REFUSED = frozenset((
    "__code__", "__globals__", "__closure__", "__builtins__", "__dataclass_fields__", "gi_code",
    "gi_frame", "cr_code", "cr_frame",
))  # fmt: skip
_CLASS_LOCAL = frozenset((
    "__class__", "__name__", "__qualname__", "__module__", "__instancecheck__",
    "__subclasscheck__", "__sealed__",
))  # fmt: skip
_COPIED = ("__copy__", "__deepcopy__")
"""Methods here that only the module `copy` gets."""
_OBJECT_LOCAL = frozenset(
    ("__dir__", "__getattribute__", "__setattr__", "__delattr__", "__sizeof__", "__reduce_ex__")
)
STANDARD_CLASSES = {
    "builtins.function": types.FunctionType,
    "builtins.method": types.MethodType,
    "builtins.builtin_function_or_method": types.BuiltinFunctionType,
    "builtins.generator": types.GeneratorType,
    **{
        f"builtins.{kind.__name__}": kind
        for kind in (property, staticmethod, classmethod, map, filter, zip, enumerate, reversed)
    },
}
"""The answers of `__class__` for these; their instances are told apart by nothing else."""
_make = type.__new__


class ClassRecord:
    """The facts about one class of the candidate."""

    __slots__ = (
        *("base", "checks", "disguised", "foreign", "is_data", "is_value", "meta", "mixins"),
        *("name", "number", "seal"),
    )

    def __init__(self, seal: CandidateLink, number: int, described: Any) -> None:
        self.seal = seal
        self.number = number
        self.name = str(described["name"])[:200]
        self.foreign = frozenset(str(name) for name in described.get("foreign", ()))
        base = described.get("base")
        self.base: Any = next((kind for kind in special.BASES if kind.__name__ == base), None)
        self.checks = described.get("checks") is True
        self.disguised = described.get("disguised") is True
        self.meta = frozenset(str(name) for name in described.get("meta", ()))
        self.mixins: list[type] = []
        """Bases of an exception that are none; its class here has their methods."""
        self.is_value = self.base in special.VALUES
        changes = self.base is not None and not self.is_value
        self.is_data = changes or "builtins.coroutine" in self.foreign


def record_of(kind: type) -> ClassRecord:
    """The record of a class made by `Mirror`."""
    return type.__getattribute__(kind, "__sealed__")


def read(record: ClassRecord, number: int, name: str, what: str) -> Any:
    """An attribute of an object or a class, as the candidate has it."""
    if name == "__signature__":
        return record.seal.classes.signature(number)
    if name in _REFUSED and record.seal.ask("has", number, name) is True:
        raise record.seal.violate(f"{name} of {what}")
    value = record.seal.ask("get", number, name)
    if name in ACTED_ON and type(value) not in (type(None), int, float):
        raise record.seal.violate(f"{name} of {what}")
    return value


def _defines(cls: type, name: str) -> bool:
    """True for a special method that a class or one of its bases has here."""
    return name in special.ALL and any(
        name in type.__getattribute__(item, "__dict__")
        for item in type.__getattribute__(cls, "__mro__")
    )


DERIVE: list[Any] = []
"""The maker of classes that a script derives from the solution's (`judge.script.derived`)."""


class Mirror(type):
    """The metaclass of proxies."""

    def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any], **more: Any) -> Any:
        """A class of the seal's own, or one that a script derives from the solution's."""
        sealed = any(
            "__sealed__" in type.__getattribute__(item, "__dict__")
            for base in bases
            if type(base) is Mirror
            for item in type.mro(base)
        )
        return DERIVE[0](name, bases, space, more) if sealed else _make(cls, name, bases, space)

    def __init__(cls, *args: Any, **more: Any) -> None:
        """Nothing: a derived class is whole when the candidate has made it."""

    def __getattribute__(cls, name: str) -> Any:
        if name in _CLASS_LOCAL or _defines(cls, name):
            return type.__getattribute__(cls, name)
        if name in _COPIED and is_copying(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]
            return type.__getattribute__(cls, name)
        record = record_of(cls)
        if name in ("__mro__", "__bases__"):
            found = type.__getattribute__(cls, name)
            own = tuple(item for item in found if not any(item is root for root in ROOTS))
            return own or (object,)
        if name == "__dict__" and reads_types(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]
            return type.__getattribute__(cls, name)
        if not is_asked(name, 1):
            raise AttributeError(f"type object {record.name!r} has no attribute {name!r}")
        return read(record, record.number, name, f"the class {record.name}")

    def __setattr__(cls, name: str, value: Any) -> None:
        record = record_of(cls)
        if name == "__abstractmethods__" or name in _CLASS_LOCAL:
            raise record.seal.violate(f"setting {name} of the class {record.name}")
        record.seal.ask("set", record.number, name, args=(value,))

    def __delattr__(cls, name: str) -> None:
        record_of(cls).seal.ask("delete", record_of(cls).number, name)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return record_of(cls).seal.ask("call", record_of(cls).number, args=args, kwargs=kwargs)

    def __getitem__(cls, key: Any) -> Any:
        return record_of(cls).seal.ask("item", record_of(cls).number, args=(key,))

    def __iter__(cls) -> Any:
        return record_of(cls).seal.ask("iter", record_of(cls).number)

    def __len__(cls) -> int:
        return record_of(cls).seal.ask("length", record_of(cls).number)

    def __contains__(cls, item: Any) -> bool:
        if not is_proxy(item) and not (record := record_of(cls)).seal.classes.is_declared(cls):
            raise record.seal.violate(undeclared("in", record))
        return bool(record_of(cls).seal.ask("contains", record_of(cls).number, args=(item,)))

    def __dir__(cls) -> list[str]:
        return record_of(cls).seal.ask("dir", record_of(cls).number)

    def __instancecheck__(cls, instance: Any) -> bool:
        kind = type(instance)
        asked = instance if type(kind) is Mirror or kind is Mirror else kind
        return _is_below(kind, cls) or _claims(cls, "isinstance", asked)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return _is_below(subclass, cls) or _claims(cls, "issubclass", subclass)

    def __copy__(cls) -> Any:
        return cls

    def __deepcopy__(cls, memo: Any) -> Any:
        del memo
        return cls


def _is_below(kind: type, cls: type) -> bool:
    """True for a class and what is derived from it, by what the judge knows of both."""
    if type.__subclasscheck__(cls, kind) or type(kind) is not Mirror:
        return type.__subclasscheck__(cls, kind)
    spaces = [type.__getattribute__(item, "__dict__") for item in type.mro(kind)]
    known: list[ClassRecord] = [space["__sealed__"] for space in spaces if "__sealed__" in space]
    return any(_is_below(mixin, cls) for record in known for mixin in record.mixins)


def _claims(cls: type, what: str, value: Any) -> bool:
    """The answer of a class with a rule of its own for what belongs to it. Nothing of the verifier
    belongs to it by its word alone, unless the author named the class."""
    record: Any = type.__getattribute__(cls, "__dict__").get("__sealed__")
    if record is None or not record.checks or record.seal.is_aside:
        return False
    if not is_proxy(value) and value not in NAMES:
        return False
    what = what if is_proxy(value) else "issubclass"
    answer = record.seal.ask(what, record.number, args=(value,)) is True
    if answer and not is_proxy(value) and not record.seal.classes.is_declared(cls):
        raise record.seal.violate(undeclared(what, record))
    return answer


def _of_metaclass(name: str) -> Any:
    default: Any = getattr(type, name, None)

    def method(cls: Any, *args: Any) -> Any:
        record: Any = type.__getattribute__(cls, "__dict__").get("__sealed__")
        if record is not None and name in record.meta and not record.seal.is_aside:
            raise record.seal.violate(f"{name} of the metaclass of {record.name}")
        if default is None:
            return True if name == "__bool__" else NotImplemented
        return default(cls, *args)

    return method


for _name in special.META:
    setattr(Mirror, _name, _of_metaclass(_name))
Mirror.__name__ = Mirror.__qualname__ = "type"  # for the texts of Python's own errors


def is_proxy(value: Any) -> bool:
    """True for an object or a class of the candidate."""
    kind = type(value)
    return kind is Mirror or type(kind) is Mirror


def undeclared(what: str, record: ClassRecord) -> str:
    """The refusal of an operation that would take an object's word."""
    refused = (
        f"{what} between a {record.name} object and data of the verifier, whose outcome the"
        " solution would decide"
    )
    if record.name in record.foreign:  # no class of the solution, which alone can be named
        return f"{refused}. Make it plain data first, with list(...), set(...) or str(...)"
    short = record.name.rpartition(".")[2]
    return (
        f"{refused}. If the verifier is meant to trust that class, name it in its options: objects"
        f' = ["{short}"]'
    )


def member(kind: type, name: Any) -> Any:
    """The slot of an attribute that a builtin exception has, as `filename`."""
    spaces = [type.__getattribute__(base, "__dict__") for base in type.mro(kind)]
    found = (space[name] for space in spaces if type(space.get(name)) is types.MemberDescriptorType)
    return next(found, None)


class SealedObject(metaclass=Mirror):
    """An object that stays with the candidate."""

    __slots__ = ()  # so that classes below it may also be derived from a builtin type

    def __getattribute__(self, name: str) -> Any:
        kind = type(self)
        if name == "__class__":
            return _claimed_class(kind)
        record = record_of(kind)
        if name in special.ALL or name in _OBJECT_LOCAL:
            try:
                found = object.__getattribute__(self, name)
            except AttributeError:
                found = None
            if found is None and name != "__hash__":
                return record.seal.ask("get", number_of(self), name)
            return found
        if name in _COPIED and is_copying(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]
            return object.__getattribute__(self, name)
        if not is_asked(name, 1):
            raise AttributeError(f"{record.name!r} object has no attribute {name!r}")
        if name in special.STEPS and name in type.__getattribute__(kind, "__dict__"):
            return object.__getattribute__(self, name)
        return read(record, number_of(self), name, f"a {record.name} object")

    def __setattr__(self, name: str, value: Any) -> None:
        record_of(type(self)).seal.ask("set", number_of(self), name, args=(value,))

    def __delattr__(self, name: str) -> None:
        record_of(type(self)).seal.ask("delete", number_of(self), name)

    def __dir__(self) -> list[str]:
        return record_of(type(self)).seal.ask("dir", number_of(self))

    def __copy__(self) -> Any:
        return record_of(type(self)).seal.ask("copy", number_of(self))

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        record = record_of(type(self))
        if memo.setdefault("of the seal", self) is not self:
            raise record.seal.violate("a deep copy of several objects at once")
        return record.seal.ask("deepcopy", number_of(self))

    def __sizeof__(self) -> int:
        record = record_of(type(self))
        raise record.seal.violate(f"the size of a {record.name} object")

    def __reduce_ex__(self, protocol: Any) -> Any:
        record = record_of(type(self))
        raise record.seal.violate(f"pickling of a {record.name} object")


class SealedSequence(SealedObject):
    """An object that `match` takes for a sequence."""


class SealedDict(SealedObject):
    """An object that `match` takes for a mapping."""


class SealedErrorMixin(metaclass=Mirror):
    """The part of the candidate's exceptions that does not come from their builtin base."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        kind = type(self)
        record = record_of(kind)
        if not is_asked(name, 1) or name == "_unhack_number":
            raise AttributeError(f"{record.name!r} object has no attribute {name!r}")
        return read(record, number_of(self), name, f"a {record.name} object")

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "__notes__" and hasattr(BaseException, name):
            return BaseException.__setattr__(cast("BaseException", self), name, value)
        slot = member(type(self), name)
        if slot is not None:
            slot.__set__(self, value)
        record_of(type(self)).seal.ask("set", number_of(self), name, args=(value,))

    def __delattr__(self, name: str) -> None:
        record_of(type(self)).seal.ask("delete", number_of(self), name)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return record_of(type(self)).seal.ask("get", number_of(self), "__dict__")

    def __copy__(self) -> Any:
        return record_of(type(self)).seal.ask("copy", number_of(self))

    def __deepcopy__(self, memo: Any) -> Any:
        del memo
        return record_of(type(self)).seal.ask("deepcopy", number_of(self))

    def __str__(self) -> str:
        return error_state(self)["_unhack_text"]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, cast("BaseException", self).args))
        return f"{type(self).__qualname__}({shown})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        record = record_of(type(self))
        raise record.seal.violate(f"pickling of a {record.name} object")


SHAPES: dict[Any, type] = {"sequence": SealedSequence, "mapping": SealedDict}
ROOTS = (SealedObject, SealedErrorMixin, *SHAPES.values())
_abstracts: Any = (Sequence, Mapping)
for _abstract, _shape in zip(_abstracts, SHAPES.values(), strict=True):
    _abstract.register(_shape)  # a flag of the type, which those below it inherit
_error_space: Any = vars(BaseException)["__dict__"].__get__


def error_state(error: Any) -> dict[str, Any]:
    """The number and the text of an exception of the candidate's class."""
    return _error_space(error)


def number_of(proxy: Any) -> int:
    """The number of an object."""
    return object.__getattribute__(proxy, "_unhack_number")


def set_number(proxy: Any, number: int) -> None:
    """Tell a new proxy of an object its number."""
    object.__setattr__(proxy, "_unhack_number", number)


def _claimed_class(kind: type) -> type:
    record = record_of(kind)
    found = STANDARD_CLASSES.get(record.name)
    if found is not None:
        return found
    if record.seal.is_aside:
        return kind
    if record.disguised:
        raise record.seal.violate(f"__class__ of a {record.name} object, which its class sets")
    if record.is_data:
        raise record.seal.violate(f"the class of a {record.name} object, which is derived from a"
                                  " builtin type")  # fmt: skip
    return kind
