"""The solution's requests to the script while the judge waits for an answer.

    call       a function or class that the script handed over
    get, set, delete, dir    an attribute of an object that it handed over
    special, step            a special method of such an object

Covered: whatever the script raises goes back; a failed assertion, a skip and the end of the
solution are kept and raised again at the request, so that no `except` of the solution hides them;
the time counts as the solution's.
Not covered: what the script's own functions do with the arguments that they are given.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import enum
import time
import types
from typing import Any

from unhack.core import plain
from unhack.core.errors import SealError
from unhack.sandbox.guest.candidate import special
from unhack.sandbox.guest.candidate.standard import (
    NAMES,
    UnsharableError,
    is_unchanged,
    snapshot,
)
from unhack.sandbox.guest.judge.names import is_script_code
from unhack.sandbox.guest.judge.proxies import Mirror
from unhack.sandbox.guest.judge.script.handed import (
    HandedTable,
    LibraryCall,
    is_case,
    is_known_library,
    is_mock,
    is_script_class,
    is_stream,
    special_methods,
)

_MAX_CALLS = 200_000
_MAX_DEPTH = 60
_STREAM_NAMES = frozenset(
    (  # noqa: SIM905
        "closed encoding errors newlines mode name buffer raw line_buffering read readline "
        "readlines readinto readinto1 read1 peek readall write writelines flush seek tell truncate "
        "close isatty readable writable seekable getvalue detach"
    ).split()
)
_MOCKS_OWN = (
    "_",
    "assert",
    "mock_",
    "call_",
    "method_",
    "reset_",
    "configure_",
    "attach_",
    "await",
)
_SAX_STARTS = ("start", "end", "characters", "ignorable", "processing", "skipped", "setDocument")
_SAX_STARTS_TOO = ("notationDecl", "unparsedEntityDecl", "error", "fatalError", "warning")


class ScriptRequests:
    """The script's side of one connection."""

    def __init__(self, seal: Any) -> None:
        self._seal = seal
        self.table = HandedTable(lambda: seal.installed)
        self.pending: BaseException | None = None
        """Raised by the script inside a request; the request ends with it."""
        self._calls = 0
        self._depth = 0

    @property
    def is_called(self) -> bool:
        """True while the solution has the script do something."""
        return self._depth > 0

    def read(self, message: dict[str, Any], reader: Any) -> tuple[Any, ...]:
        """A request of the solution. Malformed ones raise what a connection takes for malformed."""
        what, number, name = message["callback"]
        if what not in _OPERATIONS or type(name) is not str:
            raise plain.PlainDataError("a request that is none")
        args = [reader.decode(item) for item in message.get("args", ())]
        kwargs = {str(key): reader.decode(item) for key, item in message.get("kwargs", {}).items()}
        return what, self.table[number], name, args, kwargs

    def serve(self, request: tuple[Any, ...], reader: Any, writer: Any) -> dict[str, Any]:
        """The reply to one request of the solution."""
        what, target, name, args, kwargs = request
        before = [snapshot(item) for item in reader.order]
        self._calls += 1
        self._depth += 1
        started, left = time.monotonic(), self._seal.left_s
        try:
            if self._calls > _MAX_CALLS or self._depth > _MAX_DEPTH:
                raise RecursionError("the script was called too often")
            value = _OPERATIONS[what](target, name, args, kwargs)
        except Exception as error:
            return self._raised(error, writer)
        except BaseException as error:
            self.pending = self.pending or error
            return {"abort": True}
        finally:
            self._depth -= 1
            waited = left - self._seal.left_s
            self._seal.left_s -= max(0.0, time.monotonic() - started - waited)
        writer.reply_to = {id(item): place for place, item in enumerate(reader.order)}
        try:
            reply = {"return": writer.encode(value)}
        except (UnsharableError, plain.PlainDataError, RecursionError) as error:
            return self._raised(self._seal.violate(f"the solution is given {error}"), writer)
        changed = [
            [place, writer.content_held(item)]
            for place, item in enumerate(reader.order)
            if not is_unchanged(item, before[place])
        ]
        return {**reply, **({"args": changed} if changed else {})}

    def _raised(self, error: Exception, writer: Any) -> dict[str, Any]:
        if isinstance(error, (AssertionError, SealError)):
            self.pending = self.pending or error
        try:
            return {"error": writer.encode(error)}
        except (UnsharableError, plain.PlainDataError, RecursionError):
            kind = next(item for item in type.mro(type(error)) if item in NAMES)
            shown = "" if issubclass(kind, AssertionError) else str(error)[:400]
            return {"error": {"$error": [NAMES[kind], [shown]]}}

    def take_pending(self) -> BaseException | None:
        """The error that the script raised and the solution may have kept to itself."""
        found, self.pending = self.pending, None
        return found

    def member(self, inner: Any) -> Any:
        """A member of an enumeration of the script. Malformed ones raise KeyError and its like."""
        number, name = inner
        kind = self.table[number]
        if not isinstance(kind, enum.EnumType):
            raise plain.PlainDataError("a member of what is no enumeration")
        return kind[str(name)]

    def made_error(self, number: Any, args: tuple[Any, ...]) -> Exception:
        """An error of a class of the script that the solution raised."""
        kind = self.table[number]
        if not (is_script_class(kind) and issubclass(kind, Exception)):
            raise plain.PlainDataError("an error of a class that is none")
        try:
            return kind(*args)
        except Exception:
            error = kind.__new__(kind)
            error.args = args
            return error

    def own_error(self, number: Any) -> Exception:
        """An error that the script raised."""
        error = self.table[number]
        if not isinstance(error, Exception):
            raise plain.PlainDataError("an error that is none")
        return error


