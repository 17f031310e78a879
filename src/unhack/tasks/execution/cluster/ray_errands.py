# pyright: basic, reportMissingImports=false
"""Whole calls as tasks of Ray: one core of Ray's account each, again elsewhere when a node is lost.

A call with a card takes one GPU of Ray's account, too, in a fresh process that sees that card alone
(Ray sets `CUDA_VISIBLE_DEVICES`, and ends the process with the call).

Covered: nodes that die or stand still; a cluster without any node that answers, or with a card.
Not covered: a call that runs for ever (what it runs has limits of its own); other work of Ray's on
a node, whose end a call there waits for.
"""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Callable
from typing import Any

from unhack.core.errors import PoolClosedError, SandboxError, SandboxUnavailableError
from unhack.tasks.execution.cluster.courier import SILENCE_S
from unhack.tasks.execution.cluster.errands import R, V, answer, result_of
from unhack.tasks.execution.cluster.lookout import Lookout, Post
from unhack.tasks.execution.cluster.ray_cluster import RayCluster, on_node

_MAX_LOSSES = 4
"""Nodes that may be lost with a call."""
_LOOK_S = 1.0


class RayErrands:
    """See `Errands`. Connects to Ray as `RayExecutor` does.

    `patience_s`: seconds without any node that answers, after which a call ends with SandboxError.
    `silence_s`: seconds after which a node that answers nothing loses its calls to others. Raises
    UsageError where Ray is not installed.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        patience_s: float = 300.0,
        silence_s: float = SILENCE_S,
    ) -> None:
        self._cluster = RayCluster(address)
        import ray  # RayCluster says how to get it where it is missing

        self._ray: Any = ray
        self._patience_s = patience_s
        plain = ray.remote(num_cpus=1, max_retries=0)(answer)
        on_card = ray.remote(num_cpus=1, num_gpus=1, max_calls=1, max_retries=0)(answer)
        self._answer: dict[bool, Any] = {False: plain, True: on_card}
        self._lookout = Lookout(self._cluster, silence_s=silence_s)
        self._closed = False

    def run(self, function: Callable[[V], R], value: V, *, card: bool = False) -> R:
        """See `Errands`. Raises SandboxUnavailableError, SandboxError, PoolClosedError."""
        lost: list[str] = []
        while len(lost) < _MAX_LOSSES:
            post = self._free_post(card=card)
            try:
                reply, why = self._make(post, function, value, card=card)
            finally:
                self._lookout.leave(post, card=card)
            if not why:
                return result_of(reply)
            lost.append(f"{post.info.name}: {why}")
        raise SandboxError(f"{len(lost)} nodes were lost with a call; the last was {lost[-1]}")

    def check_cards(self) -> None:
        """See `Errands`."""
        nodes = self._cluster.nodes()
        if not any(node.cards for node in nodes):
            names = ", ".join(f"{node.name} ({node.slots} cores)" for node in nodes) or "none"
            raise SandboxUnavailableError(
                f"no node of the Ray cluster offers a GPU; those with cores: {names}. Start Ray on "
                "a machine with a card as `ray start --address=HEAD:6379 --num-gpus=1`"
            )

    @property
    def cards_here(self) -> bool:
        """See `Errands`."""
        return all(node.here for node in self._cluster.nodes() if node.cards)

    def _free_post(self, *, card: bool) -> Post:
        """A node with a core that no call of ours has. Raises SandboxError, PoolClosedError."""
        while True:
            if self._closed:
                raise PoolClosedError("the connection to Ray is closed; make a new one")
            post = self._lookout.take(card=card)
            if post is not None:
                return post
            if self._lookout.look(card=card) > self._patience_s:
                raise SandboxError(
                    f"no node of the cluster that offers a {'GPU' if card else 'core'} has "
                    f"answered for {self._patience_s:.0f} s; `ray status` shows the cluster"
                )
            time.sleep(_LOOK_S)

    def _make(
        self, post: Post, function: Callable[[V], R], value: V, *, card: bool
    ) -> tuple[Any, str]:
        """The reply of a node, or why the node is lost. Raises SandboxError, PoolClosedError."""
        version = importlib.metadata.version("unhack")
        there = self._answer[card].options(scheduling_strategy=on_node(post.info))
        reference = there.remote(function, value, version)
        while not self._ray.wait([reference], timeout=_LOOK_S)[0]:
            self._lookout.look()
            if post.lost or self._closed:
                self._ray.cancel(reference, force=True)
                if self._closed:
                    raise PoolClosedError("the connection to Ray was closed")
                return None, post.lost
        try:
            return self._ray.get(reference), ""
        except self._ray.exceptions.RayTaskError as error:
            raise SandboxError(f"a node could not answer: {_words(error)}") from error
        except self._ray.exceptions.RayError as error:
            return None, _words(error)

    def close(self) -> None:
        """End every call, and Ray if this object started it."""
        self._closed = True
        self._lookout.close()
        self._cluster.close()


def _words(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[-3:])[:500] or type(error).__name__
