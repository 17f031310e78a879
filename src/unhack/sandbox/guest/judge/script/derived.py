"""Classes that the script derives from the solution's, and `super()` in their methods.

    class Mine(solution.Base):           a class of the solution's process
        def run(self):                   its methods run here, with a proxy as `self`
            return super().run() + 1     `super` of the solution's object

The solution's process gets the names, the data and stand-ins for the functions of the body, so its
own metaclass makes the class. No code of the script goes there.

Not covered, and refused: classes of tests, below `unittest.TestCase` of the solution or with
methods that a runner would collect.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import builtins
import sys
from typing import Any

from unhack.sandbox.guest.candidate.standard import NAMES, UnsharableError
from unhack.sandbox.guest.judge import proxies
from unhack.sandbox.guest.judge.proxies import Mirror, is_proxy, record_of
from unhack.sandbox.guest.judge.script.handed import is_case, is_script_class

_real_super = super
_LEFT_OUT = frozenset(
    ("__classcell__", "__dict__", "__weakref__", "__firstlineno__", "__static_attributes__")
)


def derive(name: str, bases: tuple[Any, ...], space: dict[str, Any], more: dict[str, Any]) -> type:
    """The class that a `class` statement below one of the solution's classes makes."""
    owner = next(base for base in bases if type(base) is Mirror)
    record = record_of(owner)
    seal = record.seal
    _check(seal, name, bases, space)
    cell = space.pop("__classcell__", None)
    body = {key: value for key, value in space.items() if key not in _LEFT_OUT}
    body["__annotations__"] = _annotations(body.get("__annotations__", {}))
    above = [_Mixin(base) if is_script_class(base) else base for base in bases]
    made = seal.ask("derive", record.number, name, args=(tuple(above), body, more))
    if type(made) is not Mirror:
        raise seal.violate(f"the class {name}, for which the solution's metaclass gives another")
    if cell is not None:
        cell.cell_contents = made
    builtins.super = sealed_super  # type: ignore[misc,assignment]
    return made


class _Mixin:
    """A base that is the script's own; the solution's process gets a class like it."""

    def __init__(self, kind: type) -> None:
        self.kind = kind


def write_mixin(value: Any, encode: Any) -> Any:
    """A base of the script's own as it is written, or None for anything else."""
    if type(value) is not _Mixin:
        return None
    kind = value.kind
    if is_case(kind):
        raise UnsharableError(f"{kind.__name__}, a class of tests")
    space = {key: one for key, one in vars(kind).items() if key not in _LEFT_OUT}
    above = [encode(_Mixin(base) if is_script_class(base) else base) for base in kind.__bases__]
    return {"$mixin": [kind.__name__, above, encode(space)]}


def _check(seal: Any, name: str, bases: tuple[Any, ...], space: dict[str, Any]) -> None:
    foreign = {one for base in bases if type(base) is Mirror for one in record_of(base).foreign}
    tests = [key for key, value in space.items() if key[:4] == "test" and not is_proxy(value)]
    if any(one.startswith("unittest.") for one in foreign) or (name[:4] == "Test" and tests):
        raise seal.violate(f"{name}, a class of tests that is derived from one of the solution")


def _annotations(given: dict[str, Any]) -> dict[str, Any]:
    """The annotations that can cross; the others as their text."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        known = type(value) is Mirror or value is None or isinstance(value, str)
        if known or (isinstance(value, type) and value in NAMES):
            found[name] = value
        else:
            found[name] = getattr(value, "__name__", None) or str(value)
    return found


class _SealedSuper:
    """`super` of an object or class of the solution."""

    __slots__ = ("_kind", "_target")

    def __init__(self, kind: Any, target: Any) -> None:
        object.__setattr__(self, "_kind", kind)
        object.__setattr__(self, "_target", target)

    def __getattribute__(self, name: str) -> Any:
        kind = object.__getattribute__(self, "_kind")
        target = object.__getattribute__(self, "_target")
        record = record_of(kind)
        return record.seal.ask("super", record.number, name, args=(target,))


def sealed_super(*args: Any) -> Any:
    """`super`, as Python has it, for the script's classes and for those below the solution's."""
    if args:
        kind, target = args[0], args[1] if len(args) > 1 else None
    else:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        names = frame.f_locals
        kind, target = names.get("__class__"), names.get(frame.f_code.co_varnames[0])
        if kind is None:
            raise RuntimeError("super(): no arguments")
    if type(kind) is not Mirror or "__sealed__" not in type.__getattribute__(kind, "__dict__"):
        return _real_super(kind, target) if target is not None else _real_super(kind)
    return _SealedSuper(kind, target)


proxies.DERIVE.append(derive)
