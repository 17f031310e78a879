"""Process trees on nodes, which pause while something is measured beside them.

    with pauses.registered(node, tree):     # as soon as it has begun, until it is to end
        tree.wait(timeout_s=60)

    with pauses.measuring(node, quiet=True) as pids:
        measure()

The trees of one machine are stopped by the process that measures there
(`tournament.judging.machine_lock`). Those of a node are led from this process, and so are all
measurements there: so it pauses and resumes them.

Covered: several measurements of a node at once, on a card each: its trees go on after the last one;
a tree that begins meanwhile; a node that is lost.
Not covered: agents of other tournaments on the node.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from unhack.tasks.execution.ray.cluster import NodeLostError
from unhack.tasks.execution.ray.remote_tree import RemoteProcessTree

_HOLDER = "measuring"


@dataclass(slots=True)
class _NodeTrees:
    """The trees of one node."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    trees: list[RemoteProcessTree] = field(default_factory=list[RemoteProcessTree])
    depth: int = 0
    """Measurements for which they pause."""
    paused: tuple[float, float | None] = (0.0, None)
    """Seconds of pauses that are over, and when the one under way began; in one value, so that a
    clock is read also while a slow node is being stopped."""

    def freeze(self) -> None:
        frozen: list[RemoteProcessTree] = []
        try:
            for tree in self.trees:
                frozen.append(tree)
                with contextlib.suppress(NodeLostError):  # its turn learns of it
                    tree.freeze(holder=_HOLDER)
        except BaseException:
            _thaw(frozen)
            raise


class NodePauses:
    """The trees of all nodes, by the ids of these; threads may share it."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._nodes: dict[str, _NodeTrees] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def registered(self, node: str, tree: RemoteProcessTree) -> Generator[None]:
        """Have a tree pause when it must, for a block of code. Raises NodeLostError."""
        there = self._of(node)
        with there.lock:
            if there.depth:
                tree.freeze(holder=_HOLDER)
            there.trees.append(tree)
        try:
            yield
        finally:
            with there.lock:
                there.trees = [known for known in there.trees if known is not tree]
                if there.depth:
                    tree.thaw(holder=_HOLDER)

    @contextlib.contextmanager
    def measuring(self, node: str, *, quiet: bool) -> Generator[tuple[int, ...]]:
        """The pids of the trees there, which pause for a block of code where it wants it `quiet`.
        Raises what a tree raises that cannot be stopped; then all go on."""
        there = self._of(node)
        with there.lock:
            if quiet and not there.depth:
                there.freeze()
                there.paused = there.paused[0], self._clock()
            there.depth += int(quiet)
            pids = tuple(tree.remote_pid for tree in there.trees if tree.remote_pid)
        try:
            yield pids
        finally:
            with there.lock:
                there.depth -= int(quiet)
                if quiet and not there.depth:
                    there.paused = self.paused_s(node), None
                    _thaw(there.trees)

    def paused_s(self, node: str) -> float:
        """Seconds for which the trees of a node have paused so far."""
        over, since = self._of(node).paused
        return over if since is None else over + self._clock() - since

    def _of(self, node: str) -> _NodeTrees:
        with self._lock:
            return self._nodes.setdefault(node, _NodeTrees())


def _thaw(trees: list[RemoteProcessTree]) -> None:
    for tree in trees:
        tree.thaw(holder=_HOLDER)
