"""Process trees on nodes, which stand still while something is measured beside them.

    with standstill.registered(node, tree):     # as soon as it has begun, until it is to end
        tree.wait(timeout_s=60)

    with standstill.measuring(node, quiet=True) as pids:
        measure()

The trees of one machine are stopped by the process that measures there
(`tournament.judging.machine_lock`). Those of a node are led from this process, and so are all
measurements there: so it stops and sets them going.

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
from typing import Protocol

from unhack.tasks.execution.ray.nodes import NodeLostError

_HOLDER = "measuring"


class StillTree(Protocol):
    """A process tree of a node."""

    @property
    def far_pid(self) -> int:
        """Of its process 1, as its node counts."""
        ...

    def freeze(self, *, holder: str = "") -> None:
        """Stop every process of it until each `holder` has let go. Raises NodeLostError."""
        ...

    def thaw(self, *, holder: str = "") -> None:
        """Let go; harmless where it is lost."""
        ...


@dataclass(slots=True)
class _NodeTrees:
    """The trees of one node."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    trees: list[StillTree] = field(default_factory=list[StillTree])
    depth: int = 0
    """Measurements for which they stand still."""
    still: tuple[float, float | None] = (0.0, None)
    """Seconds of measurements that are over, and when the one under way began; in one value, so
    that a clock is read also while a slow node is being stopped."""

    def freeze(self) -> None:
        frozen: list[StillTree] = []
        try:
            for tree in self.trees:
                frozen.append(tree)
                _freeze(tree)
        except BaseException:
            for tree in frozen:
                tree.thaw(holder=_HOLDER)
            raise


class Standstill:
    """The trees of all nodes, by the ids of these; threads may share it."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._nodes: dict[str, _NodeTrees] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def registered(self, node: str, tree: StillTree) -> Generator[None]:
        """Have a tree stand still when it must, for a block of code. Raises NodeLostError."""
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
        """The pids of the trees there, which stand still for a block of code where it wants it
        `quiet`. Raises what a tree raises that cannot be stopped; then all go on."""
        there = self._of(node)
        with there.lock:
            if quiet and not there.depth:
                there.freeze()
                there.still = there.still[0], self._clock()
            there.depth += int(quiet)
            pids = tuple(tree.far_pid for tree in there.trees if tree.far_pid)
        try:
            yield pids
        finally:
            with there.lock:
                there.depth -= int(quiet)
                if quiet and not there.depth:
                    there.still = self._seconds(there), None
                    for tree in there.trees:
                        tree.thaw(holder=_HOLDER)

    def still_s(self, node: str) -> float:
        """Seconds for which the trees of a node have stood still so far."""
        return self._seconds(self._of(node))

    def _seconds(self, there: _NodeTrees) -> float:
        over, since = there.still
        return over if since is None else over + self._clock() - since

    def _of(self, node: str) -> _NodeTrees:
        with self._lock:
            return self._nodes.setdefault(node, _NodeTrees())


def _freeze(tree: StillTree) -> None:
    with contextlib.suppress(NodeLostError):  # its turn learns of it, and disturbs nothing
        tree.freeze(holder=_HOLDER)