def _call(target: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    del name
    if isinstance(target, type) and not is_script_class(target):
        raise TypeError("a class that only its objects were handed over of")
    if not isinstance(target, type) and not callable(target):
        raise TypeError("an object that was not handed over to be called")
    return target(*args, **kwargs)


def _is_defined(kind: type, name: str) -> bool:
    """True for a name that a class of the script defines as a function or a property."""
    for item in type.mro(kind):
        if not is_script_class(item) or name not in vars(item):
            continue
        value: Any = vars(item)[name]
        value = getattr(value, "fget", None) or getattr(value, "__func__", value)
        return type(value) is types.FunctionType and is_script_code(value.__code__)
    return False


def _may_read(target: Any, name: str) -> bool:
    """True for a name that an object that was handed over shows to the solution."""
    kind = type(target)
    if is_mock(target):
        own = name.startswith(_MOCKS_OWN) or hasattr(kind, name)
        return not own and name not in ("called", "side_effect", "return_value")
    if isinstance(target, type):
        return not name.startswith("_") or _is_defined(target, name)
    if is_script_class(kind):
        return not name.startswith("_") or _is_defined(kind, name)
    if kind is types.SimpleNamespace:
        return name in vars(target) and not name.startswith("_")
    if isinstance(target, (types.FunctionType, types.MethodType, types.BuiltinMethodType)):
        return False
    if is_stream(kind):
        return name in _STREAM_NAMES
    return name.startswith((*_SAX_STARTS, *_SAX_STARTS_TOO)) and hasattr(kind, name)


def _get(target: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    del args, kwargs
    if not _may_read(target, name):
        raise AttributeError(f"{type(target).__name__!r} object has no attribute {name!r}")
    found = getattr(target, name)
    is_method = callable(found) and is_known_library(type(target))
    return LibraryCall(target, name) if is_method else found


def _set(target: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> None:
    del kwargs
    _check_change(target, name)
    (value,) = args
    setattr(target, name, value)


def _delete(target: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> None:
    del args, kwargs
    _check_change(target, name)
    delattr(target, name)


def _check_change(target: Any, name: str) -> None:
    """Only data of the script's own objects may be changed, never what it calls them by."""
    kind = type(target)
    own = is_script_class(kind) and not is_case(kind) and not is_mock(target)
    if kind is not types.SimpleNamespace and not own:
        raise AttributeError(f"{kind.__name__!r} object does not let {name!r} be changed")
    found: Any = getattr(kind, name, None)
    is_data = isinstance(found, property) or not (callable(found) or hasattr(found, "__set__"))
    if name.startswith("_") or not is_data:
        raise AttributeError(f"{kind.__name__!r} object does not let {name!r} be changed")


def _dir(target: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> list[str]:
    del name, args, kwargs
    return [one for one in dir(target) if _may_read(target, one)]


def _special(target: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    kind = type(target)
    if kind is Mirror or name not in special.ALL or name not in special_methods(kind):
        raise AttributeError(f"{kind.__name__!r} object has no {name!r}")
    return getattr(kind, name)(target, *args, **kwargs)


def _step(target: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if name != "__next__":
        raise AttributeError(name)
    return _special(target, name, args, kwargs)


_OPERATIONS = {
    "call": _call,
    "get": _get,
    "set": _set,
    "delete": _delete,
    "dir": _dir,
    "special": _special,
    "step": _step,
}
