"""The special methods of proxies, made out of the fixed table of `candidate.special`.

Covered: a method is asked of the candidate, or computed here on the plain value of an object whose
class has it from a builtin type, or refused. A comparison or a calculation with the script's data
is refused unless the task's author declared the class.
Not covered: what the candidate answers when it is asked.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from unhack.sandbox.guest.candidate import special
from unhack.sandbox.guest.candidate.standard import NAMES
from unhack.sandbox.guest.judge.proxies import is_proxy, number_of, record_of, undeclared

_EQUAL_WHEN = {"__eq__": True, "__ne__": False, "__contains__": True}
_SIGNS = dict(
    zip(special.COMPARISONS, ("==", "!=", "<", "<=", ">", ">="), strict=True), __contains__="in"
)


def make(name: str) -> Callable[..., Any]:
    """The method of a class that the solution defines, or has from a class that is not builtin."""
    if name == "__get__":
        return _get
    if name in special.REFUSED:
        return _refused(name)
    if name in special.STEPS:
        return _step(name)
    if name in special.JUDGED:
        return _judged(name)
    if name == "__exit__":
        return _exit
    if name in special.RESULTS:
        return _checked(name)
    return _asked(name)


def make_lowered(name: str) -> Callable[..., Any]:
    """The method that a class has from its builtin base."""
    return _asked(name) if name in special.IN_PLACE else _lowered(name)


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    return function


def _asked(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        seal = record_of(type(self)).seal
        if name == "__call__":
            return seal.ask("call", number_of(self), args=args, kwargs=kwargs)
        return seal.ask("special", number_of(self), name, args=args)

    return _named(method, name)


def _checked(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        record = record_of(type(self))
        value = record.seal.ask("special", number_of(self), name, args=args)
        if is_proxy(value):
            raise record.seal.violate(f"{name} of a {record.name} object gives no plain value")
        return value  # of a builtin type: Python itself refuses the wrong ones

    return _named(method, name)


def _step(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        return record_of(type(self)).seal.ask("step", number_of(self), name, args=args)

    return _named(method, name)


def _judged(name: str) -> Callable[..., Any]:
    shown = _SIGNS.get(name) or name.strip("_")

    def method(self: Any, *args: Any) -> Any:
        kind = type(self)
        record = record_of(kind)
        harmless = all(map(is_proxy, args)) or (name in ("__eq__", "__ne__") and args == (None,))
        if not harmless and not record.seal.classes.is_declared(kind):
            raise record.seal.violate(undeclared(shown, record))
        answer = record.seal.ask("special", number_of(self), name, args=args)
        if _EQUAL_WHEN.get(name) is answer and any(map(is_proxy, args)):
            record.seal.unverified += 1  # nobody but the solution has said so
        return answer

    return _named(method, name)


def _lowered(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        seal = record_of(type(self)).seal
        parts = [seal.classes.plain_value(item) for item in (self, *args)]
        return getattr(type(parts[0]), name)(*parts)

    return _named(method, name)


def appended(self: Any, other: Any) -> Any:
    """`[...] + object` where its class is derived from list: C code does it by the type."""
    return other + record_of(type(self)).seal.classes.plain_value(self)


def field(name: str) -> property:
    """An attribute of a builtin exception that a class of the solution has of its own."""

    def read(self: Any) -> Any:
        return record_of(type(self)).seal.ask("get", number_of(self), name)

    def write(self: Any, value: Any) -> None:
        record_of(type(self)).seal.ask("set", number_of(self), name, args=(value,))

    return property(read, write)


def _refused(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        record = record_of(type(self))
        raise record.seal.violate(f"{name} of a {record.name} object")

    return _named(method, name)


def _get(self: Any, instance: Any, owner: Any = None) -> Any:
    """`__get__`: a function in a class of the script binds as functions do."""
    record = record_of(type(self))
    if record.name in ("builtins.function", "functools._lru_cache_wrapper"):
        return self if instance is None else MethodType(self, instance)
    if record.name == "builtins.method":
        return self
    raise record.seal.violate(f"__get__ of a {record.name} object")


def _exit(self: Any, kind: Any, value: Any, traceback: Any) -> Any:
    """`__exit__`: what the script raised is told without its traceback, and may be swallowed only
    where the author declared the class."""
    del kind, traceback
    record = record_of(type(self))
    if value is None:
        return record.seal.ask("special", number_of(self), "__exit__", args=(None, None, None))
    told = value if is_proxy(value) else _tellable(value)
    result = record.seal.ask("special", number_of(self), "__exit__", args=(type(told), told, None))
    trusted = isinstance(value, Exception) and not isinstance(value, AssertionError)
    if result and not (trusted and record.seal.classes.is_declared(type(self))):
        raise record.seal.violate(undeclared("swallowing an exception", record))
    return result


def _tellable(value: BaseException) -> BaseException:
    """The nearest builtin exception, with its arguments where they are text and numbers."""
    kind = next((item for item in type(value).__mro__ if item in NAMES), None)
    if kind is None or not issubclass(kind, Exception):
        return RuntimeError(type(value).__name__)
    plain = all(type(item) in (str, int, float, bool, type(None)) for item in value.args)
    error = kind.__new__(kind)
    error.args = value.args if plain and not issubclass(kind, AssertionError) else ()
    return error
