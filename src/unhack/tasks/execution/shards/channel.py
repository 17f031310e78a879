"""The channel between a process and its shards: messages over a private socket pair, by pickle.

Everywhere else values cross as plain data, because one side may be hostile. Here both ends are
hosts of one user, one started by the other, with the same rights and the same tasks; nobody else
has an end of the pair, and nothing that a candidate wrote is ever unpickled: verdicts hold its
words as text. A pickle keeps exact types and identity, and takes a task as it is. A verdict is a
row of plain values, the least that crosses and the quickest to read; cases that passed without a
word, the most frequent ones, are one shared value.

Covered: messages of any size; a reader that is slow holds up no thread; an end that is gone.
Not covered: two versions of the package (a shard imports from where its parent does).
"""

from __future__ import annotations

import contextlib
import io
import pickle
import select
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

from unhack.core.verdict import CaseResult, Seal, Status, Usage, Verdict
from unhack.sandbox.distributions import PackageOrigin, origin
from unhack.sandbox.linux.sockets import receive
from unhack.sandbox.pool.reactor import Reactor
from unhack.tasks.task import Task
from unhack.verifiers.python import PythonVerifier

_HEAD = struct.Struct("<Q")
_CHUNK = 1 << 20
_ALIKE = {"numpy", *sys.stdlib_module_names} - {"__main__"}
"""Packages whose classes mean the same in every process, beside the engine and contents."""
Row = tuple[Any, ...]
_PASSED = CaseResult(True)
_STATUSES = {status.value: status for status in Status}
_SEALS = {seal.value: seal for seal in Seal}


class ShardChannel:
    """One end; everything happens on its reactor's thread."""

    def __init__(
        self,
        link: socket.socket,
        reactor: Reactor,
        *,
        on_message: Callable[[Any], None],
        on_end: Callable[[], None],
    ) -> None:
        """`on_end` is called once, when the other end is gone and all that it sent has come."""
        self._link = link
        self._reactor = reactor
        self._on_message, self._on_end = on_message, on_end
        self._read = bytearray()
        self._unsent = bytearray()
        self._closed = False
        link.setblocking(False)
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            link.setsockopt(socket.SOL_SOCKET, option, _CHUNK)
        reactor.watch(link.fileno(), self._on_event)

    def send(self, message: Any) -> None:
        """Send a message; what the other end does not take now goes later."""
        if self._closed:
            return
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        was_waiting = bool(self._unsent)
        self._unsent += _HEAD.pack(len(data)) + data
        if not was_waiting:
            self._write()
            if self._unsent and not self._closed:
                self._reactor.change(self._link.fileno(), select.EPOLLIN | select.EPOLLOUT)

    def close(self) -> None:
        """Close this end; no further call-back comes."""
        if not self._closed:
            self._closed = True
            self._reactor.unwatch(self._link.fileno())
            self._link.close()

    def _write(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: self._link.send(memoryview(self._unsent)[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError:  # the other end is gone; reading says so, after what it sent
            self._unsent.clear()

    def _on_event(self, event: int) -> None:
        if event & select.EPOLLOUT:
            self._write()
            if not self._unsent:
                self._reactor.change(self._link.fileno(), select.EPOLLIN)
        if event & ~select.EPOLLOUT:
            self._receive()

    def _receive(self) -> None:
        ended = False
        with contextlib.suppress(BlockingIOError):
            data = receive(self._link.recv, _CHUNK)
            ended = not data
            self._read += data
        self._hand_on()
        if ended and not self._closed:
            self.close()
            self._on_end()

    def _hand_on(self) -> None:
        """Hand on every whole message."""
        at = 0
        while not self._closed and len(self._read) - at >= _HEAD.size:
            (size,) = _HEAD.unpack_from(self._read, at)
            start = at + _HEAD.size
            if len(self._read) - start < size:
                break
            with memoryview(self._read) as view, view[start : start + size] as part:
                message = pickle.loads(part)
            at = start + size
            self._on_message(message)
        del self._read[:at]


class _TaskPickler(pickle.Pickler):
    """Refuses what another process would not know, or must not run in the user's place."""

    def reducer_override(self, obj: Any) -> Any:
        """Called for everything but plain values."""
        named: Any = obj if isinstance(obj, type) or callable(obj) else type(obj)
        module = getattr(named, "__module__", None) or type(obj).__module__
        alike = module.partition(".")[0] in _ALIKE or origin(module) is not PackageOrigin.OTHER
        if isinstance(obj, PythonVerifier) or not alike:
            raise pickle.PicklingError(f"{module} stays in this process")
        return NotImplemented


def pack_task(task: Task) -> bytes | None:
    """The bytes of a task that a shard can judge; None for one that only this process can: with a
    class, a callable or a value of the user's, whose state and effects belong here."""
    file = io.BytesIO()
    try:
        _TaskPickler(file, pickle.HIGHEST_PROTOCOL).dump(task)
    except Exception:  # a class may raise whatever it likes when it is pickled
        return None
    return file.getvalue()


def unpack_task(data: bytes) -> Task:
    """The task of `pack_task`. Raises what its classes raise."""
    return pickle.loads(data)


def to_row(verdict: Verdict) -> Row:
    """The row of a verdict."""
    cases = [
        None
        if case == _PASSED
        else (case.passed, case.reason, case.score, case.output, case.skipped)
        for case in verdict.cases
    ]
    usage = verdict.usage
    return (
        verdict.status.value,
        verdict.score,
        verdict.reason,
        cases if any(cases) else len(cases),
        usage.wall_s,
        usage.cpu_s,
        usage.max_rss_bytes,
        verdict.seal.value,
        verdict.isolation,
        verdict.details or None,
    )


def of_row(row: Row) -> Verdict:
    """The verdict of a row, equal to the one that it was made from."""
    status, score, reason, cases, wall, cpu, peak, seal, isolation, details = row
    if isinstance(cases, int):
        results = (_PASSED,) * cases
    else:
        results = tuple(_PASSED if case is None else CaseResult(*case) for case in cases)
    return Verdict(
        _STATUSES[status],
        score,
        reason,
        results,
        Usage(wall, cpu, peak),
        _SEALS[seal],
        isolation,
        {} if details is None else details,
    )
