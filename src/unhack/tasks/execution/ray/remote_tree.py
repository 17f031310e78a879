"""A process tree of another machine, which looks like one of this machine.

    supervisor = slot.start_supervisor(card=False)
    with RemoteProcessTree(
        command, plan, supervisor=supervisor, lost=lambda: slot.lost
    ) as tree:
        proxy.serve(tree.listeners[0])     # what its processes connect to there arrives here
        tree.wait(timeout_s=60)

Covered: pipes and listening sockets of this machine that carry what the tree prints and asks;
NodeLostError from every call once its machine is lost; an end that leaves nothing behind there.
Listeners are Unix sockets in a folder that only this user may open.
Not covered: `pid`, which means nothing here; the memory of its card, which its supervisor watches.
"""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self, TypeVar

from unhack.core.errors import UnhackError
from unhack.sandbox.gpu.tree_card import TreeCard
from unhack.sandbox.workspace.process_tree import ExitStatus, ProcessTree, ProcessTreePlan
from unhack.tasks.execution.ray.cluster import NodeLostError, RayActor
from unhack.tasks.execution.ray.tree_streams import (
    STDERR,
    STDOUT,
    ChunkQueue,
    Connections,
    StreamChunk,
)
from unhack.tasks.execution.ray.tree_supervisor import TreeSupervisor

_TAKE_S = 5.0
_LOOK_S = 1.0
_CLOSE_S = 30.0
_BACKLOG = 64
_T = TypeVar("_T")


