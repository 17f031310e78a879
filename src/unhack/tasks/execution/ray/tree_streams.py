"""The streams between a process tree and the machine that it is led from.

A chunk is bytes of one stream: what the tree prints, or one connection to one of its ports. Chunks
of a stream arrive in the order in which they were sent; an empty one is the end of its stream, but
for those that tell what was written.

A connection passes over both machines: each end reads one, and writes what the other has read. An
end reads no more of it than the other has promised to hold (`WINDOW` bytes), and is promised as
much again as is written there. So what nobody reads fills its own window, and stops nobody but
whoever sends it.

Covered: an end of one direction; a connection that fails, which ends for both; connections that are
not read beside others that are.
Not covered: how chunks cross; whoever owns the queue carries them.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from unhack.sandbox.workspace.process_tree import ExitStatus

STDOUT, STDERR = 0, 1
FIRST_CONNECTION = 2
"""Numbers of streams: connections are counted from here on."""
MAX_CHUNK = 1 << 16
WINDOW = 256 << 10
"""Bytes of one connection and direction that are under way or wait to be written."""
_MAX_WAITING = 8 << 20
_MAX_BATCH = 4 << 20


@dataclass(frozen=True, slots=True)
class StreamChunk:
    """Bytes of one stream."""

    stream: int
    data: bytes = b""
    """Empty at its end."""
    opens: int = -1
    """The number of the port, in the first chunk of a connection."""
    written: int = 0
    """Bytes of the other direction that were written: as many may be sent again. Such a chunk is no
    end."""


@dataclass(frozen=True, slots=True)
class TreeOutput:
    """All that came of a tree."""

    chunks: list[StreamChunk] = field(default_factory=list[StreamChunk])
    status: ExitStatus | None = None
    """Set once it has ended."""
    failure: str = ""
    """The reason why its command could not be started."""


class ChunkQueue:
    """Chunks on their way; whoever adds waits while too many bytes are in it."""

    def __init__(self) -> None:
        self._chunks: deque[StreamChunk] = deque()
        self._bytes = 0
        self._closed = False
        self._changed = threading.Condition()

    def put(self, chunk: StreamChunk) -> None:
        """Add one, once there is room. After `close` it is dropped."""
        with self._changed:
            while self._bytes > _MAX_WAITING and not self._closed:
                self._changed.wait()
            self._chunks.append(chunk)
            self._bytes += len(chunk.data)
            self._changed.notify_all()

    def take(self, wait_s: float) -> list[StreamChunk]:
        """Those that are there, or come in `wait_s` seconds; perhaps none."""
        found: list[StreamChunk] = []
        with self._changed:
            if not self._chunks and not self._closed:
                self._changed.wait(wait_s)
            size = 0
            while self._chunks and size < _MAX_BATCH:
                chunk = self._chunks.popleft()
                size += len(chunk.data)
                found.append(chunk)
            self._bytes -= size
            self._changed.notify_all()
        return found

    def wake(self) -> None:
        """Let `take` return at once."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody wait any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


@dataclass(slots=True)
class _Connection:
    """One connection."""

    number: int
    changed: threading.Condition = field(default_factory=threading.Condition)
    end: socket.socket | None = None
    """None until it is made."""
    waiting: deque[bytes] = field(default_factory=deque[bytes])
    """To be written; the empty one is the end."""
    promised: int = WINDOW
    """Bytes that the other end can still hold."""
    is_read: bool = False
    """True once nothing more can be read."""
    is_written: bool = False
    """True once the other end has nothing more."""
    is_closed: bool = False

    def put(self, data: bytes) -> None:
        with self.changed:
            self.waiting.append(data)
            self.changed.notify_all()

    def promise(self, count: int) -> None:
        with self.changed:
            self.promised += count
            self.changed.notify_all()

    def next_data(self) -> bytes:
        """Of the other end, once there is some; empty at the end."""
        with self.changed:
            self.changed.wait_for(lambda: self.waiting or self.is_closed)
            return self.waiting.popleft() if self.waiting and not self.is_closed else b""

    def room(self) -> int:
        """Bytes that may be read, once there are any; 0 at the end."""
        with self.changed:
            self.changed.wait_for(lambda: self.promised > 0 or self.is_closed)
            return 0 if self.is_closed else min(self.promised, MAX_CHUNK)

    def take_room(self, count: int) -> None:
        with self.changed:
            self.promised -= count

    def close(self) -> None:
        """Let nobody wait any more."""
        with self.changed:
            self.is_closed = True
            if self.end is not None:
                with contextlib.suppress(OSError):
                    self.end.shutdown(socket.SHUT_RDWR)
                self.end.close()
            self.changed.notify_all()


class Connections:
    """Open connections by their numbers; what they send goes into the queue."""

    def __init__(self, queue: ChunkQueue) -> None:
        self._queue = queue
        self._open: dict[int, _Connection] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Those that are open."""
        return len(self._open)

    def add(self, number: int, connect: Callable[[], socket.socket]) -> None:
        """Carry a connection until it ends, on threads of its own; it belongs to this object.
        `connect` makes it, or raises OSError where nobody is there."""
        one = _Connection(number)
        with self._lock:
            self._open[number] = one
        threading.Thread(target=self._carry, args=(one, connect), daemon=True).start()

    def take_in(self, chunk: StreamChunk) -> None:
        """A chunk of the other end; nothing where the connection has ended. Never waits."""
        one = self._open.get(chunk.stream)
        if one is None:
            return
        if chunk.written:
            one.promise(chunk.written)
        else:
            one.put(chunk.data)

    def close(self) -> None:
        """End every connection."""
        with self._lock:
            every = tuple(self._open.values())
            self._open.clear()
        for one in every:
            one.close()

    def _carry(self, one: _Connection, connect: Callable[[], socket.socket]) -> None:
        connection: socket.socket | None = None
        with contextlib.suppress(OSError):
            connection = connect()
        with one.changed:
            one.end = connection
            if one.is_closed and connection is not None:
                connection.close()
        if connection is None:
            self._end_reading(one)
        else:
            threading.Thread(target=self._read, args=(one, connection), daemon=True).start()
        self._write(one, connection)

    def _write(self, one: _Connection, connection: socket.socket | None) -> None:
        """To the end of the other side, also where nothing can be written: it must not wait."""
        while data := one.next_data():
            if connection is not None:
                try:
                    connection.sendall(data)
                except OSError:
                    _cut(connection, socket.SHUT_RDWR)  # ends the reader, which tells the other end
                    connection = None
            self._queue.put(StreamChunk(one.number, written=len(data)))
        if connection is not None:
            _cut(connection, socket.SHUT_WR)
        one.is_written = True
        self._forget_ended(one)

    def _read(self, one: _Connection, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while room := one.room():
                data = connection.recv(room)
                if not data:
                    break
                one.take_room(len(data))
                self._queue.put(StreamChunk(one.number, data))
        self._end_reading(one)

    def _end_reading(self, one: _Connection) -> None:
        self._queue.put(StreamChunk(one.number))
        one.is_read = True
        self._forget_ended(one)

    def _forget_ended(self, one: _Connection) -> None:
        with self._lock:
            if one.is_read and one.is_written and self._open.pop(one.number, None):
                one.close()


def _cut(connection: socket.socket, ways: int) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(ways)
