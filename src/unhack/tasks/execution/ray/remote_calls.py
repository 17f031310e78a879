# pyright: basic, reportMissingImports=false
"""Whole calls on the nodes of a Ray cluster, for work that is no batch of completions.

A call is a task of Ray and has one core of Ray's account. A call with a card takes nine tenths of a
GPU of that account and no core, in a fresh process that sees that card alone (Ray sets
`CUDA_VISIBLE_DEVICES`, and ends the process with the call); the rest is shared by agents that are
at work on the card. A slot is a core of a node that one long piece of work has to its end.

Covered: nodes that die or stand still: a call is made again elsewhere and has one result, work in
a slot is lost once (NodeLostError) and its owner decides; a cluster without any node that answers,
or with a card.
Not covered: a call that runs for ever (what it runs has limits of its own); other work of Ray's on
a node, whose end a call there waits for; calls that measure the processors' time: others may run
beside them.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeVar

from unhack.core.errors import (
    PoolClosedError,
    SandboxError,
    SandboxUnavailableError,
    UnhackError,
)
from unhack.sandbox.distributions import version_conflict, versions
from unhack.sandbox.gpu.cards import cotenants
from unhack.tasks.execution.ray.cluster import (
    NodeInfo,
    NodeLostError,
    RayActor,
    RayCluster,
    StoppedError,
    on_node,
)
from unhack.tasks.execution.ray.health import SILENCE_S, HealthMonitor, NodeState
from unhack.tasks.execution.ray.pause import NodePauses
from unhack.tasks.execution.ray.tree_supervisor import TreeSupervisor

V = TypeVar("V")
R = TypeVar("R")

_MAX_LOSSES = 4
"""Nodes that may be lost with a call."""
_LOOK_S = 1.0
_MEASUREMENT = 0.9
"""The part of a card in Ray's account that a measurement has: one at a time, and no other work of
Ray's that wants a whole card."""
_GRAIN = 10_000
"""Ray counts cards by this part."""
_THREADS = 16
"""Calls of a supervisor at once."""


class NodeClaim(Enum):
    """The part of a node that a call has while it runs."""

    NOTHING = auto()
    CORE = auto()
    SHARED_CARD = auto()
    """A small share of a card, beside agents and a measurement: for a look at it."""
    CARD = auto()
    """A card, beside shares of it alone, in a fresh process that sees that card alone."""
    QUIET_CARD = auto()
    """The same, while the agents on the node pause."""

    @property
    def is_measurement(self) -> bool:
        """True for a call that no other of ours shares its card with."""
        return self in (NodeClaim.CARD, NodeClaim.QUIET_CARD)


@dataclass(frozen=True, slots=True)
class CallReply:
    """The end of a call: a value, or the words of an error."""

    value: Any = None
    error: str = ""
    unavailable: bool = False
    """True where the machine cannot isolate."""


def answer(
    function: Callable[[Any], Any], value: Any, known: Mapping[str, str], agents: Sequence[int] = ()
) -> CallReply:
    """Make a call on the machine that this runs on. `agents` are pids of trees beside it there,
    which share its card."""
    here = socket.gethostname()
    if differing := version_conflict(known, here=f"node {here}"):
        return CallReply(error=f"the caller has {differing}")
    try:
        with cotenants(agents):
            return CallReply(function(value))
    except SandboxUnavailableError as error:
        words = f"node {here}: {error}; `unhack doctor` on that node says what is missing"
        return CallReply(error=words, unavailable=True)
    except UnhackError as error:
        return CallReply(error=f"node {here}: {error}")


def result_of(reply: CallReply) -> Any:
    """The value of a call. Raises SandboxUnavailableError, SandboxError."""
    if reply.error:
        raise (SandboxUnavailableError if reply.unavailable else SandboxError)(reply.error)
    return reply.value


