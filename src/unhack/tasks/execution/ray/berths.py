"""Berths: a core of a node that one long piece of work has for itself, to its end.

Covered: a node that is lost takes its work with it, once: NodeLostError says so, and whoever did
the work decides where it is done again.
Not covered: whether a node is fit for the work; `ask` lets its user find out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from unhack.tasks.execution.ray.nodes import NodeClaim, NodeInfo
from unhack.tasks.execution.ray.pause import Standstill
from unhack.tasks.execution.ray.pieces import RemoteKeeper

V = TypeVar("V")
R = TypeVar("R")


def never() -> bool:
    """Do not stop."""
    return False


class Berth(Protocol):
    """A core of a node."""

    @property
    def node(self) -> NodeInfo:
        """The node."""
        ...

    @property
    def lost(self) -> str:
        """The reason why the node is given up; empty while it is not."""
        ...

    def run(
        self,
        function: Callable[[V], R],
        value: V,
        *,
        claim: NodeClaim = NodeClaim.CORE,
        stop: Callable[[], bool] = never,
    ) -> R:
        """The result of `function(value)`, made there; see `Errands.run`. A tree of this berth has
        its core: a call beside it claims none. Raises NodeLostError, StoppedError once `stop` says
        so."""
        ...

    def keep(self, *, card: bool = False) -> RemoteKeeper:
        """Start the keeper of a process tree there, which has the core until it ends; with `card`
        in a process that sees one card, of which it has a share."""
        ...

    @property
    def standstill(self) -> Standstill:
        """The trees of all nodes, which stand still for a call that claims it."""
        ...

    def leave(self) -> None:
        """Give the core back."""
        ...


class Berths(Protocol):
    """The nodes of a cluster, as places of long work. Threads may share it."""

    def nodes(self) -> Sequence[NodeInfo]:
        """Those that answer."""
        ...

    def ask(
        self,
        node: NodeInfo,
        function: Callable[[V], R],
        value: V,
        *,
        card: bool = False,
        stop: Callable[[], bool] = never,
    ) -> R:
        """A short call that needs no core of its own, with `card` where a card is seen; else as
        `Berth.run`."""
        ...

    def take(self, allows: Callable[[NodeInfo], bool]) -> Berth | None:
        """A core of the emptiest node that answers, is allowed and has one left; None without."""
        ...
