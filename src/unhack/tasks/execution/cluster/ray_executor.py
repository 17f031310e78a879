"""`executor="ray"`: the items of a batch are judged on every node of a Ray cluster."""

from __future__ import annotations

import importlib.metadata
import os
import threading

from unhack.core.extras import require
from unhack.tasks.execution.cluster.courier import SILENCE_S, Courier
from unhack.tasks.execution.cluster.flight import ClusterFlight
from unhack.tasks.execution.cluster.ray_cluster import RayCluster, connection
from unhack.tasks.execution.executor import BatchInProgress


class RayExecutor:
    """Judges on the nodes of a Ray cluster, one actor with a pool on each.

    Uses the Ray that this process is connected to; else `address`, else `RAY_ADDRESS`, else starts
    one here. `slots`: workers on each node, by default the cores that it offers to Ray.
    `patience_s`: seconds without any node that answers, after which a batch ends with SandboxError.
    `silence_s`: seconds after which a node that answers no call loses its items to others. Raises
    UsageError where Ray is not installed or cannot be joined.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        slots: int | None = None,
        patience_s: float = 300.0,
        silence_s: float = SILENCE_S,
    ) -> None:
        self._cluster = RayCluster(address, slots=slots)
        version = importlib.metadata.version("unhack")
        self._courier = Courier(
            self._cluster, patience_s=patience_s, version=version, silence_s=silence_s
        )

    def begin(self) -> BatchInProgress:
        """A new batch on the cluster. Raises PoolClosedError after `close`."""
        return ClusterFlight(self._courier)

    def desks(self) -> list[str]:
        """The ids of the nodes that judge now."""
        return self._courier.desks()

    @property
    def usable(self) -> bool:
        """False once it is closed, or this process has left its Ray."""
        return not self._courier.closed and self._cluster.connection == connection()

    def close(self) -> None:
        """End every batch and actor, and Ray if this executor started it."""
        self._courier.close()
        self._cluster.close()


_shared: dict[int, RayExecutor] = {}
_shared_lock = threading.Lock()


def shared_ray_executor() -> RayExecutor:
    """The process's own executor on Ray, made on first use and again when Ray was left."""
    require("ray", "ray", purpose="executor='ray'")
    with _shared_lock:
        executor = _shared.get(os.getpid())
        if executor is None or not executor.usable:
            executor = _shared[os.getpid()] = RayExecutor()
        return executor
