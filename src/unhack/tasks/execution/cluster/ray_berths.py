# pyright: basic, reportMissingImports=false
"""Berths on the nodes of a Ray: their core is one of the lookout's, and of Ray's account.

A process tree has an actor of its own, in a process of its own, which Ray ends with the driver.

Covered: nodes that die or stand still.
Not covered: other work of Ray's on a node, whose end a berth there waits for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from unhack.core.errors import PoolClosedError
from unhack.sandbox.workspace.process_tree import ProcessTreePlan
from unhack.tasks.execution.cluster.berths import R, V, never
from unhack.tasks.execution.cluster.lookout import Lookout, Post
from unhack.tasks.execution.cluster.nodes import NodeInfo, NodeLostError
from unhack.tasks.execution.cluster.ray_calls import NodeClaim, RayCalls
from unhack.tasks.execution.cluster.ray_cluster import on_node
from unhack.tasks.execution.cluster.trees.keeper import TreeKeeper
from unhack.tasks.execution.cluster.trees.pieces import PieceBatch, StreamPiece

_THREADS = 16
"""Calls of a keeper at once."""


class RayKeeper:
    """See `RemoteKeeper`: a keeper behind an actor handle."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def begin(self, command: list[str], plan: ProcessTreePlan) -> Future[None]:
        """See `RemoteKeeper`."""
        return self._actor.begin.remote(command, plan).future()

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
        beside: bool = False,
        stop: Callable[[], bool] = never,
    ) -> R:
        """See `Berth`."""
        claim = NodeClaim.NOTHING if beside else NodeClaim.CORE
        return self._calls.make(self._post, function, value, claim=claim, stop=stop)

    def keep(self) -> RayKeeper:
        """See `Berth`."""
        import ray

        made: Any = ray.remote(TreeKeeper)
        placed = made.options(
            num_cpus=1,
            max_concurrency=_THREADS,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy=on_node(self._post.info),
        )
        return RayKeeper(placed.remote())

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
        stop: Callable[[], bool] = never,
    ) -> R:
        """See `Berths`."""
        posts = [post for post in self._lookout.answering() if post.info.id == node.id]
        if not posts:
            raise NodeLostError("the node is gone")
        return self._calls.make(posts[0], function, value, claim=NodeClaim.NOTHING, stop=stop)

    def take(self, allows: Callable[[NodeInfo], bool]) -> RayBerth | None:
        """See `Berths`."""
        post = self._lookout.take(allows=allows)
        return None if post is None else RayBerth(post, calls=self._calls, lookout=self._lookout)
