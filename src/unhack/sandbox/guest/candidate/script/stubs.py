"""Stand-ins for what the judge's script hands over and keeps: functions, classes, objects.

    solution.each([1, 2], on_item)      `on_item` is a function here whose call goes to the judge
    class Mine(solution.Base): ...      a class here, whose methods are such functions

A stand-in holds a number and what the judge said of its shape; its code and its values stay with
the judge. Calling one sends a request the other way, and the judge may ask again before it answers.

Covered: calls, attributes and special methods; classes with their own `isinstance`; enumerations,
which are made anew; iterators; errors; names of the standard library, each side's own.
Not covered: code and defaults of functions, `vars` of objects.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from unhack.sandbox.guest.candidate import special

Ask = Callable[[str, int, str, tuple[Any, ...], dict[str, Any]], Any]
"""Asks the judge: what, number, name, arguments."""
_number_of = "_unhack_script_number"


class ScriptStandIns:
    """The stand-ins of one session, one for each number of the judge."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._made: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}

    def number(self, value: Any) -> int | None:
        """The judge's number of a stand-in; None for anything else."""
        return self._numbers.get(id(value))

    def error_number(self, error: BaseException) -> int | None:
        """The number of the class of an error that was made here of a class of the script."""
        return next((n for n in map(self.number, type.mro(type(error))) if n is not None), None)

    def get(self, number: int, described: Any, decode: Callable[[Any], Any]) -> Any:
        """The stand-in of a number, made out of its description where it is new."""
        if number not in self._made:
            kind, *parts = described
            made = _MAKERS[kind](self, number, parts, decode)
            if number not in self._made:  # a class is kept before its members are read
                self.keep(number, made)
        return self._made[number]

    def keep(self, number: int, value: Any) -> None:
        """Let a value stand for a number."""
        self._made[number] = value
        self._numbers[id(value)] = number

    def asking(self, what: str, number: int, name: str = "") -> Callable[..., Any]:
        """A function whose calls go to the judge."""

        def asked(*args: Any, **kwargs: Any) -> Any:
            return self._ask(what, number, name, args, kwargs)

        return asked

    def ask(self, what: str, number: int, name: str, *args: Any) -> Any:
        """One request."""
        return self._ask(what, number, name, args, {})


def named(path: str) -> Any:
    """The thing of the standard library under `module:qualified.name`; a module without a name."""
    from importlib import import_module  # seldom asked for

    module, _, name = path.partition(":")
    found: Any = import_module(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part)
    return found


def wrapped(kind: str, parts: list[Any]) -> Any:
    """A method, property or cached property of functions."""
    return named(kind)(*parts)


def _function(table: ScriptStandIns, number: int, parts: list[Any], decode: Any) -> Any:
    del decode
    asking = table.asking("call", number)
    name, qualified, module, doc, parameters = parts

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        return asking(*args, **kwargs)

    stand_in.__name__, stand_in.__qualname__, stand_in.__doc__ = name, qualified, doc
    stand_in.__module__ = module
    if parameters is not None:
        from inspect import Parameter, Signature  # seldom asked for

        kinds = {int(item): item for item in type(Parameter.VAR_KEYWORD)}
        stand_in.__signature__ = Signature(  # type: ignore[attr-defined]
            [
                Parameter(one, kinds[kind], default=None if optional else Parameter.empty)
                for one, kind, optional in parameters
            ]
        )
    return stand_in


class ScriptClass(type):
    """The metaclass of stand-ins for classes of the script, whose objects stay with the judge."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        table, number = _home_of(cls)
        return table.asking("call", number)(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        table, number = _home_of(cls)
        return table.ask("get", number, name)

    def __dir__(cls) -> list[str]:
        table, number = _home_of(cls)
        return table.ask("dir", number, "")


def _home_of(cls: type) -> tuple[ScriptStandIns, int]:
    return type.__getattribute__(cls, "_unhack_home")


def _attributes(table: ScriptStandIns) -> dict[str, Any]:
    """The methods of a stand-in's class that attributes go through."""

    def get(self: Any, name: str) -> Any:
        return table.ask("get", getattr(self, _number_of), name)

    def put(self: Any, name: str, value: Any) -> None:
        table.ask("set", getattr(self, _number_of), name, value)

    def delete(self: Any, name: str) -> None:
        table.ask("delete", getattr(self, _number_of), name)

    def names(self: Any) -> Any:
        return table.ask("dir", getattr(self, _number_of), "")

    return {"__getattr__": get, "__setattr__": put, "__delattr__": delete, "__dir__": names}


