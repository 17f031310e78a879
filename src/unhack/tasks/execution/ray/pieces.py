"""The words between a process tree and the machine that it is led from.

A piece is bytes of one stream: what the tree prints, or one connection to one of its ports. Pieces
of a stream arrive in the order in which they were sent; an empty one is the end of its stream, but
for those that tell what was written.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from unhack.sandbox.gpu.tree_card import TreeCard
from unhack.sandbox.workspace.process_tree import ExitStatus, ProcessTreePlan

STDOUT, STDERR = 0, 1
FIRST_LINK = 2
"""Numbers of streams: connections are counted from here on."""
MAX_PIECE = 1 << 16
_MAX_WAITING = 8 << 20
_MAX_BATCH = 4 << 20


@dataclass(frozen=True, slots=True)
class StreamPiece:
    """Bytes of one stream."""

    stream: int
    data: bytes = b""
    """Empty at its end."""
    opens: int = -1
    """The number of the port, in the first piece of a connection."""
    written: int = 0
    """Bytes of the other direction that were written: as many may be sent again. Such a piece is no
    end."""


@dataclass(frozen=True, slots=True)
class PieceBatch:
    """All that came of a tree."""

    pieces: list[StreamPiece] = field(default_factory=list[StreamPiece])
    status: ExitStatus | None = None
    """Set once it has ended."""
    failure: str = ""
    """The reason why its command could not be started."""


class PieceQueue:
    """Pieces on their way; whoever adds waits while too many bytes are in it."""

    def __init__(self) -> None:
        self._pieces: deque[StreamPiece] = deque()
        self._bytes = 0
        self._closed = False
        self._changed = threading.Condition()

    def put(self, piece: StreamPiece) -> None:
        """Add one, once there is room. After `close` it is dropped."""
        with self._changed:
            while self._bytes > _MAX_WAITING and not self._closed:
                self._changed.wait()
            self._pieces.append(piece)
            self._bytes += len(piece.data)
            self._changed.notify_all()

    def take(self, wait_s: float) -> list[StreamPiece]:
        """Those that are there, or come in `wait_s` seconds; perhaps none."""
        found: list[StreamPiece] = []
        with self._changed:
            if not self._pieces and not self._closed:
                self._changed.wait(wait_s)
            size = 0
            while self._pieces and size < _MAX_BATCH:
                piece = self._pieces.popleft()
                size += len(piece.data)
                found.append(piece)
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


class RemoteKeeper(Protocol):
    """A `TreeKeeper` on another machine. A future fails when the machine is lost."""

    def begin(
        self, command: list[str], plan: ProcessTreePlan, card: TreeCard | None
    ) -> Future[int]:
        """See `TreeKeeper.begin`."""
        ...

    def take(self, wait_s: float) -> Future[PieceBatch]:
        """See `TreeKeeper.take`."""
        ...

    def give(self, pieces: list[StreamPiece]) -> Future[None]:
        """See `TreeKeeper.give`."""
        ...

    def freeze(self, holder: str) -> Future[None]:
        """See `TreeKeeper.freeze`."""
        ...

    def thaw(self, holder: str) -> Future[None]:
        """See `TreeKeeper.thaw`."""
        ...

    def read(
        self, patterns: tuple[str, ...], max_files: int, max_bytes: int
    ) -> Future[Mapping[str, bytes]]:
        """See `TreeKeeper.read`."""
        ...

    def kill(self) -> Future[None]:
        """See `TreeKeeper.kill`."""
        ...

    def close(self) -> Future[None]:
        """See `TreeKeeper.close`."""
        ...

    def end(self) -> None:
        """End the keeper's process, and its tree with it; does not wait."""
        ...
