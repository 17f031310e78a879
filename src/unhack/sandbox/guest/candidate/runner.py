"""The life of a job once it is forked: read its message, apply the last layers, run, answer.

The message is JSON with at least `mode`, `rlimits` and `disk`. Results are lines of JSON on the job
channel. Nothing here knows an expected value; whatever a candidate writes on the channel is a
claim.

    calls     load `source`, call `entry` once for each of `calls`         [index, "ok", value] …
    main      run `source` as a program with stdin and stdout              [null, "done"]
    serve     load `modules`, answer calls that arrive on the peer channel
    program   run `argv` in the private directory                          [null, "exit", …]
    compute   load a submission's folder, answer calls with arrays on the peer channel
    kernel    call a submission's functions on memory of the judge
    (judge)   trusted code that looks at claims: see `judge.modes`
"""

from __future__ import annotations

import json
import os
import struct
import sys
import types
from collections.abc import Callable
from typing import Any

from unhack.core import plain
from unhack.sandbox.guest.candidate import (
    compute,
    interpreter_setup,
    kernel,
    main_program,
    program,
    serve,
)

HEADER = struct.Struct("<Q")
BROKEN_EXIT = 70
"""Exit code of a job whose layers could not be set up. A candidate that fakes it gains nothing: it
is tried again, and scores 0 when the control passes."""
_FLUSH_BYTES = 32768

_write = os.write
_encode = plain.encode_json
_encode_tags = plain.encode_tags


class Channel:
    """The job's way out. It keeps no reference that a candidate could swap from Python."""

    __slots__ = ("_each", "_fd", "_lines", "_size")

    def __init__(self, fd: int, *, each: bool = False) -> None:
        self._fd = fd
        self._each = each
        self._lines: list[str] = []
        self._size = 0

    def send(self, item: list[Any]) -> None:
        """Queue one line; it is written at once where every case counts by itself."""
        line = _encode(item)
        self._lines.append(line)
        self._size += len(line)
        if self._each or self._size > _FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what is queued."""
        data = ("\n".join(self._lines) + "\n").encode() if self._lines else b""
        self._lines.clear()
        self._size = 0
        while data:
            data = data[_write(self._fd, data) :]


def read_exactly(fd: int, count: int) -> bytes:
    """`count` bytes from a stream socket. Raises EOFError."""
    parts: list[bytes] = []
    while count:
        part = os.read(fd, min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def run(prepare: Callable[[dict[str, Any], int], None], first_closed: int, fd: int) -> int:
    """Run the job that waits on `fd`; the exit code of the process."""
    (size,) = HEADER.unpack(read_exactly(fd, HEADER.size))
    job = json.loads(read_exactly(fd, size))
    channel = Channel(fd, each=job.get("each", False))
    interpreter_setup.complete()
    try:
        prepare(job, first_closed)
    except (OSError, ValueError) as error:
        channel.send([None, "broken", *serve.describe(error)])
        channel.flush()
        return BROKEN_EXIT
    code = MODES[job["mode"]](job, channel)
    channel.flush()
    return code


def run_calls(job: dict[str, Any], channel: Channel) -> int:
    """Mode `calls`."""
    module = _load(job, channel)
    if module is None:
        return 0
    function = module.__dict__.get(job["entry"])
    if function is None:
        channel.send([None, "missing", job["entry"]])
        return 0
    for index, (args, kwargs) in enumerate(job["calls"]):
        try:
            value = function(*plain.decode_tags(args), **plain.decode_tags(kwargs))
            answer = [index, "ok", _encode_tags(value)]
        except BaseException as error:
            answer = [index, "raise", *serve.describe(error)]
        channel.send(answer)
    return 0


def _load(job: dict[str, Any], channel: Channel) -> types.ModuleType | None:
    """The completion as the module `solution`; None, and a line that says why, on failure."""
    source = job["source"]
    path = interpreter_setup.place()
    try:
        code = interpreter_setup.compile_file(source, path)
    except MemoryError as error:
        channel.send([None, "load", *serve.describe(error)])
        return None
    except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
        channel.send([None, "syntax", *serve.describe(error)])
        return None
    if "__file__" in source:
        interpreter_setup.write_file(source, path)
    interpreter_setup.adapt(source)
    module = interpreter_setup.make_module("solution", path, source)
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        channel.send([None, "load", *serve.describe(error)])
        return None
    return module


def run_main(job: dict[str, Any], channel: Channel) -> int:
    """Mode `main` (see `candidate.main_program`)."""
    return main_program.run(job, channel)


def run_serve(job: dict[str, Any], channel: Channel) -> int:
    """Mode `serve`: the candidate's half of a seal (see `candidate.serve`)."""
    return serve.run(job, channel)


def run_program(job: dict[str, Any], channel: Channel) -> int:
    """Mode `program` (see `candidate.program`)."""
    return program.run(job, channel)


def run_compute(job: dict[str, Any], channel: Channel) -> int:
    """Mode `compute` (see `candidate.compute`)."""
    del channel
    return compute.run(job)


def run_kernel(job: dict[str, Any], channel: Channel) -> int:
    """Mode `kernel` (see `candidate.kernel`)."""
    del channel
    return kernel.run(job)


MODES: dict[str, Callable[[dict[str, Any], Channel], int]] = {
    "calls": run_calls,
    "main": run_main,
    "serve": run_serve,
    "program": run_program,
    "compute": run_compute,
    "kernel": run_kernel,
}
"""By the message's `mode`; `judge.modes` adds its own in a judge's worker."""

_WARM_SOURCE = """
from typing import List
import collections, math, re
def warm(values: List[int], *, scale: float = 1.0) -> dict:
    total = [value * scale for value in sorted(values) if value > 0]
    return {"total": sum(total), "parts": tuple(total), "text": f"{len(total)} of {values!r}"}
"""


WARM_JOB: dict[str, Any] = {
    "mode": "calls",
    "source": _WARM_SOURCE,
    "entry": "warm",
    "calls": [[[[3, 1, 2]], {"scale": 2.0}]] * 3,
}
"""A small job of no one's."""

WARM_UPS: list[Callable[[], None]] = []
"""Functions that a judge's worker runs once besides, before it forks."""


def warm_up() -> None:
    """Run a job's steps, so that no job pays for lazy imports and first-time caches."""
    interpreter_setup.complete()
    read_end, write_end = os.pipe()
    channel = Channel(write_end)
    run_calls(json.loads(_encode(WARM_JOB)), channel)
    channel.send([None, "warm", *serve.describe(ValueError("x"))])
    channel.flush()
    plain.loads(read_exactly(read_end, 1) + b"1]")
    os.close(read_end)
    os.close(write_end)
    del sys.modules["solution"]