class RemoteProcessTree:
    """See `ProcessTree`. `lost` says why its machine is given up; empty while it is not."""

    def __init__(
        self,
        command: list[str],
        plan: ProcessTreePlan,
        *,
        supervisor: RayActor,
        lost: Callable[[], str],
        card: TreeCard | None = None,
    ) -> None:
        """`card`: the one of its machine that it is given."""
        self.plan = plan
        self.pid = 0
        """It has none on this machine."""
        self.remote_pid = 0
        """Of its process 1, as its own machine counts; 0 before it has begun."""
        self.listeners: list[socket.socket] = []
        self.stdout = self.stderr = -1
        self.exit_status: ExitStatus | None = None
        self.failure = ""
        self._command, self._card = command, card
        self._supervisor, self._why_lost = supervisor, lost
        self._queue = ChunkQueue()
        self._connections = Connections(self._queue)
        self._printed: dict[int, int] = {}
        """Stream -> the end to write to."""
        self._room: tempfile.TemporaryDirectory[str] | None = None
        self._over = threading.Event()
        """It has ended, or is lost."""
        self._lost = ""
        self._closed = False
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        """Start it there. Raises what `ProcessTree` does, and NodeLostError."""
        try:
            self._listen()
            self.stdout, self._printed[STDOUT] = os.pipe()
            self.stderr, self._printed[STDERR] = os.pipe()
            begun = self._supervisor.call(
                TreeSupervisor.begin, self._command, self.plan, self._card
            )
            self.remote_pid = self._asked(begun)
            for work in (self._take, self._give):
                self._threads.append(threading.Thread(target=work, daemon=True))
                self._threads[-1].start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait(self, *, timeout_s: float) -> bool:
        """True when it has ended, after at most `timeout_s`. Raises NodeLostError."""
        self._over.wait(timeout_s)
        if self._lost and self.exit_status is None:
            raise NodeLostError(self._lost)
        return self.exit_status is not None

    def kill(self) -> None:
        """End every process of it; harmless where it is lost."""
        with contextlib.suppress(UnhackError):
            self._asked(self._supervisor.call(TreeSupervisor.kill))

    def freeze(self, *, holder: str = "") -> None:
        """See `ProcessTree.freeze`. Raises NodeLostError."""
        self._on_tree(ProcessTree.freeze, holder=holder)

    def thaw(self, *, holder: str = "") -> None:
        """See `ProcessTree.thaw`; harmless where it is lost."""
        with contextlib.suppress(NodeLostError):
            self._on_tree(ProcessTree.thaw, holder=holder)

    def read(
        self, patterns: tuple[str, ...], *, max_files: int, max_bytes: int
    ) -> Mapping[str, bytes]:
        """See `ProcessTree.read`. Raises NodeLostError."""
        return self._on_tree(ProcessTree.read, patterns, max_files=max_files, max_bytes=max_bytes)

    def _on_tree(self, method: Callable[..., _T], *values: Any, **named: Any) -> _T:
        """Call a method of the `ProcessTree` there."""
        return self._asked(self._supervisor.call(TreeSupervisor.ask, method, *values, **named))

    def close(self) -> None:
        """End it and its supervisor, and give everything back."""
        if self._closed:
            return
        self._closed = True
        if not self._lost:
            with contextlib.suppress(Exception):  # the machine may be lost by now
                self._supervisor.call(TreeSupervisor.close).result(_CLOSE_S)
        self._queue.close()
        self._over.set()
        for thread in self._threads:
            thread.join(2 * _TAKE_S)
        self._supervisor.end()  # nobody asks it any more
        self._connections.close()
        for listener in self.listeners:
            listener.close()
        for fd in (*self._printed.values(), self.stdout, self.stderr):
            if fd >= 0:
                os.close(fd)
        self._printed.clear()
        self.listeners, self.stdout, self.stderr = [], -1, -1
        if self._room is not None:
            self._room.cleanup()

    def _listen(self) -> None:
        self._room = tempfile.TemporaryDirectory(prefix="unhack-tree-")
        for port in range(len(self.plan.ports)):
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(self._address(port))
            listener.listen(_BACKLOG)
            self.listeners.append(listener)

    def _address(self, port: int) -> str:
        assert self._room is not None
        return str(Path(self._room.name) / str(port))

    def _asked(self, future: Future[_T]) -> _T:
        """The answer of the supervisor. Raises NodeLostError, and errors of the tree itself."""
        while not self._lost:
            try:
                return future.result(_LOOK_S)
            except TimeoutError:
                self._lost = self._lost or self._why_lost()
            except UnhackError:
                raise
            except Exception as error:
                self._lost = f"{type(error).__name__}: {str(error).strip()[-300:]}"
        self._over.set()
        raise NodeLostError(self._lost)

    def _take(self) -> None:
        """The thread of what comes."""
        try:
            while not self._closed:
                output = self._asked(self._supervisor.call(TreeSupervisor.take, _TAKE_S))
                for chunk in output.chunks:
                    self._receive(chunk)
                if output.status is not None:
                    self.failure = output.failure
                    self.exit_status = output.status
                    self._over.set()
        except UnhackError as error:
            self._lost = self._lost or str(error)
            self._over.set()
        finally:
            for stream in tuple(self._printed):
                self._end_output(stream)

    def _give(self) -> None:
        """The thread of what goes."""
        with contextlib.suppress(UnhackError):  # `_take` learns of it, too
            while not self._closed:
                chunks = self._queue.take(_TAKE_S)
                if chunks:
                    self._asked(self._supervisor.call(TreeSupervisor.give, chunks))

    def _receive(self, chunk: StreamChunk) -> None:
        if chunk.opens >= 0:
            self._connections.add(chunk.stream, lambda: self._connect(chunk.opens))
        elif chunk.stream not in (STDOUT, STDERR):
            self._connections.take_in(chunk)
        elif not chunk.data:
            self._end_output(chunk.stream)
        elif chunk.stream in self._printed:
            left = chunk.data
            with contextlib.suppress(OSError):  # nobody reads it any more
                while left:
                    left = left[os.write(self._printed[chunk.stream], left) :]

    def _end_output(self, stream: int) -> None:
        fd = self._printed.pop(stream, -1)
        if fd >= 0:
            os.close(fd)

    def _connect(self, port: int) -> socket.socket:
        """Raises OSError where nobody serves this port any more."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(self._address(port))
        except OSError:
            connection.close()
            raise
        return connection
