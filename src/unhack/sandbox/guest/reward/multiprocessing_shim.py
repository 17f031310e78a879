"""A shim for `multiprocessing` where there is neither shared memory nor a socket.

Many graders run what they are given in a process of their own, or keep a pool of workers. Inside
the sandbox named semaphores cannot be made; here they are pipes, and the lists of a `Manager` are
files, so that such graders run as their author wrote them, with real processes.

Covered: `Process`, `Pool`, `ProcessPoolExecutor`, queues, locks, conditions, events, `Pipe`,
`Manager` with lists, dicts, values and queues; `spawn` and `forkserver` become `fork`.
Not covered: shared memory blocks; managers with classes of their own; more than some thousand
permits of one semaphore, which never run out.
"""

from __future__ import annotations

import multiprocessing.connection
import multiprocessing.context
import multiprocessing.heap
import multiprocessing.managers
import multiprocessing.synchronize
import os
import pickle
import resource
import select
import tempfile
import threading
import time
import types
from typing import Any, cast

_MAX_PERMITS = 4096
_RECURSIVE = 0
_LISTED = (
    "append", "extend", "insert", "pop", "remove", "reverse", "sort", "clear", "count", "index",
    "__len__", "__getitem__", "__setitem__", "__delitem__", "__contains__",
)  # fmt: skip
_MAPPED = (
    "get", "pop", "setdefault", "update", "clear", "__len__", "__getitem__", "__setitem__",
    "__delitem__", "__contains__",
)  # fmt: skip


class PipeLock:
    """A semaphore whose permits are bytes in a pipe; `kind` 0 may be taken again by its owner."""

    SEM_VALUE_MAX = 2**31 - 1

    def __init__(self, kind: int, value: int, maxvalue: int, *more: Any) -> None:
        self.kind, self.maxvalue, self.name, self.handle = kind, maxvalue, None, 0
        self.endless = value > _MAX_PERMITS
        self.held = 0
        self.owner: tuple[int, int] | None = None
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        if not self.endless:
            os.write(self.writer, b"." * value)

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        """Take a permit; False when there is none in time."""
        if self.kind == _RECURSIVE and self._is_mine():
            self.held += 1
            return True
        until = None if timeout is None else time.monotonic() + max(0.0, timeout)
        while not self.endless:
            try:
                if os.read(self.reader, 1):
                    break
            except BlockingIOError:
                pass
            rest = None if until is None else until - time.monotonic()
            if not block or (rest is not None and rest <= 0):
                return False
            select.select([self.reader], [], [], rest)
        self.held += 1
        self.owner = (os.getpid(), threading.get_ident())
        return True

    def release(self) -> None:
        """Give a permit back."""
        self.held = max(0, self.held - 1)
        if not self.endless and not (self.kind == _RECURSIVE and self.held):
            os.write(self.writer, b".")

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *details: object) -> None:
        self.release()

    def _count(self) -> int:
        return self.held

    def _is_mine(self) -> bool:
        return self.held > 0 and self.owner == (os.getpid(), threading.get_ident())

    def _is_zero(self) -> bool:
        return not self.endless and not select.select([self.reader], [], [], 0)[0]

    def _get_value(self) -> int:
        return 0 if self._is_zero() else 1

    def _after_fork(self) -> None:
        self.held = 0


