"""The classes of the solution as the script gets them, made when the candidate first names one.

Covered: bases among the solution's classes, the special methods that a class has, exceptions,
one proxy for one object; the check of `isinstance` against types that a proxy only claims.
Not covered: `issubclass` in C code. Of metaclasses of the solution item, iteration, length and
membership are asked for, and their other methods refused.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import builtins
import weakref
from abc import ABCMeta
from collections.abc import Sequence
from types import UnionType
from typing import Any, cast

from unhack.core import plain
from unhack.sandbox.guest.candidate import special
from unhack.sandbox.guest.candidate.standard import references, type_name
from unhack.sandbox.guest.judge import methods
from unhack.sandbox.guest.judge.link import CandidateLink
from unhack.sandbox.guest.judge.proxies import (
    SHAPES,
    STANDARD_CLASSES,
    ClassRecord,
    Mirror,
    SealedErrorMixin,
    SealedObject,
    error_state,
    is_proxy,
    number_of,
    record_of,
    set_number,
)

_is_instance, _is_subclass = isinstance, issubclass
_UNUSED = references([[]])[0]
_FEW = 32
"""So many objects with plain values are kept before any is looked at."""


class ClassTable:
    """The classes and proxies of one connection."""

    def __init__(self, seal: CandidateLink, declared: Sequence[str]) -> None:
        self.seal = seal
        self._declared = tuple(declared)
        self._trusted: list[type] = []
        self.loaded: list[int] = []
        """Numbers of the modules that the script imported."""
        self._classes: dict[int, type] = {}
        self._proxies: dict[int, weakref.ref[Any]] = {}
        self._values: dict[int, Any] = {}
        """Of objects with a plain value."""
        self._enough = _FEW
        self._forgotten: list[int] = []
        self._modules: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._checks = False

    def add(self, number: Any, described: Any) -> None:
        """Make a class. Malformed descriptions raise what a connection takes for malformed."""
        if type(number) is not int or number in self._classes or type(described) is not dict:
            raise plain.PlainDataError("a class was described twice")
        record = ClassRecord(self.seal, number, described)
        bases = [self._classes[base] for base in described["bases"]]
        if "error" in described:
            record.mixins = [base for base in bases if not _is_subclass(base, BaseException)]
            bases = [base for base in bases if base not in record.mixins] or [
                SealedErrorMixin,
                self.seal.exceptions.nearest([str(name) for name in described["error"]]),
            ]
        elif any(_is_subclass(base, BaseException) for base in bases):
            raise plain.PlainDataError("a class of exceptions that is none")
        space: dict[str, Any] = {"__sealed__": record, "__doc__": str(described.get("doc", ""))}
        if "error" not in described:
            if described.get("shape") in SHAPES and not record.is_value:
                bases.append(SHAPES[described["shape"]])
            bases = bases or [SealedObject]
            if record.is_value and not any(_is_subclass(base, record.base) for base in bases):
                bases.append(record.base)
        for name in special.FIELDS.intersection(described.get("fields", ())):
            space[name] = methods.field(name)
        for name in described["special"]:
            known = name in special.ALL or name in special.STEPS
            if known and ("error" not in described or name not in ("__str__", "__repr__")):
                space[name] = methods.make(name)
        if record.base is not None and not record.is_value:
            for name in described.get("lowered", ()):
                if name in special.LOWERED and hasattr(record.base, name):
                    space.setdefault(name, methods.make_lowered(name))
            if record.base is list:
                space.setdefault("__radd__", methods.appended)
        space.update(dict.fromkeys(special.ALL.intersection(described.get("without", ()))))
        if "__eq__" in space:
            space.setdefault("__hash__", bases[0].__hash__)
        space["__module__"], _, name = record.name.rpartition(".")
        kind = type.__new__(Mirror, name, tuple(bases), space)
        self._classes[number] = kind
        if record.disguised or (record.foreign and record.name not in STANDARD_CLASSES):
            self._watch_checks()

    def get(self, number: Any) -> type:
        """A class by its number. Raises KeyError."""
        return self._classes[number]

    def number_of_class(self, kind: type) -> int:
        """The number of a class."""
        return record_of(kind).number

    def add_module(self, module: Any, number: int) -> None:
        """Take note of a module of the solution, so that it can be an argument."""
        self._modules[module] = number

    def module_number(self, value: Any) -> int | None:
        """The number of a module of the solution; None for anything else."""
        return self._modules.get(value) if type(value).__name__ == "SealedModule" else None

    def proxy(self, number: Any, kind_number: Any, values: list[Any]) -> Any:
        """The one proxy of an object; `values`: its plain value, where it is new and has one."""
        found = self._find(number)
        if found is None:
            kind = self._classes[kind_number]
            base = record_of(kind).base if record_of(kind).is_value else object
            if _is_subclass(kind, BaseException):
                raise plain.PlainDataError("an exception that is described as an object")
            if list(map(type, values)) != ([] if base is object else [base]):
                raise plain.PlainDataError("an object with another value than its class has")
            found = cast("Any", base).__new__(kind, *values)
            set_number(found, number)
            if values:
                self._values[number] = found
            else:
                self._keep(number, found)
        return found

    def error(
        self, number: Any, kind_number: Any, args: tuple[Any, ...], *, text: str
    ) -> Exception:
        """The one proxy of an exception."""
        found = self._find(number)
        kind = cast("Any", self._classes[kind_number])
        if found is None:
            if not _is_subclass(kind, Exception):
                raise plain.PlainDataError("an object that is described as an exception")
            base: Any = next(item for item in type.mro(kind) if type(item) is not Mirror)
            found = base.__new__(kind, *(args if base is ExceptionGroup else ()))
            error_state(found).update(_unhack_number=number, _unhack_text=text)
            self._keep(number, found)
        if not _is_instance(found, Exception):
            raise plain.PlainDataError("an object that is described as an exception")
        found.args = args
        return found

    def _find(self, number: Any) -> Any:
        if type(number) is not int:
            raise plain.PlainDataError("not a number of anything")
        reference = self._proxies.get(number)
        return self._values.get(number) if reference is None else reference()

    def _keep(self, number: int, proxy: Any) -> None:
        forgotten = self._forgotten

        def forget(reference: Any) -> None:
            del reference
            forgotten.append(number)

        self._proxies[number] = weakref.ref(proxy, forget)

    def take_forgotten(self) -> list[int]:
        """Numbers of objects that nobody has here any more."""
        if len(self._values) >= self._enough:
            self._forgotten += self._take_unused()
            self._enough = max(_FEW, 2 * len(self._values))
        if not self._forgotten:
            return []
        gone, self._forgotten[:] = list(self._forgotten), []
        found = [number for number in dict.fromkeys(gone) if self._find(number) is None]
        for number in found:
            self._proxies.pop(number, None)
        return found

    def _take_unused(self) -> list[int]:
        """Let go of values that only this table holds: not every type has weak references."""
        numbers, values = list(self._values), list(self._values.values())
        counts = references(values)
        del values
        unused = [n for n, count in zip(numbers, counts, strict=True) if count <= _UNUSED + 1]
        for number in unused:
            del self._values[number]
        return unused

    def is_declared(self, kind: type) -> bool:
        """True for a class that the author named, as the solution's module has it now."""
        if self._declared and not any(kind is trusted for trusted in self._trusted):
            self._trusted += [
                value
                for number in self.loaded
                for name in self._declared
                if type(value := self._fetch(number, name)) is Mirror
            ]
        return any(kind is trusted for trusted in self._trusted)

    def _fetch(self, number: int, name: str) -> Any:
        try:
            return self.seal.ask("get", number, name)
        except AttributeError:
            return None

    def plain_value(self, value: Any) -> Any:
        """The plain value of an object whose class is derived from a builtin type; other values as
        they are."""
        if not is_proxy(value) or type(value) is Mirror:
            return value
        record = record_of(type(value))
        if record.base is None or record.is_value:
            return value
        found = self.seal.ask("plain", number_of(value))
        if type(found) is not record.base:
            raise self.seal.violate(f"a {record.name} object without a plain value")
        return found

    def signature(self, number: int) -> Any:
        """The result of `inspect.signature`."""
        from inspect import Parameter, Signature  # heavy, and seldom asked for

        parameters: list[Parameter] = []
        described, returned = self.seal.ask("signature", number)
        for name, kind, default, annotation in described:
            parts = [part[0] if part else Parameter.empty for part in (default, annotation)]
            kinds = {int(item): item for item in type(Parameter.VAR_KEYWORD)}
            parameters.append(Parameter(name, kinds[kind], default=parts[0], annotation=parts[1]))
        return Signature(parameters, return_annotation=returned[0] if returned else Signature.empty)

    def _watch_checks(self) -> None:
        """Refuse, from now on, `isinstance` and `issubclass` of what a class only claims to be."""
        if self._checks:
            return
        self._checks = True

        def is_instance(value: Any, info: Any, /) -> bool:
            kind = type(value)
            if type(kind) is not Mirror or type(info) is Mirror or self.seal.is_aside:
                return _is_instance(value, info)
            if type(info) is tuple:
                return any(is_instance(value, item) for item in info)
            if record_of(kind).name in STANDARD_CLASSES:
                return _is_instance(value, info)
            self._check(kind, info)
            return _is_subclass(kind, info)

        def is_subclass(kind: Any, info: Any, /) -> bool:
            if type(kind) is Mirror and not self.seal.is_aside:
                self._check(kind, info)
            return _is_subclass(kind, info)

        builtins.isinstance, builtins.issubclass = is_instance, is_subclass  # type: ignore[assignment]

    def _check(self, kind: type, info: Any) -> None:
        if type(info) is tuple:
            for item in info:
                self._check(kind, item)
            return
        if type(info) is UnionType:
            return self._check(kind, info.__args__)
        if type(info) is Mirror or info is object or not _is_instance(info, type):
            return
        record, name = record_of(kind), type_name(info)
        if _is_subclass(kind, info) and type(info) is not ABCMeta:
            return
        if name == record.name:
            raise self.seal.violate(f"a {name} of the solution, taken for one of the verifier")
        if name in record.foreign or (record.is_data and type(info) is ABCMeta):
            raise self.seal.violate(f"the question whether a {record.name} is a {name}")
        if record.disguised:
            raise self.seal.violate(f"a {record.name} object, whose class sets __class__")
