"""The judge's half of a seal: a solution that is imported, called, and never present.

The file at the solution's path is a stub that fills its namespace with proxies, so `import`,
`importlib` and `runpy` all work. A call sends its arguments to the candidate's process and returns
plain data with exact types; exceptions come back as the nearest builtin class; arguments that the
candidate changed in place are changed here too. Objects that are not data come back as handles,
whose methods can be called.

Covered: functions, classes, methods, module data, mutated list/dict/set arguments, exceptions. A
star import brings no name that is builtin or that the importing script has bound already.
Not covered, and therefore a `SealError` that no `except` in the verifier can hide: reading the
solution's source text, starting it as a process, generators, comparing, iterating or measuring a
handle.
"""

from __future__ import annotations

import builtins
import functools
import os
import select
import sys
import threading
import time
import types
from typing import Any, cast

from unhack.core import plain
from unhack.core.errors import SealError

PEER = 4
_MAX_BYTES = 8 << 20
_STUB = "import _unhack_seal\n_unhack_seal.expose({name!r}, globals())\n"
_PROCESS_EVENTS = {
    "subprocess.Popen",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "os.exec",
}


class CandidateEndedError(RuntimeError):
    """The candidate's process is gone (a limit, a crash, an exit)."""


class CandidateExitError(RuntimeError):
    """The candidate raised SystemExit, KeyboardInterrupt or another exception that is no error."""