def _class(table: ScriptStandIns, number: int, parts: list[Any], decode: Any) -> Any:
    name, module, bases, methods, shapes = parts
    space: dict[str, Any] = {
        "__module__": module,
        "__qualname__": name,
        "__slots__": ("__weakref__", _number_of),
        "_unhack_home": (table, number),
        **_attributes(table),
    }
    for method in methods:
        if method in special.ALL:
            space[method] = _special(table, method)
    if "__eq__" in space:
        space.setdefault("__hash__", None)
    above = tuple(decode(base) for base in bases)
    if above:  # they have the slots
        space["__slots__"] = ()
    made = ScriptClass(name.rpartition(".")[2], above, space)
    for path in shapes:
        named(path).register(made)
    return made


def _special(table: ScriptStandIns, method: str) -> Callable[..., Any]:
    def asked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if method == "__exit__" and args[0] is not None:
            args = (args[0], args[1], None)
        what = "step" if method == "__next__" else "special"
        return table.asking(what, object.__getattribute__(self, _number_of), method)(
            *args, **kwargs
        )

    asked.__name__ = method
    return asked


def _object(table: ScriptStandIns, number: int, parts: list[Any], decode: Any) -> Any:
    kind = decode(parts[0])
    made = object.__new__(kind)
    object.__setattr__(made, _number_of, number)
    return made


def _enumeration(table: ScriptStandIns, number: int, parts: list[Any], decode: Any) -> Any:
    name, module, bases, members = parts
    found = tuple(decode(base) for base in bases)
    kind: Any = found[-1]
    more: dict[str, Any] = {"type": found[0]} if len(found) > 1 else {}
    pairs = [(one, decode(value)) for one, value in members]
    return kind(name.rpartition(".")[2], pairs, module=module, qualname=name, **more)


def _error_class(table: ScriptStandIns, number: int, parts: list[Any], decode: Any) -> Any:
    name, module, base = parts
    above = decode(base)
    return type(name.rpartition(".")[2], (above,), {"__module__": module, "__qualname__": name})


def _error(table: ScriptStandIns, number: int, parts: list[Any], decode: Any) -> Any:
    kind, args = decode(parts[0]), [decode(item) for item in parts[1]]
    made = kind.__new__(kind)
    made.args = tuple(args)
    return made


def _value_class(table: ScriptStandIns, number: int, parts: list[Any], decode: Any) -> Any:
    name, module, base, fields = parts
    above: Any = decode(base)
    if fields:
        from collections import namedtuple  # seldom asked for

        above = namedtuple(name.rpartition(".")[2], fields)  # type: ignore[misc]
    return type(name.rpartition(".")[2], (above,), {"__module__": module, "__qualname__": name})


def _value(table: ScriptStandIns, number: int, parts: list[Any], decode: Any) -> Any:
    kind: Any = decode(parts[0])
    base: Any = next(item for item in special.VALUES if issubclass(kind, item))
    return base.__new__(kind, decode(parts[1]))


def make_class(name: str, bases: tuple[Any, ...], space: dict[str, Any], more: Any) -> type:
    """A class of the script that is derived from one of the solution's."""
    return types.new_class(name, bases, dict(more), lambda ns: ns.update(space))


class ScriptEnd(BaseException):
    """The script has ended in the middle of a request, and awaits its answer."""


_MAKERS: dict[str, Callable[[ScriptStandIns, int, list[Any], Any], Any]] = {
    "function": _function,
    "class": _class,
    "object": _object,
    "enumeration": _enumeration,
    "error_class": _error_class,
    "error": _error,
    "value_class": _value_class,
    "value": _value,
}
