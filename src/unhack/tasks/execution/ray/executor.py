"""`executor="ray"`: the items of a batch are judged on every node of a Ray cluster."""

from __future__ import annotations

import contextlib
import os
import threading

from unhack.core.errors import PoolClosedError
from unhack.core.optional_dependencies import require
from unhack.core.verdict import Verdict
from unhack.tasks.execution.ray.batch import DispatchedBatch
from unhack.tasks.execution.ray.cluster import RayCluster
from unhack.tasks.execution.ray.dispatcher import Dispatcher
from unhack.tasks.execution.ray.health import SILENCE_S
from unhack.tasks.task import Task


class RayBatch:
    """The caller's end of one batch in progress; see `BatchInProgress`."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._batch = DispatchedBatch(dispatcher.call_soon, dispatcher.dismiss)

    @property
    def open(self) -> int:
        """Items handed in whose verdict has not been taken."""
        return self._batch.results.open

    @property
    def window(self) -> int:
        """Items in progress that keep every node busy."""
        return self._dispatcher.capacity

    def add(self, items: list[tuple[int, Task, str]]) -> None:
        """Hand in (index, task, completion) items, from any thread."""
        self._batch.results.expect(len(items))
        self._dispatcher.call_soon(lambda: self._dispatcher.accept(self._batch, items))

    def take(
        self, *, at_least: int = 1, timeout_s: float | None = None
    ) -> list[tuple[int, Verdict]]:
        """Wait until `at_least` verdicts (or all that are open) are there, and take them.

        Raises what ended the batch as a whole.
        """
        found = self._batch.results.take(at_least=at_least, timeout_s=timeout_s)
        if not self.open and not self._batch.ended:
            with contextlib.suppress(PoolClosedError):  # it has left every node then
                self._dispatcher.call_soon(self._rest)
        return found

    def _rest(self) -> None:
        """Leave the nodes when every verdict was taken; more items bring it back."""
        if not self.open and not self._batch.ended:
            self._dispatcher.dismiss(self._batch)

    def cancel(self) -> None:
        """End the batch on every node; no further verdict comes."""
        with contextlib.suppress(PoolClosedError):  # it has ended then
            self._dispatcher.call_soon(self._batch.end)


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
        self._cluster = RayCluster(address)
        self._dispatcher = Dispatcher(
            self._cluster, slots=slots, patience_s=patience_s, silence_s=silence_s
        )

    def begin(self) -> RayBatch:
        """A new batch on the cluster; once the executor is closed, its first items raise
        PoolClosedError."""
        return RayBatch(self._dispatcher)

    def nodes(self) -> list[str]:
        """The ids of the nodes that judge now."""
        return self._dispatcher.nodes()

    @property
    def usable(self) -> bool:
        """False once it is closed, or this process has left its Ray."""
        return not self._dispatcher.closed and self._cluster.joined

    def close(self) -> None:
        """End every batch and actor, and Ray if this executor started it."""
        self._dispatcher.close()
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
