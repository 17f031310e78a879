# pyright: basic, reportMissingImports=false
"""One call as a task of Ray, on a node that is given.

Covered: a node that dies or stands still in the middle of it; an end of the caller's patience.
Not covered: where it is made again; that is the caller's to say.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from unhack.core.errors import PoolClosedError, SandboxError
from unhack.tasks.execution.ray.berths import never
from unhack.tasks.execution.ray.cluster import on_node
from unhack.tasks.execution.ray.errands import answer, result_of
from unhack.tasks.execution.ray.health import Lookout, Post
from unhack.tasks.execution.ray.nodes import (
    NodeClaim,
    NodeInfo,
    NodeLostError,
    StoppedError,
)
from unhack.tasks.execution.ray.pause import Standstill

_LOOK_S = 1.0


_MEASUREMENT = 0.9
"""The part of a card in Ray's account that a measurement has: one at a time, and no other work of
Ray's that wants a whole card."""
_GRAIN = 10_000
"""Ray counts cards by this part."""


def share_of_card(node: NodeInfo) -> float:
    """The part of a card in Ray's account that a tree has, or a look at the card: those of all
    cores fit beside a measurement, spread over the cards."""
    trees = 1 + -(-node.slots // max(1, node.cards))
    return max(1, round((1.0 - _MEASUREMENT) * _GRAIN) // trees) / _GRAIN


class RayCalls:
    """Makes calls; threads may share it."""

    def __init__(self, lookout: Lookout) -> None:
        import ray

        self._ray: Any = ray
        self._lookout = lookout
        self.closed = False
        self.standstill = Standstill()
        fresh: Any = ray.remote(num_cpus=0, max_calls=1, max_retries=0)(answer)
        self._answer: dict[NodeClaim, Any] = {
            NodeClaim.NOTHING: ray.remote(num_cpus=0, max_retries=0)(answer),
            NodeClaim.CORE: ray.remote(num_cpus=1, max_retries=0)(answer),
            NodeClaim.SHARED_CARD: fresh,
            NodeClaim.CARD: fresh,
            NodeClaim.QUIET_CARD: fresh,
        }

    def make(
        self,
        post: Post,
        function: Callable[[Any], Any],
        value: Any,
        *,
        claim: NodeClaim,
        stop: Callable[[], bool] = never,
    ) -> Any:
        """The result of a call. Raises NodeLostError, StoppedError, PoolClosedError,
        SandboxUnavailableError, SandboxError."""
        version = importlib.metadata.version("unhack")
        there = self._answer[claim].options(
            scheduling_strategy=on_node(post.info), num_gpus=_cards(post.info, claim)
        )
        with self._beside(post, claim) as agents:
            reference = there.remote(function, value, version, agents)
            reply = self._waited(reference, post, stop)
        return result_of(reply)

    def _beside(self, post: Post, claim: NodeClaim) -> AbstractContextManager[tuple[int, ...]]:
        """The pids of agents that a call on a card has beside it."""
        if not claim.is_measurement and claim is not NodeClaim.SHARED_CARD:
            return nullcontext(())
        quiet = claim is NodeClaim.QUIET_CARD
        return self.standstill.measuring(post.info.id, quiet=quiet)

    def _waited(self, reference: Any, post: Post, stop: Callable[[], bool]) -> Any:
        while not self._ray.wait([reference], timeout=_LOOK_S)[0]:
            self._lookout.look()
            if post.lost or self.closed or stop():
                self._ray.cancel(reference, force=True)
                if self.closed:
                    raise PoolClosedError("the connection to Ray was closed")
                raise NodeLostError(post.lost) if post.lost else StoppedError("nobody waits for it")
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise SandboxError(f"a node could not answer: {_words(error)}") from error
        except self._ray.exceptions.RayError as error:
            raise NodeLostError(_words(error)) from error


def _cards(node: NodeInfo, claim: NodeClaim) -> float:
    if claim is NodeClaim.SHARED_CARD:
        return share_of_card(node)
    return _MEASUREMENT if claim.is_measurement else 0.0


def _words(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[-3:])[:500] or type(error).__name__
