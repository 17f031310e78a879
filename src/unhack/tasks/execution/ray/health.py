"""The lookout: which nodes answer, and how many calls each of them holds.

Covered: a node gets calls once it has answered, and no more than it offers cores; one that is gone
or stands still is lost with all that it holds, and may come back. Safe in threads.
Not covered: cores that others use; what holds a core there waits at the node.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from unhack.tasks.execution.ray.nodes import NodeInfo

_LOOK_S = 2.0
"""Time between two looks."""


class Pulse(Protocol):
    """A process on a node that only answers. A future fails when the node is lost."""

    def beat(self) -> Future[None]:
        """An answer to come."""
        ...

    def end(self) -> None:
        """End the process; does not wait."""
        ...


class Watched(Protocol):
    """Machines that come and go."""

    def nodes(self) -> Sequence[NodeInfo]:
        """Those alive now that offer cores."""
        ...

    def pulse(self, node: NodeInfo) -> Pulse:
        """Start a pulse on a node; its first beat tells when it is there."""
        ...


@dataclass(slots=True, eq=False)
class Post:
    """A node that takes calls."""

    info: NodeInfo
    pulse: Pulse
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


class Lookout:
    """Looks at the nodes whenever somebody waits. `silence_s`: seconds without an answer after
    which a node that has answered before is lost."""

    def __init__(
        self,
        cluster: Watched,
        *,
        silence_s: float,
        look_s: float = _LOOK_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster, self._silence_s = cluster, silence_s
        self._look_s, self._clock = look_s, clock
        self._posts: dict[str, Post] = {}
        self._looked_at: float | None = None
        self._answered_at = self._card_at = clock()
        self._lock = threading.Lock()

    def answering(self) -> list[Post]:
        """The nodes that answer."""
        with self._lock:
            self._look()
            return [post for post in self._posts.values() if post.ready]

    def take(
        self, *, card: bool = False, allows: Callable[[NodeInfo], bool] = lambda node: True
    ) -> Post | None:
        """The emptiest node that answers, is allowed and has a core left, with `card` a card in
        its place; `leave` gives it back."""
        with self._lock:
            self._look()
            ready = [post for post in self._posts.values() if post.ready and allows(post.info)]
            if card:
                free = [post for post in ready if post.held_cards < post.info.cards]
                free.sort(key=lambda each: (each.held_cards / each.info.cards, each.held))
            else:
                free = [post for post in ready if post.held < post.info.slots]
                free.sort(key=lambda each: each.held / each.info.slots)
            if not free:
                return None
            free[0].held += int(not card)
            free[0].held_cards += int(card)
            return free[0]

    def leave(self, post: Post, *, card: bool = False) -> None:
        """Give a core back, or a card."""
        with self._lock:
            post.held -= int(not card)
            post.held_cards -= int(card)

    def look(self, *, card: bool = False) -> float:
        """See which nodes answer, where it is time to; seconds for which none has, with `card` none
        that offers one."""
        with self._lock:
            self._look()
            return self._clock() - (self._card_at if card else self._answered_at)

    def close(self) -> None:
        """End every pulse."""
        with self._lock:
            for post in self._posts.values():
                post.pulse.end()
            self._posts.clear()

    def _look(self) -> None:
        now = self._clock()
        passed = self._look_s if self._looked_at is None else now - self._looked_at
        if passed < self._look_s:
            return
        self._looked_at = now
        alive = {node.id: node for node in self._cluster.nodes()}
        # A process that stood still itself has heard nobody: such time is no silence.
        passed = min(passed, 2 * self._look_s)
        for post in list(self._posts.values()):
            if post.info.id not in alive:
                self._lose(post, "the node is gone")
            else:
                self._listen(post, passed)
        for node in alive.values():
            if node.id not in self._posts:
                pulse = self._cluster.pulse(node)
                self._posts[node.id] = Post(node, pulse, pulse.beat())
        ready = [post for post in self._posts.values() if post.ready]
        self._answered_at = now if ready else self._answered_at
        if any(post.info.cards for post in ready):
            self._card_at = now

    def _listen(self, post: Post, passed: float) -> None:
        if not post.beat.done():
            post.silent_s += passed
            if post.ready and post.silent_s > self._silence_s:
                self._lose(post, f"no answer for {self._silence_s:.0f} s")
        elif error := post.beat.exception():
            self._lose(post, f"{type(error).__name__}: {str(error).strip()[-300:]}")
        else:
            post.ready, post.silent_s = True, 0.0
            post.beat = post.pulse.beat()

    def _lose(self, post: Post, why: str) -> None:
        post.lost = why
        post.pulse.end()
        del self._posts[post.info.id]
