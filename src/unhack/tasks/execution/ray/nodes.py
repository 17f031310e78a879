"""The words between the driver and its nodes: a node, a cluster of them, an item on its way."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from unhack.core.errors import SandboxError
from unhack.tasks.execution.ray.node_worker import Greeting, Order, Parcel
from unhack.tasks.task import Task


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


class NodeClaim(Enum):
    """The part of a node that a call has while it runs."""

    NOTHING = auto()
    CORE = auto()
    SHARED_CARD = auto()
    """A small share of a card, beside agents and a measurement: for a look at it."""
    CARD = auto()
    """A card, beside shares of it alone, in a fresh process that sees that card alone."""
    QUIET_CARD = auto()
    """The same, while the agents on the node stand still."""

    @property
    def is_measurement(self) -> bool:
        """True for a call that no other of ours shares its card with."""
        return self in (NodeClaim.CARD, NodeClaim.QUIET_CARD)


class RemoteDesk(Protocol):
    """A `Desk` on a node. A future fails when the node is lost."""

    def greet(self) -> Future[Greeting]:
        """See `Desk.greet`."""
        ...

    def hand_in(self, flight: str, order: Order) -> Future[None]:
        """See `Desk.hand_in`. Raises UsageError for a task that cannot cross."""
        ...

    def take(self, flight: str, at_least: int, wait_s: float) -> Future[Parcel]:
        """See `Desk.take`."""
        ...

    def cancel(self, flight: str) -> None:
        """See `Desk.cancel`; does not wait."""
        ...

    def end(self) -> None:
        """End the desk's process."""
        ...


class Cluster(Protocol):
    """Machines that come and go."""

    def nodes(self) -> Sequence[NodeInfo]:
        """Those alive now that offer cores."""
        ...

    def start(self, node: NodeInfo) -> RemoteDesk:
        """Start a desk on a node; `greet` tells when it is there."""
        ...


@dataclass(slots=True)
class OpenItem:
    """One item on its way to a verdict."""

    index: int
    task: Task
    completion: str
    losses: int = 0
    """Nodes that were lost while they judged it."""
    control: str | None = None
    """A completion of its task that another node judged, once it was tried with that."""
