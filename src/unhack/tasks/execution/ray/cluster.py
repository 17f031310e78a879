# pyright: basic, reportMissingImports=false
"""A Ray cluster: its nodes, and processes that are started on them.

Covered: a Ray that runs already is used and never shut down; calls are never tried twice by Ray. An
address that cannot be joined is told at once, with what to do: Ray itself waits for minutes for one
at which nothing listens, and says little of why one that does listen refuses.
Not covered: code on nodes. Each needs these versions of unhack and of contents, and whatever the
tasks import, by its image or by a `runtime_env` of the caller's `ray.init`. A Ray that falls silent
while it is joined; Ray gives up by itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from unhack.core.errors import SandboxError, UsageError
from unhack.core.optional_dependencies import require

P = ParamSpec("P")
R = TypeVar("R")

_HOST_AND_PORT = re.compile(r"(?:ray://)?(\[[0-9a-fA-F:.%]+\]|[^:/\s]+):([0-9]{1,5})")
_WAIT_S = 10.0
"""Longest time for a connection; a head node of the same cluster takes milliseconds."""
_DEFAULTS = {"num_cpus": 0, "max_restarts": 0, "max_task_retries": 0}


class NodeLostError(SandboxError):
    """A node was lost with what it did; the message says how."""


class StoppedError(SandboxError):
    """The caller no longer wanted the result."""


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A machine that is alive."""

    id: str
    name: str
    """Its address, for people."""
    slots: int
    """Cores that it offers."""
    cards: int = 0
    """GPUs that it offers."""


class RayActor:
    """A process on a node that holds one object."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def call(
        self, method: Callable[Concatenate[Any, P], R], *values: P.args, **named: P.kwargs
    ) -> Future[R]:
        """Call a method of the object there; the future fails when the process is lost. Raises what
        values raise that cannot be pickled."""
        return getattr(self._handle, method.__name__).remote(*values, **named).future()

    def end(self) -> None:
        """End the process; does not wait."""
        import ray  # an extra, loaded by use

        with contextlib.suppress(Exception):  # the node may be gone, or Ray shut down
            cast("Any", ray).kill(self._handle)


class RayCluster:
    """The nodes of the Ray that this process is connected to; else of `address`, else of
    `RAY_ADDRESS`, else of one that is started here.

    Raises UsageError where Ray is not installed or cannot be joined.
    """

    def __init__(self, address: str | None = None) -> None:
        require("ray", "ray", purpose="executor='ray'")
        import ray  # an extra, loaded by use

        self._ray: Any = ray
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
        self._connection = _connection()

    @property
    def joined(self) -> bool:
        """False once this process has left its Ray."""
        return self._connection == _connection()

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

    def start(self, made: type, node: NodeInfo, *values: Any, **options: Any) -> RayActor:
        """Start a process on a node that holds `made(*values)`. It takes no core from Ray's own
        account, unless `options`, which are Ray's, say so."""
        wanted = {**_DEFAULTS, "scheduling_strategy": on_node(node), **options}
        return RayActor(self._ray.remote(**wanted)(made).remote(*values))

    def close(self) -> None:
        """Shut Ray down if this object started it."""
        if self.started and self.joined:
            self._ray.shutdown()


def on_node(node: NodeInfo) -> Any:
    """The strategy of Ray that places something on this node or nowhere."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # an extra

    return NodeAffinitySchedulingStrategy(node.id, soft=False)


def check_reachable(address: str) -> None:
    """Raise UsageError for an address at which nothing listens. What is no host and port, such as
    `auto`, is left to Ray."""
    found = _HOST_AND_PORT.fullmatch(address)
    if found is None:
        return
    try:
        socket.create_connection((found[1].strip("[]"), int(found[2])), _WAIT_S).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"no Ray answers at {address}: {error}; give the address of a head node "
            "(`ray start --head` prints it), or unset RAY_ADDRESS for a Ray of this machine"
        ) from None


@contextlib.contextmanager
def joining(address: str) -> Generator[None]:
    """Raise what Ray's `init` raises for an address as UsageError with what to do."""
    try:
        yield
    except (ConnectionError, RuntimeError, ValueError) as error:
        said = " ".join(str(error).split())[:500]
        raise UsageError(
            f"this process could not join the Ray at {address}: {said}; Ray and Python must have "
            "the versions that the cluster has, and a cluster that asks for a token wants "
            "RAY_AUTH_MODE=token and its token here too"
        ) from error


def _connection() -> str:
    """A name of this process's connection to Ray; empty without one."""
    import ray  # an extra, loaded by use

    if not ray.is_initialized():
        return ""
    return cast("Any", ray).get_runtime_context().get_worker_id()


def _remarks_to_stderr() -> None:
    """Have Ray print what it says of nodes on stderr: stdout belongs to results."""
    from ray._private import worker  # an extra; Ray has no public way to choose the stream

    say = getattr(worker, "print_to_stdstream", None)
    if say is None or getattr(say, "on_stderr", False):
        return

    def say_on_stderr(data: dict[str, Any], ignore_prefix: bool) -> None:
        say({**data, "is_err": True}, ignore_prefix)

    cast("Any", say_on_stderr).on_stderr = True
    cast("Any", worker).print_to_stdstream = say_on_stderr
