"""Mode `compute`: a submission's process. It computes what a judge outside asks for.

    {"folder", "entry"}     the submission's directory, its main module (a file name)

Requests and answers are frames on the peer channel (see `candidate.frames`), one at a time:

    ["call", name, [args], {kwargs}]   ["ok", value]  or  ["raised", [class names], message]
    ["files", directory]               ["ok", {name: bytes}]: what lies below /scratch/work/...

After `load` the first answer is ["ok", [names]] or ["raised", ...]. Everything is a claim: the
submission's code runs in this process and may answer what it likes.

Covered: modules of several files, arrays, files that the submission wrote.
Not covered: anything that has to be true; the judge measures that.
"""

from __future__ import annotations

import importlib.util
import os
import stat
import sys
import types
from typing import Any

from unhack.sandbox.guest.candidate import frames, serve

PEER = serve.PEER
SCRATCH = "/scratch/work"
_MAX_BYTES = 1 << 32
_write, _read = os.write, os.read


def run(job: dict[str, Any]) -> int:
    """Load the submission, then answer until the judge hangs up."""
    try:
        module = _load(job["folder"], job["entry"])
        answer: list[Any] = ["ok", sorted(key for key in module.__dict__ if key[:1] != "_")]
    except BaseException as error:
        _send(["raised", *serve.describe(error)])
        return 0
    _send(answer)
    while (request := _receive()) is not None:
        try:
            answer = ["ok", _answer(module, request)]
            parts = frames.encode(answer)
        except BaseException as error:
            parts = frames.encode(["raised", *serve.describe(error)])
        _send_parts(parts)
    return 0


def _load(folder: str, entry: str) -> types.ModuleType:
    sys.path.insert(0, folder)
    path = os.path.join(folder, entry)
    spec = importlib.util.spec_from_file_location("submission", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["submission"] = module
    spec.loader.exec_module(module)
    return module


def _answer(module: Any, request: list[Any]) -> Any:
    if request[0] == "files":
        return _files(os.path.join(SCRATCH, request[1]))
    _, name, args, kwargs = request
    return getattr(module, name)(*args, **kwargs)


def _files(top: str) -> dict[str, bytes]:
    """Regular files below a directory, by their relative paths."""
    found: dict[str, bytes] = {}
    for place, folders, names in os.walk(top):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(fd, "rb") as file:
                if stat.S_ISREG(os.fstat(fd).st_mode):
                    found[os.path.relpath(path, top)] = file.read()
    return found


def _send(answer: list[Any]) -> None:
    _send_parts(frames.encode(answer))


def _send_parts(parts: list[bytes]) -> None:
    for part in parts:
        view = memoryview(part)
        while view:
            view = view[_write(PEER, view) :]


def _receive() -> list[Any] | None:
    try:
        header, body = frames.sizes(bytes(_exactly(frames.HEADER.size)), max_bytes=_MAX_BYTES)
        return frames.decode(bytes(_exactly(header)), _exactly(body))
    except EOFError:
        return None


def _exactly(count: int) -> bytearray:
    data = bytearray()
    while len(data) < count:
        part = _read(PEER, min(count - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return data