class CandidateConnection:
    """The connection to the candidate, and the record of what could not cross."""

    def __init__(self, modules: list[str], home: str, *, wait_s: float) -> None:
        """`wait_s`: how long the judge waits for the candidate, all calls together."""
        self.modules = modules
        self.left_s = wait_s
        self.timed_out = False
        self.home = home
        self.violation = ""
        self.names: dict[str, list[str]] = {}
        self.loaded = False
        self._buffer = b""
        self._lock = threading.RLock()
        self._broken = False

    def stub(self, name: str) -> str:
        """The text at the path of module `name`."""
        return _STUB.format(name=name)

    def open(self) -> None:
        """Wait for the candidate to be loaded, and stand where imports find it."""
        try:
            self._receive(counted=False)  # it may wait for a slot; from here on its time counts
            first = self._receive()
        except CandidateEndedError:
            first = {}
        self.loaded = first.get("load") is True
        if self.loaded:
            self.names = _read_names(first.get("names"))
        module = types.ModuleType("_unhack_seal")
        module.expose = self.expose  # type: ignore[attr-defined]
        sys.modules["_unhack_seal"] = module
        paths = {os.path.join(self.home, f"{name}.py") for name in self.modules}
        sys.addaudithook(lambda event, args: self._audit(event, args, paths))

    def expose(self, name: str, namespace: dict[str, Any]) -> None:
        """Fill a stub's namespace with what the candidate's module defines."""
        if not self.loaded:
            raise ImportError(f"the candidate's {name} could not be loaded")
        for item in self.names.get(name, []):
            namespace[item] = self._fetch(name, item)
        namespace.setdefault("__getattr__", functools.partial(self._attribute, name))

    def violate(self, what: str) -> SealError:
        """Note, and return as an error, something that cannot cross."""
        self.violation = self.violation or (
            f"{what}. In the sealed mode the solution runs in a process of its own; import it and "
            'call it with plain data, or choose mode = "as_written"'
        )
        return SealError(self.violation)

    def call(self, owner: str | int, name: str, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Call a function in the candidate's process."""
        try:
            encoded = [plain.encode_tags(item) for item in args]
            keywords = {key: plain.encode_tags(item) for key, item in kwargs.items()}
        except plain.PlainDataError as error:
            raise self.violate(f"an argument of {name} is not plain data ({error})") from None
        if "$opaque" in repr([encoded, keywords]) and _has_opaque([encoded, keywords]):
            raise self.violate(f"an argument of {name} is not plain data")
        answer = self._ask({"call": [owner, name], "args": encoded, "kwargs": keywords})
        for index, changed in _pairs(answer.get("args")):
            if 0 <= index < len(args):
                _change(args[index], plain.to_builtins(plain.decode_tags(changed)))
        return self._value(answer.get("ok"))

    def _attribute(self, module: str, name: str) -> Any:
        """The attribute of the stub that it does not define; a star import asks for `__all__`."""
        if name != "__all__":
            return self._fetch(module, name)
        taken = sys._getframe(1).f_locals  # pyright: ignore[reportPrivateUsage]
        return [
            item
            for item in self.names.get(module, [])
            if item[:1] != "_" and item not in taken and not hasattr(builtins, item)
        ]

    def _fetch(self, module: str, name: str) -> Any:
        answer = self._ask({"get": [module, name]})
        if answer.get("kind") in {"function", "class"}:
            return Function(self, module, name)
        return self._value(answer.get("ok"))

    def _value(self, encoded: Any) -> Any:
        try:
            if isinstance(encoded, dict) and "$handle" in encoded:
                number, kind = cast("dict[str, Any]", encoded)["$handle"]
                return Handle(self, int(number), str(kind))
            value = plain.to_builtins(plain.decode_tags(encoded))
        except (plain.PlainDataError, ValueError, TypeError) as error:
            raise CandidateEndedError(f"the candidate answered with {error}") from None
        if _has_opaque_value(value):
            raise self.violate("the solution returned a container that holds an object")
        return value

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            if self._broken:
                raise CandidateEndedError("the candidate's process has ended")
            self._broken = True  # until the answer is whole: an alarm may interrupt the read
            self._send(plain.encode_json(request).encode() + b"\n")
            answer = self._receive()
            self._broken = False
        if "raise" in answer:
            raise _rebuild(answer["raise"])
        return answer

    def _send(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(PEER, data) :]
        except OSError:
            raise CandidateEndedError("the candidate's process has ended") from None

    def _wait(self) -> None:
        """Wait for something to read. Raises CandidateEndedError when the time is used up."""
        started = time.monotonic()
        ready, _, _ = select.select([PEER], [], [], max(0.0, self.left_s))
        self.left_s -= time.monotonic() - started
        if not ready:
            self.timed_out = True
            raise CandidateEndedError("the candidate's time is used up")

    def _receive(self, *, counted: bool = True) -> dict[str, Any]:
        parts = [self._buffer]
        size = len(self._buffer)
        while b"\n" not in parts[-1]:
            if counted:
                self._wait()
            try:
                data = os.read(PEER, 1 << 18)
            except OSError:
                data = b""
            size += len(data)
            if not data or size > _MAX_BYTES:
                raise CandidateEndedError("the candidate's process has ended")
            parts.append(data)
        line, _, self._buffer = b"".join(parts).partition(b"\n")
        try:
            answer = plain.parse_json(line)
        except plain.PlainDataError as error:
            raise CandidateEndedError(f"the candidate answered with {error}") from None
        if not isinstance(answer, dict):
            raise CandidateEndedError("the candidate's answer is not an object")
        return cast("dict[str, Any]", answer)

    def _audit(self, event: str, args: tuple[Any, ...], paths: set[str]) -> None:
        if event in _PROCESS_EVENTS:
            raise self.violate("the verifier starts a process")
        if event == "open" and isinstance(args[0], (str, bytes)):
            path = os.path.join(os.getcwd(), os.fsdecode(args[0]))
            if os.path.normpath(path) in paths and not _is_importing():
                raise self.violate("the verifier reads the solution's source text")


def _is_importing() -> bool:
    """True when the file is being opened by an import, or by runpy."""
    frame: Any = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    for _ in range(8):
        if frame is None:
            return False
        name = frame.f_code.co_filename
        if name.startswith(("<frozen importlib", "<frozen runpy")):
            return True
        if name.endswith(("/runpy.py", "/importlib/util.py")):
            return True
        frame = frame.f_back
    return False


class Function:
    """A function or class of the candidate."""

    def __init__(self, seal: CandidateConnection, owner: str | int, name: str) -> None:
        self.__seal, self.__owner = seal, owner
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__seal.call(self.__owner, self.__name__, args, kwargs)

    def __repr__(self) -> str:
        return f"<{self.__name__} of the solution>"


class Handle:
    """An object that stays with the candidate; its methods can be called."""

    def __init__(self, seal: CandidateConnection, number: int, kind: str) -> None:
        self.__dict__.update(_Handle__seal=seal, _Handle__number=number, _Handle__kind=kind)

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise self.__seal.violate(f"{name} of a {self.__kind} object")
        return Function(self.__seal, self.__number, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise self.__seal.violate(f"setting {name} on a {self.__kind} object")

    def __repr__(self) -> str:
        return f"<{self.__kind} of the solution>"

    def __hash__(self) -> int:
        raise self.__seal.violate(f"the hash of a {self.__kind} object")


def _refuse(name: str) -> Any:
    def method(self: Any, *args: Any) -> Any:
        raise self._Handle__seal.violate(f"{name} of a {self._Handle__kind} object")

    return method


for _name in [
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__len__",
    "__iter__",
    "__next__",
    "__bool__",
    "__getitem__",
    "__contains__",
    "__int__",
    "__float__",
    "__index__",
    "__add__",
    "__radd__",
    "__sub__",
    "__mul__",
    "__call__",
    "__enter__",
]:
    setattr(Handle, _name, _refuse(_name))


def _rebuild(described: Any) -> Exception:
    """The nearest builtin exception class to the one that the candidate raised."""
    try:
        names, message = described
        text = str(message)
        for name in names:
            kind = getattr(builtins, str(name), None)
            if isinstance(kind, type) and issubclass(kind, Exception):
                return _make(kind, text)
            if isinstance(kind, type) and issubclass(kind, BaseException):
                return CandidateExitError(f"{name}: {text}")
    except (TypeError, ValueError):
        pass
    return CandidateExitError("an exception that cannot be described")


def _make(kind: type[Exception], text: str) -> Exception:
    try:
        return kind(text)
    except TypeError:  # UnicodeDecodeError and its kin want more arguments
        return RuntimeError(f"{kind.__name__}: {text}")


def _read_names(value: Any) -> dict[str, list[str]]:
    """Module name -> public names, as the candidate claims them."""
    try:
        return {str(key): [str(item) for item in names] for key, names in value.items()}
    except (AttributeError, TypeError):
        return {}


def _pairs(value: Any) -> list[Any]:
    if not isinstance(value, list):
        return []
    pairs = cast("list[Any]", value)
    return [pair for pair in pairs if isinstance(pair, list) and len(cast("list[Any]", pair)) == 2]


def _change(target: Any, value: Any) -> None:
    """Change an argument as the candidate changed its copy."""
    kind = cast("type[Any]", type(target))
    if kind is not type(value):
        return
    if kind is list:
        target[:] = value
    elif kind is dict or kind is set:
        target.clear()
        target.update(value)


def _has_opaque(encoded: Any) -> bool:
    kind = cast("type[Any]", type(encoded))
    if kind is list:
        return any(map(_has_opaque, encoded))
    return kind is dict and ("$opaque" in encoded or any(map(_has_opaque, encoded.values())))


def _has_opaque_value(value: Any) -> bool:
    kind = cast("type[Any]", type(value))
    if kind is plain.Opaque:
        return True
    if kind in (list, tuple, set, frozenset):
        return any(map(_has_opaque_value, value))
    return kind is dict and any(map(_has_opaque_value, value.values()))
