# pyright: basic, reportMissingImports=false
"""Whole calls as tasks of Ray: one core of Ray's account each, again elsewhere when a node is lost.

A call with a card takes nine tenths of a GPU of Ray's account and no core, in a fresh process that
sees that card alone (Ray sets `CUDA_VISIBLE_DEVICES`, and ends the process with the call); the rest
is shared by agents that are at work on the card.

Covered: nodes that die or stand still; a cluster without any node that answers, or with a card.
Not covered: a call that runs for ever (what it runs has limits of its own); other work of Ray's on
a node, whose end a call there waits for.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from unhack.core.errors import PoolClosedError, SandboxError, SandboxUnavailableError
from unhack.tasks.execution.ray.cluster import RayCluster
from unhack.tasks.execution.ray.dispatcher import SILENCE_S
from unhack.tasks.execution.ray.errands import R, V
from unhack.tasks.execution.ray.health import Lookout, Post
from unhack.tasks.execution.ray.nodes import NodeClaim, NodeLostError
from unhack.tasks.execution.ray.ray_berths import RayBerths
from unhack.tasks.execution.ray.ray_calls import RayCalls

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
        self._patience_s = patience_s
        self._lookout = Lookout(self._cluster, silence_s=silence_s)
        self._calls = RayCalls(self._lookout)
        self.berths = RayBerths(self._calls, self._lookout)
        """The same nodes, for long work."""

    def run(self, function: Callable[[V], R], value: V, *, claim: NodeClaim = NodeClaim.CORE) -> R:
        """See `Errands`. Raises SandboxUnavailableError, SandboxError, PoolClosedError."""
        lost: list[str] = []
        card = claim.is_measurement
        while len(lost) < _MAX_LOSSES:
            post = self._free_post(card=card)
            try:
                return self._calls.make(post, function, value, claim=claim)
            except NodeLostError as error:
                lost.append(f"{post.info.name}: {error}")
            finally:
                self._lookout.leave(post, card=card)
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

    def _free_post(self, *, card: bool) -> Post:
        """A node with a core, or a card, that no call of ours has. Raises SandboxError,
        PoolClosedError."""
        while True:
            if self._calls.closed:
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

    def close(self) -> None:
        """End every call, and Ray if this object started it."""
        self._calls.closed = True
        self._lookout.close()
        self._cluster.close()
