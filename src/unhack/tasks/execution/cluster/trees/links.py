"""Connections that pass over two machines: each end reads one, and writes what the other has read.

Covered: an end of one direction; a connection that fails, which ends for both.
Not covered: how pieces cross; whoever owns the queue carries them.
"""

from __future__ import annotations

import contextlib
import socket
import threading

from unhack.tasks.execution.cluster.trees.pieces import MAX_PIECE, PieceQueue, StreamPiece

_BOTH = 2


class Links:
    """Open connections by their numbers; what they send goes into the queue."""

    def __init__(self, queue: PieceQueue) -> None:
        self._queue = queue
        self._open: dict[int, socket.socket] = {}
        self._ended: dict[int, set[str]] = {}
        self._lock = threading.Lock()

    def add(self, number: int, connection: socket.socket) -> None:
        """Read a connection until it ends, on a thread of its own; it belongs to this object."""
        with self._lock:
            self._open[number] = connection
            self._ended[number] = set()
        threading.Thread(target=self._read, args=(number, connection), daemon=True).start()

    def write(self, piece: StreamPiece) -> None:
        """Pass a piece of the other end on; nothing where the connection has ended."""
        connection = self._open.get(piece.stream)
        if connection is None:
            return
        try:
            if piece.data:
                connection.sendall(piece.data)
                return
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            # What was not sent cannot be, so the reader is ended, too, which tells the other end.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._end(piece.stream, "written")

    def close(self) -> None:
        """End every connection."""
        with self._lock:
            for connection in self._open.values():
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                connection.close()
            self._open.clear()
            self._ended.clear()

    def _read(self, number: int, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := connection.recv(MAX_PIECE):
                self._queue.put(StreamPiece(number, data))
        self._queue.put(StreamPiece(number))
        self._end(number, "read")

    def _end(self, number: int, way: str) -> None:
        with self._lock:
            ended = self._ended.get(number, set())
            ended.add(way)
            if len(ended) == _BOTH and number in self._open:
                self._open.pop(number).close()
                del self._ended[number]