class RemoteCalls:
    """Makes calls on nodes; threads may share it. Connects to Ray as `RayExecutor` does.

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
        import ray  # an extra, loaded by use

        self._ray: Any = ray
        self._answer: Any = ray.remote(max_retries=0)(answer)
        self._answer_in_fresh: Any = ray.remote(max_retries=0, max_calls=1)(answer)
        self._patience_s = patience_s
        self._health = HealthMonitor(self._cluster, silence_s=silence_s)
        self._pauses = NodePauses()
        self._closed = False

    def run(self, function: Callable[[V], R], value: V, *, claim: NodeClaim = NodeClaim.CORE) -> R:
        """The result of `function(value)`, made where what it claims is free: a core, or a card.

        `function` stands in a module of the package. Raises SandboxUnavailableError, SandboxError
        (which name the machine, also for another version of unhack there), PoolClosedError.
        """
        lost: list[str] = []
        card = claim.is_measurement
        while len(lost) < _MAX_LOSSES:
            node = self._free_node(card=card)
            try:
                return self._call(node, function, value, claim=claim, stop=lambda: False)
            except NodeLostError as error:
                lost.append(f"{node.info.name}: {error}")
            finally:
                self._health.leave(node, card=card)
        raise SandboxError(f"{len(lost)} nodes were lost with a call; the last was {lost[-1]}")

    def check_cards(self) -> None:
        """Raise SandboxUnavailableError where no machine offers a GPU."""
        nodes = self._cluster.nodes()
        if not any(node.cards for node in nodes):
            names = ", ".join(f"{node.name} ({node.slots} cores)" for node in nodes) or "none"
            raise SandboxUnavailableError(
                f"no node of the Ray cluster offers a GPU; those with cores: {names}. Start Ray on "
                "a machine with a card as `ray start --address=HEAD:6379 --num-gpus=1`"
            )

    def nodes(self) -> Sequence[NodeInfo]:
        """Those that answer. Raises PoolClosedError."""
        self._check_open()
        return [state.info for state in self._health.answering()]

    def ask(
        self,
        node: NodeInfo,
        function: Callable[[V], R],
        value: V,
        *,
        claim: NodeClaim,
        stop: Callable[[], bool],
    ) -> R:
        """A short call on a node, which needs no core of its own; else as `NodeSlot.run`."""
        found = [state for state in self._health.answering() if state.info.id == node.id]
        if not found:
            raise NodeLostError("the node is gone")
        return self._call(found[0], function, value, claim=claim, stop=stop)

    def take_slot(self, allows: Callable[[NodeInfo], bool]) -> NodeSlot | None:
        """A core of the emptiest node that answers, is allowed and has one left; None without."""
        state = self._health.take(allows=allows)
        return None if state is None else NodeSlot(self, state)

    def close(self) -> None:
        """End every call, and Ray if this object started it."""
        self._closed = True
        self._health.close()
        self._cluster.close()

    def _free_node(self, *, card: bool) -> NodeState:
        """A node with a core, or a card, that no call of ours has. Raises SandboxError,
        PoolClosedError."""
        while True:
            self._check_open()
            node = self._health.take(card=card)
            if node is not None:
                return node
            if self._health.look(card=card) > self._patience_s:
                raise SandboxError(
                    f"no node of the cluster that offers a {'GPU' if card else 'core'} has "
                    f"answered for {self._patience_s:.0f} s; `ray status` shows the cluster"
                )
            time.sleep(_LOOK_S)

    def _check_open(self) -> None:
        if self._closed:
            raise PoolClosedError("the connection to Ray is closed; make a new one")

    def _call(
        self,
        node: NodeState,
        function: Callable[[Any], Any],
        value: Any,
        *,
        claim: NodeClaim,
        stop: Callable[[], bool],
    ) -> Any:
        """The result of a call. Raises NodeLostError, StoppedError, PoolClosedError,
        SandboxUnavailableError, SandboxError."""
        cards = _MEASUREMENT if claim.is_measurement else 0.0
        if claim is NodeClaim.SHARED_CARD:
            cards = share_of_card(node.info)
        there = (self._answer_in_fresh if cards else self._answer).options(
            num_cpus=int(claim is NodeClaim.CORE),
            num_gpus=cards,
            scheduling_strategy=on_node(node.info),
        )
        quiet = claim is NodeClaim.QUIET_CARD
        pauses = self._pauses.measuring(node.info.id, quiet=quiet) if cards else nullcontext(())
        with pauses as agents:
            reference = there.remote(function, value, versions(), agents)
            reply = self._waited(reference, node, stop)
        return result_of(reply)

    def _waited(self, reference: Any, node: NodeState, stop: Callable[[], bool]) -> Any:
        while not self._ray.wait([reference], timeout=_LOOK_S)[0]:
            self._health.look()
            if node.lost or self._closed or stop():
                self._ray.cancel(reference, force=True)
                if self._closed:
                    raise PoolClosedError("the connection to Ray was closed")
                raise NodeLostError(node.lost) if node.lost else StoppedError("nobody waits for it")
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise SandboxError(f"a node could not answer: {_words(error)}") from error
        except self._ray.exceptions.RayError as error:
            raise NodeLostError(_words(error)) from error


class NodeSlot:
    """A core of a node."""

    def __init__(self, calls: RemoteCalls, state: NodeState) -> None:
        self._calls, self._state = calls, state
        self.node = state.info
        self.pauses = calls._pauses
        """The trees of all nodes, which pause for a call that claims it."""

    @property
    def lost(self) -> str:
        """The reason why the node is given up; empty while it is not."""
        self._calls._health.look()
        return self._state.lost

    def run(
        self, function: Callable[[V], R], value: V, *, claim: NodeClaim, stop: Callable[[], bool]
    ) -> R:
        """The result of `function(value)`, made there; see `RemoteCalls.run`. A call beside a tree
        of this slot claims no core: the tree has it. A measurement waits for a card of the node
        that no other of ours has. Raises NodeLostError, StoppedError once `stop` says so."""
        if not claim.is_measurement:
            return self._calls._call(self._state, function, value, claim=claim, stop=stop)
        while self._calls._health.take(card=True, allows=self._is_mine) is None:
            if self.lost:
                raise NodeLostError(self.lost)
            if stop():
                raise StoppedError("nobody waits for it")
            time.sleep(_LOOK_S)
        try:
            return self._calls._call(self._state, function, value, claim=claim, stop=stop)
        finally:
            self._calls._health.leave(self._state, card=True)

    def _is_mine(self, node: NodeInfo) -> bool:
        return node.id == self.node.id and not self._state.lost

    def start_supervisor(self, *, card: bool) -> RayActor:
        """Start the `TreeSupervisor` of a process tree there, which has the core until it ends;
        with `card` in a process that sees one card, of which it has a share."""
        gpus = share_of_card(self.node) if card else 0
        return self._calls._cluster.start(
            TreeSupervisor, self.node, num_cpus=1, num_gpus=gpus, max_concurrency=_THREADS
        )

    def leave(self) -> None:
        """Give the core back."""
        self._calls._health.leave(self._state)


def share_of_card(node: NodeInfo) -> float:
    """The part of a card in Ray's account that a tree has, or a look at the card: those of all
    cores fit beside a measurement, spread over the cards."""
    trees = 1 + -(-node.slots // max(1, node.cards))
    return max(1, round((1.0 - _MEASUREMENT) * _GRAIN) // trees) / _GRAIN


def _words(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[-3:])[:500] or type(error).__name__
