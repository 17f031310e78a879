"""Connections that pass over two machines: each end reads one, and writes what the other has read.

An end reads no more of a connection than the other has promised to hold (`WINDOW` bytes), and is
promised as much again as is written there. So what nobody reads fills its own window, and stops
nobody but whoever sends it.

Covered: an end of one direction; a connection that fails, which ends for both; connections that are
not read beside others that are.
Not covered: how pieces cross; whoever owns the queue carries them.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from unhack.tasks.execution.ray.pieces import MAX_PIECE, PieceQueue, StreamPiece

WINDOW = 256 << 10
"""Bytes of one connection and direction that are under way or wait to be written."""


@dataclass(slots=True)
class _Link:
    """One connection."""

    number: int
    changed: threading.Condition = field(default_factory=threading.Condition)
    connection: socket.socket | None = None
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
            return 0 if self.is_closed else min(self.promised, MAX_PIECE)

    def take_room(self, count: int) -> None:
        with self.changed:
            self.promised -= count

    def close(self) -> None:
        """Let nobody wait any more."""
        with self.changed:
            self.is_closed = True
            if self.connection is not None:
                with contextlib.suppress(OSError):
                    self.connection.shutdown(socket.SHUT_RDWR)
                self.connection.close()
            self.changed.notify_all()


class Links:
    """Open connections by their numbers; what they send goes into the queue."""

    def __init__(self, queue: PieceQueue) -> None:
        self._queue = queue
        self._open: dict[int, _Link] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Those that are open."""
        return len(self._open)

    def add(self, number: int, connect: Callable[[], socket.socket]) -> None:
        """Carry a connection until it ends, on threads of its own; it belongs to this object.
        `connect` makes it, or raises OSError where nobody is there."""
        link = _Link(number)
        with self._lock:
            self._open[number] = link
        threading.Thread(target=self._carry, args=(link, connect), daemon=True).start()

    def take_in(self, piece: StreamPiece) -> None:
        """A piece of the other end; nothing where the connection has ended. Never waits."""
        link = self._open.get(piece.stream)
        if link is None:
            return
        if piece.written:
            link.promise(piece.written)
        else:
            link.put(piece.data)

    def close(self) -> None:
        """End every connection."""
        with self._lock:
            links = tuple(self._open.values())
            self._open.clear()
        for link in links:
            link.close()

    def _carry(self, link: _Link, connect: Callable[[], socket.socket]) -> None:
        connection: socket.socket | None = None
        with contextlib.suppress(OSError):
            connection = connect()
        with link.changed:
            link.connection = connection
            if link.is_closed and connection is not None:
                connection.close()
        if connection is None:
            self._end_reading(link)
        else:
            threading.Thread(target=self._read, args=(link, connection), daemon=True).start()
        self._write(link, connection)

    def _write(self, link: _Link, connection: socket.socket | None) -> None:
        """To the end of the other side, also where nothing can be written: it must not wait."""
        while data := link.next_data():
            if connection is not None:
                try:
                    connection.sendall(data)
                except OSError:
                    _cut(connection, socket.SHUT_RDWR)  # ends the reader, which tells the other end
                    connection = None
            self._queue.put(StreamPiece(link.number, written=len(data)))
        if connection is not None:
            _cut(connection, socket.SHUT_WR)
        link.is_written = True
        self._forget_ended(link)

    def _read(self, link: _Link, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while room := link.room():
                data = connection.recv(room)
                if not data:
                    break
                link.take_room(len(data))
                self._queue.put(StreamPiece(link.number, data))
        self._end_reading(link)

    def _end_reading(self, link: _Link) -> None:
        self._queue.put(StreamPiece(link.number))
        link.is_read = True
        self._forget_ended(link)

    def _forget_ended(self, link: _Link) -> None:
        with self._lock:
            if link.is_read and link.is_written and self._open.pop(link.number, None):
                link.close()


def _cut(connection: socket.socket, ways: int) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(ways)
