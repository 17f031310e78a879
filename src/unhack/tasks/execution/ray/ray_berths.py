# pyright: basic, reportMissingImports=false
"""Berths on the nodes of a Ray: their core is one of the lookout's, and of Ray's account.

A process tree has an actor of its own, in a process of its own, which Ray ends with the driver.

Covered: nodes that die or stand still.
Not covered: other work of Ray's on a node, whose end a berth there waits for.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from unhack.core.errors import PoolClosedError
from unhack.sandbox.gpu.tree_card import TreeCard
from unhack.sandbox.workspace.process_tree import ProcessTreePlan
from unhack.tasks.execution.ray.berths import R, V, never
from unhack.tasks.execution.ray.cluster import on_node
from unhack.tasks.execution.ray.health import Lookout, Post
from unhack.tasks.execution.ray.nodes import (
    NodeClaim,
    NodeInfo,
    NodeLostError,
    StoppedError,
)
from unhack.tasks.execution.ray.pause import Standstill
from unhack.tasks.execution.ray.pieces import PieceBatch, StreamPiece
from unhack.tasks.execution.ray.ray_calls import RayCalls, share_of_card
from unhack.tasks.execution.ray.tree_supervisor import TreeKeeper

_LOOK_S = 0.5
_THREADS = 16
"""Calls of a keeper at once."""


class RayKeeper:
    """See `RemoteKeeper`: a keeper behind an actor handle."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def begin(
        self, command: list[str], plan: ProcessTreePlan, card: TreeCard | None
    ) -> Future[int]:
        """See `RemoteKeeper`."""
        return self._actor.begin.remote(command, plan, card).future()

    def take(self, wait_s: float) -> Future[PieceBatch]:
        """See `RemoteKeeper`."""
        return self._actor.take.remote(wait_s).future()

    def give(self, pieces: list[StreamPiece]) -> Future[None]:
        """See `RemoteKeeper`."""
        return self._actor.give.remote(pieces).future()

    def freeze(self, holder: str) -> Future[None]:
        """See `RemoteKeeper`."""
        return self._actor.freeze.remote(holder).future()

    def thaw(self, holder: str) -> Future[None]:
        """See `RemoteKeeper`."""
        return self._actor.thaw.remote(holder).future()

    def read(
        self, patterns: tuple[str, ...], max_files: int, max_bytes: int
    ) -> Future[Mapping[str, bytes]]:
        """See `RemoteKeeper`."""
        return self._actor.read.remote(patterns, max_files, max_bytes).future()

    def kill(self) -> Future[None]:
        """See `RemoteKeeper`."""
        return self._actor.kill.remote().future()

    def close(self) -> Future[None]:
        """See `RemoteKeeper`."""
        return self._actor.close.remote().future()

    def end(self) -> None:
        """See `RemoteKeeper`."""
        import ray

        with contextlib.suppress(Exception):  # the node may be gone, or Ray shut down
            ray.kill(self._actor)


class RayBerth:
    """See `Berth`."""

    def __init__(self, post: Post, *, calls: RayCalls, lookout: Lookout) -> None:
        self._post, self._calls, self._lookout = post, calls, lookout

    @property
    def node(self) -> NodeInfo:
        """See `Berth`."""
        return self._post.info

    @property
    def lost(self) -> str:
        """See `Berth`."""
        self._lookout.look()
        return self._post.lost

    def run(
        self,
        function: Callable[[V], R],
        value: V,
        *,
        claim: NodeClaim = NodeClaim.CORE,
        stop: Callable[[], bool] = never,
    ) -> R:
        """See `Berth`. A measurement waits for a card of the node that no other of ours has."""
        if not claim.is_measurement:
            return self._calls.make(self._post, function, value, claim=claim, stop=stop)
        while self._lookout.take(card=True, allows=self._is_mine) is None:
            if self.lost:
                raise NodeLostError(self.lost)
            if stop():
                raise StoppedError("nobody waits for it")
            time.sleep(_LOOK_S)
        try:
            return self._calls.make(self._post, function, value, claim=claim, stop=stop)
        finally:
            self._lookout.leave(self._post, card=True)

    def _is_mine(self, node: NodeInfo) -> bool:
        return node.id == self._post.info.id and not self._post.lost

    def keep(self, *, card: bool = False) -> RayKeeper:
        """See `Berth`."""
        import ray

        made: Any = ray.remote(TreeKeeper)
        placed = made.options(
            num_cpus=1,
            num_gpus=share_of_card(self._post.info) if card else 0,
            max_concurrency=_THREADS,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy=on_node(self._post.info),
        )
        return RayKeeper(placed.remote())

    @property
    def standstill(self) -> Standstill:
        """See `Berth`."""
        return self._calls.standstill

    def leave(self) -> None:
        """See `Berth`."""
        self._lookout.leave(self._post)


class RayBerths:
    """See `Berths`."""

    def __init__(self, calls: RayCalls, lookout: Lookout) -> None:
        self._calls, self._lookout = calls, lookout

    def nodes(self) -> Sequence[NodeInfo]:
        """See `Berths`. Raises PoolClosedError."""
        if self._calls.closed:
            raise PoolClosedError("the connection to Ray is closed; make a new one")
        return [post.info for post in self._lookout.answering()]

    def ask(
        self,
        node: NodeInfo,
        function: Callable[[V], R],
        value: V,
        *,
        card: bool = False,
        stop: Callable[[], bool] = never,
    ) -> R:
        """See `Berths`."""
        posts = [post for post in self._lookout.answering() if post.info.id == node.id]
        if not posts:
            raise NodeLostError("the node is gone")
        claim = NodeClaim.SHARED_CARD if card else NodeClaim.NOTHING
        return self._calls.make(posts[0], function, value, claim=claim, stop=stop)

    def take(self, allows: Callable[[NodeInfo], bool]) -> RayBerth | None:
        """See `Berths`."""
        post = self._lookout.take(allows=allows)
        return None if post is None else RayBerth(post, calls=self._calls, lookout=self._lookout)
