"""The health of nodes: which of them answer, and how many calls each of them holds.

Covered: a node gets calls once it has answered, and no more than it offers cores; one that is gone
or stands still is lost with all that it holds, and may come back. Safe in threads.
Not covered: cores that others use; what holds a core there waits at the node.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from unhack.tasks.execution.ray.cluster import NodeInfo, RayActor, RayCluster

SILENCE_S = 90.0
"""Time without an answer after which a node is taken for dead."""
_LOOK_S = 2.0
"""Time between two looks."""


class Heartbeat:
    """The object in a process of a node that only answers."""

    def beat(self) -> None:
        """Answer."""


@dataclass(slots=True, eq=False)
class NodeState:
    """A node that takes calls."""

    info: NodeInfo
    heartbeat: RayActor
    beat: Future[None]
    ready: bool = False
    """True once it has answered."""
    lost: str = ""
    """Why it is given up; empty while it is not."""
    held: int = 0
    """Cores that calls have."""
    held_cards: int = 0
    """Cards that calls have; such a call needs no core of the account."""
    silent_s: float = 0.0
    """Seconds without an answer that this process has seen pass."""


class HealthMonitor:
    """Looks at the nodes whenever somebody waits. `silence_s`: seconds without an answer after
    which a node that has answered before is lost."""

    def __init__(
        self,
        cluster: RayCluster,
        *,
        silence_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster, self._silence_s, self._clock = cluster, silence_s, clock
        self._nodes: dict[str, NodeState] = {}
        self._looked_at: float | None = None
        self._answered_at = self._card_at = clock()
        self._lock = threading.Lock()

    def answering(self) -> list[NodeState]:
        """The nodes that answer."""
        with self._lock:
            self._look()
            return [state for state in self._nodes.values() if state.ready]

    def take(
        self, *, card: bool = False, allows: Callable[[NodeInfo], bool] = lambda node: True
    ) -> NodeState | None:
        """The emptiest node that answers, is allowed and has a core left, with `card` a card in
        its place; `leave` gives it back."""
        with self._lock:
            self._look()
            ready = [state for state in self._nodes.values() if state.ready and allows(state.info)]
            if card:
                free = [state for state in ready if state.held_cards < state.info.cards]
                free.sort(key=lambda each: (each.held_cards / each.info.cards, each.held))
            else:
                free = [state for state in ready if state.held < state.info.slots]
                free.sort(key=lambda each: each.held / each.info.slots)
            if not free:
                return None
            free[0].held += int(not card)
            free[0].held_cards += int(card)
            return free[0]

    def leave(self, state: NodeState, *, card: bool = False) -> None:
        """Give a core back, or a card."""
        with self._lock:
            state.held -= int(not card)
            state.held_cards -= int(card)

    def look(self, *, card: bool = False) -> float:
        """See which nodes answer, where it is time to; seconds for which none has, with `card` none
        that offers one."""
        with self._lock:
            self._look()
            return self._clock() - (self._card_at if card else self._answered_at)

    def close(self) -> None:
        """End every heartbeat."""
        with self._lock:
            for state in self._nodes.values():
                state.heartbeat.end()
            self._nodes.clear()

    def _look(self) -> None:
        now = self._clock()
        passed = _LOOK_S if self._looked_at is None else now - self._looked_at
        if passed < _LOOK_S:
            return
        self._looked_at = now
        alive = {node.id: node for node in self._cluster.nodes()}
        # A process that stood still itself has heard nobody: such time is no silence.
        passed = min(passed, 2 * _LOOK_S)
        for state in list(self._nodes.values()):
            if state.info.id not in alive:
                self._lose(state, "the node is gone")
            else:
                self._listen(state, passed)
        for node in alive.values():
            if node.id not in self._nodes:
                heartbeat = self._cluster.start(Heartbeat, node)
                self._nodes[node.id] = NodeState(node, heartbeat, heartbeat.call(Heartbeat.beat))
        ready = [state for state in self._nodes.values() if state.ready]
        self._answered_at = now if ready else self._answered_at
        if any(state.info.cards for state in ready):
            self._card_at = now

    def _listen(self, state: NodeState, passed: float) -> None:
        if not state.beat.done():
            state.silent_s += passed
            if state.ready and state.silent_s > self._silence_s:
                self._lose(state, f"no answer for {self._silence_s:.0f} s")
        elif error := state.beat.exception():
            self._lose(state, f"{type(error).__name__}: {str(error).strip()[-300:]}")
        else:
            state.ready, state.silent_s = True, 0.0
            state.beat = state.heartbeat.call(Heartbeat.beat)

    def _lose(self, state: NodeState, why: str) -> None:
        state.lost = why
        state.heartbeat.end()
        del self._nodes[state.info.id]
