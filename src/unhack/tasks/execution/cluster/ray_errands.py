# pyright: basic, reportMissingImports=false
"""Whole calls as tasks of Ray: one core of Ray's account each, again elsewhere when a node is lost.

Covered: nodes that die; a cluster without any node that offers a core.
Not covered: a node that stands still keeps its calls until Ray gives its connections up, which
takes minutes; a call that runs for ever (what it runs has limits of its own).
"""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Callable
from typing import Any

from unhack.core.errors import PoolClosedError, SandboxError
from unhack.tasks.execution.cluster.errands import R, V, answer, result_of
from unhack.tasks.execution.cluster.ray_cluster import RayCluster

_RETRIES = 3
"""Further nodes that a call may be given to."""
_LOOK_S = 2.0


class RayErrands:
    """See `Errands`. Connects to Ray as `RayExecutor` does.

    `patience_s`: seconds without any node that offers a core, after which a call ends with
    SandboxError. Raises UsageError where Ray is not installed.
    """

    def __init__(self, address: str | None = None, *, patience_s: float = 300.0) -> None:
        self._cluster = RayCluster(address)
        import ray  # RayCluster says how to get it where it is missing

        self._ray: Any = ray
        self._patience_s = patience_s
        self._answer = ray.remote(num_cpus=1, max_retries=_RETRIES)(answer)
        self._closed = False

    def run(self, function: Callable[[V], R], value: V) -> R:
        """See `Errands`. Raises SandboxUnavailableError, SandboxError, PoolClosedError."""
        if self._closed:
            raise PoolClosedError("the connection to Ray is closed; make a new one")
        reference = self._answer.remote(function, value, importlib.metadata.version("unhack"))
        alone_since = time.monotonic()
        while not self._ray.wait([reference], timeout=_LOOK_S)[0]:
            now = time.monotonic()
            if self._closed:
                self._ray.cancel(reference, force=True)
                raise PoolClosedError("the connection to Ray was closed")
            if self._cluster.nodes():
                alone_since = now
            elif now - alone_since > self._patience_s:
                self._ray.cancel(reference, force=True)
                raise SandboxError(
                    f"no node of the cluster has offered a core for {self._patience_s:.0f} s; "
                    "`ray status` shows the cluster"
                )
        try:
            reply = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            words = " ".join(lines[-3:])[:500]
            raise SandboxError(f"a node could not answer: {words}") from error
        return result_of(reply)

    def close(self) -> None:
        """End every call, and Ray if this object started it."""
        self._closed = True
        self._cluster.close()
