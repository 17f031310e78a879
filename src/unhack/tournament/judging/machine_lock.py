"""The machine alone: whoever measures time stops everybody else meanwhile.

A measurement that needs quiet runs inside `MACHINE.alone()`. On entry every registered process
tree is frozen, on exit it is thawed, and every `Clock` stands still in between: an agent neither
disturbs a measurement nor is charged for the wait.

How an agent that runs processes takes part:

    clock = Clock()                       # at the start of its turn
    with MACHINE.registered(tree):        # as soon as the tree has processes, until they are dead
        while tree_is_running and clock.elapsed_s() < inputs.time_limit_s:
            wait_a_little()               # at most about 0.2 s at a time
    usage_seconds = clock.elapsed_s()

`tree` is anything with `freeze()` and `thaw()` (`Freezable`): SIGSTOP and SIGCONT to each process
of the tree, or the freezer of a control group. A tree that registers during a measurement is
frozen at once. `TurnInputs.check` takes the machine itself, where the contest asks for it. After
`interrupt()` every clock reads infinity: agents end as at their time limit, and kill their trees.

Covered: process trees that register; clocks of agents; measurements of one process, one at a time,
in the order of arrival or not; a tree whose `freeze` fails (the measurement does not start).
Not covered: other programs of the machine, a second tournament on it, and Python code of embedded
agents in this process: they do their heavy work in `TurnInputs.check`.
"""

from __future__ import annotations

import math
import threading
import time
import typing
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Freezable(typing.Protocol):
    """A tree of processes that can be stopped and set going again."""

    def freeze(self) -> None:
        """Stop every process of it; return when they stand still. Harmless when they have ended,
        or stand still already."""
        ...

    def thaw(self) -> None:
        """Set them going again. Harmless when they have ended, or run."""
        ...


class Machine:
    """The processors, which the agents of one process share."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._turn = threading.RLock()
        self._state = threading.RLock()
        self._trees: list[Freezable] = []
        self._depth = 0
        self._stopped_s = 0.0
        self._since = 0.0
        self._over = False

    def register(self, tree: Freezable) -> None:
        """From here on `tree` is frozen while somebody measures; at once, if somebody does."""
        with self._state:
            if self._depth:
                tree.freeze()
            self._trees.append(tree)

    def unregister(self, tree: Freezable) -> None:
        """Forget `tree`, and thaw it if it stands still. Harmless when it is not known."""
        with self._state:
            if not any(known is tree for known in self._trees):
                return
            self._trees = [known for known in self._trees if known is not tree]
            if self._depth:
                tree.thaw()

    @contextmanager
    def registered(self, tree: Freezable) -> Generator[None]:
        """`register` for the length of a block."""
        self.register(tree)
        try:
            yield
        finally:
            self.unregister(tree)

    @contextmanager
    def alone(self) -> Generator[None]:
        """Waits for its turn, freezes every tree and stops the clocks for the length of a block.

        The same thread may nest it. What a `freeze` raises comes out here, with all trees thawed.
        """
        with self._turn:
            self._take()
            try:
                yield
            finally:
                self._give()

    def interrupt(self) -> None:
        """End the agents' time."""
        with self._state:
            self._over = True

    def go_on(self) -> None:
        """Give the agents time again."""
        with self._state:
            self._over = False

    @property
    def interrupted(self) -> bool:
        """True when the agents' time was ended."""
        return self._over

    def now_s(self) -> float:
        """Seconds of the agents' time, from an arbitrary start; infinite after `interrupt`."""
        with self._state:
            if self._over:
                return math.inf
            now = self._since if self._depth else self._now()
            return now - self._stopped_s

    def _take(self) -> None:
        with self._state:
            if not self._depth:
                frozen: list[Freezable] = []
                try:
                    for tree in self._trees:
                        frozen.append(tree)
                        tree.freeze()
                except BaseException:
                    for tree in frozen:
                        tree.thaw()
                    raise
                self._since = self._now()
            self._depth += 1

    def _give(self) -> None:
        with self._state:
            self._depth -= 1
            if not self._depth:
                self._stopped_s += self._now() - self._since
                for tree in self._trees:
                    tree.thaw()


MACHINE = Machine()
"""The one of this process."""


class Clock:
    """An agent's own time: it stands still while somebody measures."""

    def __init__(self, machine: Machine = MACHINE) -> None:
        self._machine = machine
        self._start = machine.now_s()

    def elapsed_s(self) -> float:
        """Seconds since the clock was made, less those that it stood still; infinite when the
        agents' time was ended."""
        now = self._machine.now_s()
        return now if math.isinf(now) else now - self._start