class Kept:
    """A value that several processes read and change: a file."""

    def __init__(self, value: Any) -> None:
        handle, path = tempfile.mkstemp()
        os.close(handle)
        object.__setattr__(self, "_path", path)
        self._write(value)

    def kept_value(self) -> Any:
        """The value as it is now."""
        with open(self.__dict__["_path"], "rb") as file:
            return pickle.load(file)  # noqa: S301 - its own processes wrote it

    def _write(self, value: Any) -> None:
        with open(self.__dict__["_path"], "wb") as file:
            pickle.dump(value, file)

    def kept_call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a method of the value and keep what became of it."""
        value = self.kept_value()
        found = getattr(value, name)(*args, **kwargs)
        self._write(value)
        return found

    def __repr__(self) -> str:
        return repr(self.kept_value())


def _make_kept(name: str, methods: tuple[str, ...], views: tuple[str, ...] = ()) -> Any:
    def method(called: str) -> Any:
        def run(self: Kept, *args: Any, **kwargs: Any) -> Any:
            return self.kept_call(called, args, kwargs)

        return run

    def view(called: str) -> Any:
        def run(self: Kept) -> Any:
            return list(getattr(self.kept_value(), called)())

        return run

    def items(self: Kept) -> Any:
        return iter(self.kept_value())

    def equal(self: Kept, other: Any) -> bool:
        return bool(self.kept_value() == other)

    members: dict[str, Any] = {called: method(called) for called in methods}
    members |= {called: view(called) for called in views}
    members |= {"__iter__": items, "__eq__": equal, "__hash__": None, "copy": Kept.kept_value}
    return type(name, (Kept,), members)


KeptList = _make_kept("KeptList", _LISTED)
KeptDict = _make_kept("KeptDict", _MAPPED, ("keys", "values", "items"))


class KeptFields(Kept):
    """A namespace, or the `value` of a shared variable."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.kept_value()[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._write({**self.kept_value(), name: value})


class Manager:
    """A stub for `multiprocessing.Manager()`, without a server."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.context = multiprocessing.context.BaseContext

    def start(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: there is no server to start."""

    shutdown = connect = start

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, *details: object) -> None:
        return None

    def list(self, items: Any = ()) -> Any:
        """A shared list."""
        return KeptList([*items])

    def dict(self, *args: Any, **kwargs: Any) -> Any:
        """A shared dict."""
        return KeptDict(dict(*args, **kwargs))

    def Value(self, kind: Any, value: Any, *more: Any) -> Any:  # noqa: N802
        """A shared variable."""
        return KeptFields({"value": value})

    def Namespace(self, **fields: Any) -> Any:  # noqa: N802
        """SharedContainers attributes."""
        return KeptFields(fields)

    def __getattr__(self, name: str) -> Any:
        """Queues, locks and events are those of `multiprocessing`."""
        return getattr(multiprocessing, name)


class _Duplex:
    """Both directions of a pipe."""

    def __init__(self, reader: Any, writer: Any) -> None:
        self._reader, self._writer = reader, writer

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def __enter__(self) -> _Duplex:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer if name.startswith("send") else self._reader, name)


def _nothing(name: str) -> None:
    """Do nothing: there is nothing to unlink."""


def install() -> None:
    """Make `multiprocessing` of this process need pipes and files only."""
    lock: Any = types.SimpleNamespace(SemLock=PipeLock, sem_unlink=_nothing)
    cast("Any", multiprocessing.synchronize)._multiprocessing = lock
    cast("Any", multiprocessing.managers).SyncManager = Manager
    cast("Any", multiprocessing.heap.Arena)._dir_candidates = []  # `Value` and `Array` are files
    contexts: dict[str, Any] = cast("Any", multiprocessing.context)._concrete_contexts
    contexts["spawn"] = contexts["forkserver"] = contexts["fork"]
    pipe: Any = multiprocessing.connection.Pipe

    def both(duplex: bool = True) -> tuple[Any, Any]:
        if not duplex:
            return pipe(False)
        one, two = pipe(False), pipe(False)
        return _Duplex(one[0], two[1]), _Duplex(two[0], one[1])

    cast("Any", multiprocessing.connection).Pipe = both
    _keep_limits()


def _keep_limits() -> None:
    """A grader that sets limits above those of the sandbox gets those of the sandbox."""
    real: Any = resource.setrlimit

    def set_limit(which: int, limits: tuple[int, int]) -> None:
        hard = resource.getrlimit(which)[1]
        free = resource.RLIM_INFINITY
        if hard != free:
            limits = cast("Any", tuple(hard if one == free else min(one, hard) for one in limits))
        real(which, limits)

    resource.setrlimit = set_limit
