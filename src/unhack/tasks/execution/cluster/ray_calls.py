# pyright: basic, reportMissingImports=false
"""One call as a task of Ray, on a node that is given.

Covered: a node that dies or stands still in the middle of it; an end of the caller's patience.
Not covered: where it is made again; that is the caller's to say.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from enum import Enum
from typing import Any

from unhack.core.errors import PoolClosedError, SandboxError
from unhack.tasks.execution.cluster.berths import never
from unhack.tasks.execution.cluster.errands import answer, result_of
from unhack.tasks.execution.cluster.lookout import Lookout, Post
from unhack.tasks.execution.cluster.nodes import NodeLostError, StoppedError
from unhack.tasks.execution.cluster.ray_cluster import on_node

_LOOK_S = 1.0


class NodeClaim(Enum):
    """The part of Ray's account that a call has while it runs."""

    NOTHING = 0
    CORE = 1
    CARD = 2
    """A GPU and a core, in a fresh process that sees that card alone."""


class RayCalls:
    """Makes calls; threads may share it."""

    def __init__(self, lookout: Lookout) -> None:
        import ray

        self._ray: Any = ray
        self._lookout = lookout
        self.closed = False
        self._answer: dict[NodeClaim, Any] = {
            NodeClaim.NOTHING: ray.remote(num_cpus=0, max_retries=0)(answer),
            NodeClaim.CORE: ray.remote(num_cpus=1, max_retries=0)(answer),
            NodeClaim.CARD: ray.remote(num_cpus=1, num_gpus=1, max_calls=1, max_retries=0)(answer),
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
        there = self._answer[claim].options(scheduling_strategy=on_node(post.info))
        reference = there.remote(function, value, version)
        while not self._ray.wait([reference], timeout=_LOOK_S)[0]:
            self._lookout.look()
            if post.lost or self.closed or stop():
                self._ray.cancel(reference, force=True)
                if self.closed:
                    raise PoolClosedError("the connection to Ray was closed")
                raise NodeLostError(post.lost) if post.lost else StoppedError("nobody waits for it")
        try:
            reply = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise SandboxError(f"a node could not answer: {_words(error)}") from error
        except self._ray.exceptions.RayError as error:
            raise NodeLostError(_words(error)) from error
        return result_of(reply)


def _words(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[-3:])[:500] or type(error).__name__
