"""The recorder of the calls that a verifier makes of a known-correct program.

Its text is put, with `PATH` set, into the program itself (`unhack.audit.subjects.recording`), so
that it is there wherever the program runs: imported, executed, in processes of their own. It
appends lines of tagged JSON to a file:

    ["call", name, args, kwargs, [result]]     of a function or static method, by the verifier
    ["new", class, number, args, kwargs]       of an object, which has this number from now on
    ["do", number, method, args, kwargs]
    ["end", number]                            it was used in a way that cannot be written down
    ["run", number, argv]                      of the whole program
    ["input", number, text]                    what came on its standard input

Numbers are unique over processes. Only calls from outside are written down, none that the program
makes itself.

Covered: functions, lambdas and classes at the top level, containers' special methods; standard
input as a descriptor, a text in memory, or a replaced `input`.
Not covered: values that are not plain data, attributes, coroutines; what is beyond `ROOM`.
"""

from __future__ import annotations

import base64
import builtins
import codecs
import functools
import json
import os
import sys
import threading
import types
from typing import Any, cast

PATH = ""
"""The file; the host sets it."""
ROOM, LONGEST, DEEPEST = 400_000, 20_000, 30
_NAMES = "call len contains getitem setitem delitem iter next bool str"
_SPECIAL = frozenset(f"__{name}__" for name in _NAMES.split(" "))
_state = threading.local()
_OWN = os.urandom(4).hex()
"""Tells objects of this copy from those of another one in the same process."""
_objects: dict[int, tuple[str, Any]] = {}
"""By identity: (number, the object itself, so that nothing else gets its identity)."""
_AWAITED = 0x0080 | 0x0200
"""Code flags of coroutines and asynchronous generators, which are left as they are."""


class _NotPlainError(Exception):
    """A value that is not plain data."""


def _encode(value: Any, depth: int = 0) -> Any:
    kind = cast("Any", type(value))
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if abs(value) < 1 << 1000 else {"$int": hex(value)}
    if kind is float:
        if value - value == 0.0:
            return value
        return {"$float": "inf" if value > 0 else "-inf" if value < 0 else "nan"}
    if depth > DEEPEST:
        raise _NotPlainError
    if kind is bytes:
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    if kind in (list, tuple, set, frozenset):
        items = [_encode(item, depth + 1) for item in value]
        if kind in (set, frozenset):
            items.sort(key=json.dumps)
        return items if kind is list else {f"${kind.__name__}": items}
    if kind is dict:
        if all(type(key) is str and key[:1] != "$" for key in value):
            return {key: _encode(item, depth + 1) for key, item in value.items()}
        pairs = [[_encode(k, depth + 1), _encode(item, depth + 1)] for k, item in value.items()]
        return {"$dict": pairs}
    raise _NotPlainError


