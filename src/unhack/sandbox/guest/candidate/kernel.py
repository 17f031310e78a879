"""Mode `kernel`: functions of a submission over memory that the judge owns.

    {"folder", "entry", "environ"}   entry `*.so` (C functions) or `*.py` (Python functions)

Packets on the peer channel (a `SOCK_SEQPACKET` socket), one at a time:

    JSON {"bytes", "functions"} + one descriptor   b"R"      the shared memory is mapped
    b"L"                                           b"R"      the submission is loaded
    b"G" token index values...                     token     the call has returned
                                                   b"E" text it raised, or could not be loaded

`functions` are [name, kinds]. A kind is "i" (an integer), or [dtype, axes, writable] (an array: its
offset in the shared memory, for Python followed by its sizes). C gets addresses and integers.

Covered: any number of calls; the cost beside the call itself is a few microseconds.
Not covered: anything that has to be true. The submission's code runs in this process; the clock,
the inputs and what outputs ought to be are elsewhere.
"""

from __future__ import annotations

import _socket as socket  # what a fork server has loaded anyway
import ctypes
import importlib
import importlib.util
import json
import os
import struct
import sys
from collections.abc import Callable
from typing import Any

from unhack.sandbox.guest.candidate import serve

PEER = serve.PEER
READY, LOAD, GO, ERROR = b"R", b"L", b"G", b"E"
TOKEN = 16
HEAD = struct.Struct(f"<c{TOKEN}sI")
_FD = struct.Struct("i")
_MOST = 1 << 16

Caller = Callable[[tuple[int, ...]], None]


def run(job: dict[str, Any]) -> int:
    """Map the shared memory, load the submission, then answer until the judge hangs up."""
    # With all four given, the socket is taken as it is: no system call asks what it may be.
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, PEER)
    message, ancillary, _, _ = peer.recvmsg(_MOST, socket.CMSG_SPACE(_FD.size))
    (fd,) = _FD.unpack(ancillary[0][2])
    plan = json.loads(message)
    memory = importlib.import_module("mmap").mmap(fd, plan["bytes"])  # no other job needs it
    os.close(fd)
    os.environ.update(job["environ"])
    peer.send(READY)
    if peer.recv(_MOST) != LOAD:
        return 0
    path = f"{job['folder']}/{job['entry']}"
    try:
        bind = _bind_library if path.endswith(".so") else _bind_module
        callers = bind(path, plan["functions"], memory)
    except BaseException as error:
        peer.send(_words(error))
        return 0
    peer.send(READY)
    _serve(peer, callers)
    return 0


def _serve(peer: socket.socket, callers: list[Caller]) -> None:
    while data := peer.recv(_MOST):
        _, token, index = HEAD.unpack_from(data)
        values = struct.unpack_from(f"<{(len(data) - HEAD.size) // 8}q", data, HEAD.size)
        try:
            callers[index](values)
        except BaseException as error:
            token = _words(error)
        peer.send(token)


def _words(error: BaseException) -> bytes:
    names, text = serve.describe(error)
    return ERROR + f"{names[0]}: {text}".encode(errors="replace")[:2000]


def _bind_library(path: str, functions: list[Any], memory: Any) -> list[Caller]:
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    library = ctypes.CDLL(path)
    return [_native(getattr(library, name), kinds, base) for name, kinds in functions]


def _native(function: Any, kinds: list[Any], base: int) -> Caller:
    shifts = tuple(0 if kind == "i" else base for kind in kinds)
    function.argtypes = [ctypes.c_int64 if kind == "i" else ctypes.c_void_p for kind in kinds]
    function.restype = None

    def call(values: tuple[int, ...]) -> None:
        function(*map(int.__add__, values, shifts))

    return call


def _bind_module(path: str, functions: list[Any], memory: Any) -> list[Caller]:
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("submission", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["submission"] = module
    spec.loader.exec_module(module)
    return [_python(getattr(module, name), kinds, memory) for name, kinds in functions]


def _python(function: Any, kinds: list[Any], memory: Any) -> Caller:
    numpy: Any = importlib.import_module("numpy")  # in the worker only: it is preloaded there

    def call(values: tuple[int, ...]) -> None:
        rest = iter(values)
        arguments: list[Any] = []
        for kind in kinds:
            first = next(rest)
            if kind == "i":
                arguments.append(first)
                continue
            dtype, axes, writable = kind
            shape = tuple(next(rest) for _ in range(axes))
            array = numpy.ndarray(shape, dtype, memory, first)
            array.flags.writeable = writable
            arguments.append(array)
        function(*arguments)

    return call
