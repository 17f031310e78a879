# pyright: basic, reportMissingImports=false
"""Ray as a cluster: one actor for each node that offers cores.

Covered: a Ray that runs already is used and never shut down; calls are never tried twice by Ray.
Not covered: code on nodes. Each needs this version of unhack and whatever the tasks import, by its
image or by a `runtime_env` of the caller's `ray.init`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, cast

from unhack.core.errors import UsageError
from unhack.core.extras import require
from unhack.tasks.execution.ray.health import Pulse
from unhack.tasks.execution.ray.node_worker import Desk, Greeting, Order, Parcel
from unhack.tasks.execution.ray.nodes import NodeInfo, RemoteDesk
from unhack.tasks.execution.ray.ray_address import check_reachable, joining

_TAKES = 64
"""Batches that may wait for verdicts of one node at once."""


class RayDesk:
    """A desk behind an actor handle."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def greet(self) -> Future[Greeting]:
        """See `Desk.greet`."""
        return self._actor.greet.remote().future()

    def hand_in(self, flight: str, order: Order) -> Future[None]:
        """See `Desk.hand_in`. Raises UsageError for a task that cannot cross."""
        try:
            return self._actor.hand_in.remote(flight, order).future()
        except (TypeError, AttributeError, ValueError) as error:
            names = ", ".join(sorted({task.id for task in order.tasks.values()})[:3])
            raise UsageError(
                f"a task cannot cross to the nodes (one of {names}): {str(error)[:500]}; judge it "
                "with executor='local'"
            ) from error

    def take(self, flight: str, at_least: int, wait_s: float) -> Future[Parcel]:
        """See `Desk.take`."""
        return self._actor.take.remote(flight, at_least, wait_s).future()

    def cancel(self, flight: str) -> None:
        """See `Desk.cancel`; does not wait."""
        with contextlib.suppress(Exception):  # a node that is gone has nothing to cancel
            self._actor.cancel.remote(flight)

    def end(self) -> None:
        """End the actor's process."""
        _kill(self._actor)


class RayPulse:
    """A pulse behind an actor handle."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def beat(self) -> Future[None]:
        """See `Pulse.beat`."""
        return self._actor.beat.remote().future()

    def end(self) -> None:
        """See `Pulse.end`."""
        _kill(self._actor)


class _Answering:
    """The process of a pulse."""

    def beat(self) -> None:
        """Answer."""


class RayCluster:
    """The nodes of the Ray that this process is connected to, or connects to now.

    Without `address` and `RAY_ADDRESS` a Ray of this machine is started. Raises UsageError where
    Ray is not installed, or cannot be joined.
    """

    def __init__(self, address: str | None = None, *, slots: int | None = None) -> None:
        require("ray", "ray", purpose="executor='ray'")
        import ray

        self._ray: Any = ray
        self._slots = slots
        self.started = False
        """True when this object started the Ray that it uses."""
        if not self._ray.is_initialized():
            address = address or os.environ.get("RAY_ADDRESS") or "local"
            self.started = address == "local"
            extra: dict[str, Any] = {"include_dashboard": False} if self.started else {}
            _remarks_to_stderr()
            check_reachable(address)
            with joining(address):
                self._ray.init(address=address, log_to_driver=False, logging_level="ERROR", **extra)
        take = self._ray.method(concurrency_group="take")(Desk.take)
        held = type("HeldDesk", (Desk,), {"take": take})
        self._actor_class = self._ray.remote(concurrency_groups={"take": _TAKES})(held)
        self.connection = connection()

    def nodes(self) -> Sequence[NodeInfo]:
        """Those alive now that offer cores."""
        return [
            NodeInfo(
                node["NodeID"],
                node["NodeManagerAddress"],
                slots=int(node["Resources"]["CPU"]),
                cards=int(node["Resources"].get("GPU", 0)),
            )
            for node in self._ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
        ]

    def start(self, node: NodeInfo) -> RemoteDesk:
        """Start a desk on a node; it takes no core from Ray's own account."""
        actor = self._actor_class.options(**_ALONE, scheduling_strategy=on_node(node))
        return RayDesk(actor.remote(self._slots or node.slots))

    def pulse(self, node: NodeInfo) -> Pulse:
        """Start a pulse on a node; it takes no core from Ray's own account."""
        actor = self._ray.remote(_Answering).options(**_ALONE, scheduling_strategy=on_node(node))
        return RayPulse(actor.remote())

    def close(self) -> None:
        """Shut Ray down if this object started it."""
        if self.started and self.connection == connection():
            self._ray.shutdown()


_ALONE = {"num_cpus": 0, "max_restarts": 0, "max_task_retries": 0}


def on_node(node: NodeInfo) -> Any:
    """The strategy of Ray that places something on this node or nowhere."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node.id, soft=False)


def _kill(actor: Any) -> None:
    import ray

    with contextlib.suppress(Exception):  # the node may be gone, or Ray shut down
        cast("Any", ray).kill(actor)


def connection() -> str:
    """A name of this process's connection to Ray; empty without one."""
    import ray

    if not ray.is_initialized():
        return ""
    return cast("Any", ray).get_runtime_context().get_worker_id()


def _remarks_to_stderr() -> None:
    """Have Ray print what it says of nodes on stderr: stdout belongs to results."""
    from ray._private import worker

    say = getattr(worker, "print_to_stdstream", None)
    if say is None or getattr(say, "on_stderr", False):
        return

    def say_on_stderr(data: dict[str, Any], ignore_prefix: bool) -> None:
        say({**data, "is_err": True}, ignore_prefix)

    cast("Any", say_on_stderr).on_stderr = True
    cast("Any", worker).print_to_stdstream = say_on_stderr