def _write(line: list[Any]) -> None:
    data = json.dumps(line).encode() + b"\n"
    try:
        file = os.open(PATH, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    except OSError:
        return
    try:
        if len(data) <= LONGEST and os.fstat(file).st_size + len(data) <= ROOM:
            os.write(file, data)
    except OSError:
        pass
    finally:
        os.close(file)


def _plain(*values: Any) -> list[Any] | None:
    try:
        return [_encode(value) for value in values]
    except (_NotPlainError, RecursionError, ValueError):
        return None


def _outside() -> bool:
    return not getattr(_state, "inside", False)


def _call_inside(function: Any, args: Any, kwargs: Any) -> Any:
    _state.inside = True
    try:
        return function(*args, **kwargs)
    finally:
        _state.inside = False


def wrap(thing: Any) -> Any:
    """The function or class with calls from outside written down; anything else as it is."""
    if isinstance(thing, types.FunctionType):
        return _function(thing, thing.__name__)
    kind: Any = thing
    if isinstance(thing, type) and not issubclass(thing, BaseException):
        _watch_class(kind)
    return kind


def wrap_lambda(thing: Any, name: str) -> Any:
    """`wrap` for a function without a name of its own."""
    return _function(thing, name) if isinstance(thing, types.FunctionType) else thing


def _function(function: types.FunctionType, name: str) -> Any:
    if function.__code__.co_flags & _AWAITED:
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not _outside():
            return function(*args, **kwargs)
        given = _plain(name, list(args), kwargs)  # before the call, which may change them
        results: list[Any] = []
        try:
            results.append(_call_inside(function, args, kwargs))
            return results[0]
        finally:
            if given is not None:
                _write(["call", *given, _plain(*results) or []])

    return call


def _watch_class(kind: Any) -> None:
    """Replace the methods of a class by those that write calls down."""
    own_start = "__init__" in vars(kind)
    start: Any = kind.__init__
    if not own_start and (start is not object.__init__ or kind.__new__ is not object.__new__):
        return  # how its objects are made is not seen here
    members: dict[str, Any] = dict(kind.__dict__)
    for name, value in members.items():
        if name.startswith("_") and name not in _SPECIAL and name != "__init__":
            continue
        changed: Any = None
        if isinstance(value, staticmethod):
            inner: Any = value.__func__  # pyright: ignore[reportUnknownMemberType]
            if isinstance(inner, types.FunctionType):
                changed = staticmethod(_function(inner, f"{kind.__name__}.{name}"))
        elif isinstance(value, types.FunctionType) and not value.__code__.co_flags & _AWAITED:
            changed = _start(value) if name == "__init__" else _method(value, name, kind)
        if changed is not None:
            try:
                setattr(kind, name, changed)
            except (AttributeError, TypeError):
                return


def _start(function: Any) -> Any:
    @functools.wraps(function)
    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        if not _outside():
            _objects.setdefault(id(self), ("", self))
            return function(self, *args, **kwargs)
        _begin(self, type(self), args, kwargs)
        return _call_inside(function, (self, *args), kwargs)

    return start


def _begin(self: Any, kind: Any, args: Any, kwargs: Any) -> str:
    given = _plain(list(args), kwargs)
    number = f"{os.getpid()}.{_OWN}.{len(_objects)}" if given is not None else ""
    _objects[id(self)] = (number, self)
    if given is not None:
        _write(["new", kind.__name__, number, *given])
    return number


def _method(function: Any, name: str, kind: Any) -> Any:
    own_start = "__init__" in vars(kind)

    @functools.wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not _outside():
            return function(self, *args, **kwargs)
        number = _objects.get(id(self), (None,))[0]
        if number is None:
            number = "" if own_start else _begin(self, type(self), (), {})
        if number:
            given = _plain(name, list(args), kwargs)
            _write(["end", number] if given is None else ["do", number, *given])
        return _call_inside(function, (self, *args), kwargs)

    return method


# Whole programs.


def watch_run(space: dict[str, Any]) -> None:
    """Note that the program runs, and what comes on its standard input."""
    if space.get("__name__") != "__main__":
        return
    number = f"{os.getpid()}.{_OWN}"
    _write(["run", number, [str(word) for word in sys.argv[1:]]])
    given: Any = sys.stdin
    if given is sys.__stdin__ and given is not None:
        _copy_descriptor(number)
    elif not _note_memory(number, given):
        _copy_lines(number, given)
    asked = space.get("input", builtins.input)
    if not isinstance(asked, types.BuiltinFunctionType):
        space["input"] = _noting(number, asked)


def _noting(number: str, asked: Any) -> Any:
    @functools.wraps(asked)
    def ask(*args: Any, **kwargs: Any) -> Any:
        line = asked(*args, **kwargs)
        _write(["input", number, f"{line}\n"])
        return line

    return ask


def _note_memory(number: str, given: Any) -> bool:
    """Note the rest of a text in memory."""
    try:
        if hasattr(given, "getvalue"):
            _write(["input", number, given.getvalue()[given.tell() :]])
            return True
        data = given.buffer.getvalue()
        _write(["input", number, data.decode("utf-8", "replace")])
    except Exception:
        return False
    return True


def _copy_lines(number: str, given: Any) -> None:
    """Note the lines that a replaced stream hands out."""
    for name in ("readline", "read"):
        inner = getattr(given, name, None)
        if inner is None:
            continue

        def noted(*args: Any, inner: Any = inner) -> Any:
            text = inner(*args)
            _write(["input", number, str(text)])
            return text

        try:
            setattr(given, name, noted)
        except (AttributeError, TypeError):
            return


def _copy_descriptor(number: str) -> None:
    """Put a pipe in front of descriptor 0, through which everything goes and is noted."""
    try:
        source = os.dup(0)
        reading, writing = os.pipe()
        os.dup2(reading, 0)
        os.close(reading)
    except OSError:
        return

    decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def copy() -> None:
        try:
            while data := os.read(source, 4096):
                _write(["input", number, decode(data)])
                while data:
                    data = data[os.write(writing, data) :]
        except OSError:
            pass
        finally:
            os.close(writing)

    threading.Thread(target=copy, daemon=True).start()
