"""The supervisor of a process tree, on the machine where it runs.

What the tree prints, and what comes to its ports, goes to the machine that leads it, which answers.
So a server that the tree talks to, and whatever key that server holds, stays there.

Covered: the tree dies with the supervisor's process, however that ends. Nothing here knows of Ray:
a supervisor is an ordinary object that an actor holds; every method may be called from any thread.
Not covered: what passes through; it is neither read nor kept here.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import socket
import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from unhack.core.errors import SandboxError, UnhackError
from unhack.sandbox.gpu.tree_card import TreeCard, watched, with_card
from unhack.sandbox.workspace.process_tree import ProcessTree, ProcessTreePlan
from unhack.tasks.execution.ray.tree_streams import (
    FIRST_CONNECTION,
    MAX_CHUNK,
    STDERR,
    STDOUT,
    ChunkQueue,
    Connections,
    StreamChunk,
    TreeOutput,
)

R = TypeVar("R")

_LOOK_S = 0.5
_MAX_OPEN = 256
"""Connections of a tree at once; others wait until one of them ends."""
_FULL_S = 0.05


class TreeSupervisor:
    """Holds one process tree."""

    def __init__(self) -> None:
        self._tree: ProcessTree | None = None
        self._queue = ChunkQueue()
        self._connections = Connections(self._queue)
        self._numbers = itertools.count(FIRST_CONNECTION)
        self._ended = threading.Event()
        self._told_end = False
        self._one_close = threading.Lock()
        self._closing = threading.Event()
        self._watches = contextlib.ExitStack()
        """Of the tree's memory."""

    def begin(self, command: list[str], plan: ProcessTreePlan, card: TreeCard | None) -> int:
        """Start the tree, with a card of this machine where it is given one; the pid of its process
        1 here. Raises SandboxUnavailableError, UsageError, SandboxError."""
        with _told():
            plan = with_card(plan, card)
            tree = self._tree = ProcessTree(command, plan=plan, name="agent").__enter__()
            self._watches.enter_context(watched(tree, card))
            for stream, fd in ((STDOUT, tree.stdout), (STDERR, tree.stderr)):
                self._work(self._read_output, stream, os.dup(fd))
            for port, listener in enumerate(tree.listeners):
                self._work(self._accept, port, listener)
            self._work(self._watch, tree)
            return tree.pid

    def take(self, wait_s: float) -> TreeOutput:
        """All that came of the tree, or comes in `wait_s` seconds."""
        news = self._ended.is_set() and not self._told_end
        found = self._queue.take(0.0 if news else wait_s)
        tree = self._tree
        if found or tree is None or not self._ended.is_set():
            return TreeOutput(found)
        self._told_end = True
        return TreeOutput(status=tree.exit_status, failure=tree.failure)

    def give(self, chunks: list[StreamChunk]) -> None:
        """Pass chunks on to connections; never waits for one that is not read. The next call comes
        after this has returned."""
        for chunk in chunks:
            self._connections.take_in(chunk)

    def ask(self, method: Callable[..., R], *values: Any, **named: Any) -> R:
        """Call a method of the tree. Raises what it does."""
        with _told():
            if self._tree is None:
                raise SandboxError("the process tree has not begun, or was closed")
            return method(self._tree, *values, **named)

    def kill(self) -> None:
        """See `ProcessTree.kill`."""
        tree = self._tree
        if tree is not None:
            tree.kill()

    def close(self) -> None:
        """End the tree, and give everything back. Harmless when closed."""
        with self._one_close:
            tree, self._tree = self._tree, None
            self._closing.set()
            self._queue.close()
            self._watches.close()
            if tree is not None:
                tree.kill()
                self._ended.wait(2 * _LOOK_S)
                tree.close()
            self._connections.close()

    @staticmethod
    def _work(function: object, *values: object) -> None:
        threading.Thread(target=function, args=values, daemon=True).start()  # type: ignore[arg-type]

    def _read_output(self, stream: int, fd: int) -> None:
        with os.fdopen(fd, "rb", 0) as pipe:
            while data := pipe.read(MAX_CHUNK):
                self._queue.put(StreamChunk(stream, data))
        self._queue.put(StreamChunk(stream))

    def _accept(self, port: int, listener: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):  # closed with the tree
            while not self._closing.is_set():
                if len(self._connections) >= _MAX_OPEN:
                    self._closing.wait(_FULL_S)
                elif select.select([listener], [], [], _LOOK_S)[0]:
                    connection, _ = listener.accept()
                    number = next(self._numbers)
                    self._queue.put(StreamChunk(number, opens=port))
                    self._connections.add(number, lambda made=connection: made)

    def _watch(self, tree: ProcessTree) -> None:
        while not self._closing.is_set():
            if tree.wait(timeout_s=_LOOK_S):
                self._ended.set()
                self._queue.wake()
                return
        self._ended.set()


@contextlib.contextmanager
def _told() -> Generator[None]:
    """An error that is none of ours becomes one: it is no loss of this machine."""
    try:
        yield
    except UnhackError:
        raise
    except Exception as error:
        raise SandboxError(f"{type(error).__name__}: {error}") from error
