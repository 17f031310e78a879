"""The courier: one thread that carries orders to nodes and verdicts back, for all batches.

Covered: nodes that join are used, those that die or fall silent lose their items to others, which
are then judged again elsewhere; a late answer finds its items gone. A node gets one order at a
time, so what comes meanwhile travels together.
Not covered: an item that is slow on one node is not tried on a second one beside it.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from unhack.core.errors import PoolClosedError, SandboxError, SandboxUnavailableError, UnhackError
from unhack.tasks.execution.ray.batch import ClusterFlight
from unhack.tasks.execution.ray.node_worker import Greeting, Order, Parcel
from unhack.tasks.execution.ray.nodes import Cluster, NodeInfo, OpenItem, RemoteDesk
from unhack.tasks.task import Task

_LOOK_S = 2.0
"""Time between two looks at who is alive."""
_WAIT_S = 5.0
"""Longest time that a node waits for verdicts before it answers with none."""
SILENCE_S = 90.0
_MAX_STARTS = 3
_ORDER = 256
_KEPT_TASKS = 512
_DEPTH = (64, 16)
"""Items that a node holds of one batch: so many, and so many for each of its cores."""


@dataclass(slots=True)
class _Link:
    """One batch on one node."""

    held: dict[int, OpenItem] = field(default_factory=dict[int, OpenItem])
    sent: OrderedDict[int, Task] = field(default_factory=OrderedDict[int, Task])
    ordering: bool = False
    taking: bool = False


@dataclass(slots=True, eq=False)
class _Seat:
    """A node, as the driver sees it."""

    info: NodeInfo
    desk: RemoteDesk
    ready: bool = False
    lost: bool = False
    asked: int = 0
    """Calls without an answer."""
    silent_since: float = 0.0
    """The time of its last answer, or of the first call after a pause."""
    links: dict[str, _Link] = field(default_factory=dict[str, _Link])

    @property
    def depth(self) -> int:
        return _DEPTH[0] + _DEPTH[1] * self.info.slots

    def ask(self) -> None:
        """Note that a call is on its way."""
        if not self.asked:
            self.silent_since = time.monotonic()
        self.asked += 1

    def hear(self) -> None:
        """Note that one was answered."""
        self.asked -= 1
        self.silent_since = time.monotonic()


class Courier:
    """Serves flights until `close`. `patience_s`: time without any node that answers after which
    the batches end with SandboxError. `silence_s`: time after which a node that has not answered is
    taken for dead. `version`: what each node must have installed."""

    def __init__(
        self, cluster: Cluster, *, patience_s: float, version: str, silence_s: float = SILENCE_S
    ) -> None:
        self._cluster = cluster
        self._patience_s = patience_s
        self._silence_s = silence_s
        self._version = version
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._flights: dict[str, ClusterFlight] = {}
        self._seats: dict[str, _Seat] = {}
        self._failed_starts: dict[str, tuple[int, str]] = {}
        self._looked_at = 0.0
        self._alone_since = time.monotonic()
        self.closed = False
        self._thread = threading.Thread(target=self._work, name="unhack-courier", daemon=True)
        self._thread.start()

    @property
    def capacity(self) -> int:
        """Items that keep every node busy."""
        return sum(seat.depth * 3 // 2 for seat in list(self._seats.values()))

    def desks(self) -> list[str]:
        """The ids of the nodes that judge now."""
        return [seat.info.id for seat in list(self._seats.values()) if seat.ready]

    def call_soon(self, function: Callable[[], None]) -> None:
        """Run `function` on the courier's thread. Raises PoolClosedError."""
        if self.closed:
            raise PoolClosedError("the executor is closed; make a new one")
        self._inbox.put(function)

    def close(self) -> None:
        """End every batch and every desk."""
        if not self.closed:
            self.closed = True
            self._inbox.put(None)
            self._thread.join()

    # The courier's thread, from here on.

    def _work(self) -> None:
        while True:
            try:
                function = self._inbox.get(timeout=_LOOK_S)
            except queue.Empty:
                function = _nothing
            if function is None:
                break
            try:
                function()
                if self._flights and time.monotonic() - self._looked_at > _LOOK_S:
                    self._look()
            except Exception as error:
                self._fail_all(SandboxError(f"the cluster failed: {type(error).__name__}: {error}"))
        self._fail_all(PoolClosedError("the executor was closed"))
        for seat in self._seats.values():
            seat.desk.end()
        self._seats.clear()

    def _fail_all(self, error: UnhackError) -> None:
        for flight in list(self._flights.values()):
            flight.fail(error)

    def enrol(self, flight: ClusterFlight) -> None:
        """Serve a flight that has open items."""
        if flight.id not in self._flights:
            if not self._flights:
                self._alone_since = time.monotonic()
            self._flights[flight.id] = flight
        self._pump(flight)

    def dismiss(self, flight: ClusterFlight) -> None:
        """Forget a flight, here and on every node."""
        self._flights.pop(flight.id, None)
        for seat in self._seats.values():
            if seat.links.pop(flight.id, None) is not None:
                seat.desk.cancel(flight.id)

    def _look(self) -> None:
        """See which nodes are alive: start desks on new ones, give up those that are gone."""
        self._looked_at = now = time.monotonic()
        alive = {node.id: node for node in self._cluster.nodes()}
        for seat in list(self._seats.values()):
            if seat.info.id not in alive:
                self._lose(seat, "the node is gone")
            elif seat.ready and seat.asked and now - seat.silent_since > self._silence_s:
                self._lose(seat, f"no answer for {self._silence_s:.0f} s")
                del alive[seat.info.id]  # the next look may try it again
        for node in alive.values():
            if node.id not in self._seats and self._starts(node)[0] < _MAX_STARTS:
                seat = self._seats[node.id] = _Seat(node, self._cluster.start(node))
                self._when(seat.desk.greet(), lambda f, s=seat: self._greeted(s, f))
        if any(seat.ready for seat in self._seats.values()):
            self._alone_since = now
        hopeless = alive and all(self._starts(node)[0] >= _MAX_STARTS for node in alive.values())
        if hopeless or now - self._alone_since > self._patience_s:
            self._alone_since = now
            self._fail_all(SandboxError(self._nobody(list(alive.values()))))

    def _starts(self, node: NodeInfo) -> tuple[int, str]:
        return self._failed_starts.get(node.id, (0, ""))

    def _nobody(self, alive: list[NodeInfo]) -> str:
        said = "; ".join(f"{node.name}: {self._starts(node)[1] or 'no answer'}" for node in alive)
        seen = f"those alive with cores: {said}" if said else "none alive offers a core"
        return (
            f"no node of the cluster judges, and none has for up to {self._patience_s:.0f} s "
            f"(`patience_s`); {seen}. `ray status` shows the cluster"
        )[:2000]

    def _when(self, future: Future[Any], then: Callable[[Future[Any]], None]) -> None:
        future.add_done_callback(lambda done: self._inbox.put(lambda: then(done)))

    def _greeted(self, seat: _Seat, future: Future[Greeting]) -> None:
        if seat.lost:
            return
        error = future.exception()
        if error is None and (found := future.result().version) != self._version:
            error = SandboxError(f"it has unhack {found}, this process {self._version}")
        if error is not None:
            self._failed_starts[seat.info.id] = (self._starts(seat.info)[0] + 1, _words(error))
            self._lose(seat, _words(error))
            return
        seat.ready = True
        self._alone_since = time.monotonic()
        for flight in list(self._flights.values()):
            self._pump(flight)

    def _lose(self, seat: _Seat, why: str) -> None:
        if seat.lost:
            return
        seat.lost = True
        self._seats.pop(seat.info.id, None)
        if not any(other.ready for other in self._seats.values()):
            self._alone_since = time.monotonic()
        seat.desk.end()
        for name, link in seat.links.items():
            flight = self._flights.get(name)
            if flight is not None:
                flight.lose(list(link.held.values()), f"{seat.info.name}: {why}")
                self._pump(flight)

    def _pump(self, flight: ClusterFlight) -> None:
        """Give waiting items to the nodes that have room, the emptiest first."""
        seats = [seat for seat in self._seats.values() if seat.ready]
        links = [(seat, seat.links.setdefault(flight.id, _Link())) for seat in seats]
        free = [pair for pair in links if not pair[1].ordering]
        free.sort(key=lambda pair: len(pair[1].held) / pair[0].depth)
        for position, (seat, link) in enumerate(free):
            share = -(-len(flight.waiting) // (len(free) - position))
            count = min(share, seat.depth - len(link.held), _ORDER)
            if count > 0 and not self._order(flight, seat, link, count):
                return

    def _order(self, flight: ClusterFlight, seat: _Seat, link: _Link, count: int) -> bool:
        entries = [flight.waiting.popleft() for _ in range(count)]
        new: dict[int, Task] = {}
        for entry in entries:
            key = id(entry.task)
            if key not in link.sent:
                link.sent[key] = new[key] = entry.task
            link.sent.move_to_end(key)
        forget: list[int] = []
        while len(link.sent) > max(_KEPT_TASKS, count):
            forget.append(link.sent.popitem(last=False)[0])
        order = Order(
            [(entry.index, id(entry.task), entry.completion) for entry in entries],
            new,
            tuple(forget),
            tuple((id(e.task), e.control) for e in entries if e.control is not None),
        )
        try:
            future = seat.desk.hand_in(flight.id, order)
        except UnhackError as error:
            flight.fail(error)
            return False
        link.ordering = True
        seat.ask()
        for entry in entries:
            flight.held[entry.index] = link.held[entry.index] = entry
        self._when(future, lambda f: self._ordered(flight, seat, link, f))
        return True

    def _ordered(
        self, flight: ClusterFlight, seat: _Seat, link: _Link, future: Future[None]
    ) -> None:
        link.ordering = False
        if self._is_over(flight, seat, future):
            return
        self._ask(flight, seat, link)
        self._pump(flight)

    def _is_over(self, flight: ClusterFlight, seat: _Seat, future: Future[Any]) -> bool:
        """True when there is nothing to go on with: a lost node, or a flight that has ended."""
        error = future.exception()
        if error is not None and not seat.lost:
            self._lose(seat, _words(error))
        seat.hear()
        return seat.lost or flight.id not in self._flights

    def _ask(self, flight: ClusterFlight, seat: _Seat, link: _Link) -> None:
        if link.held and not link.taking:
            link.taking = True
            seat.ask()
            at_least = max(1, min(64, len(link.held) // 2))
            future = seat.desk.take(flight.id, at_least, _WAIT_S)
            self._when(future, lambda f: self._taken(flight, seat, link, f))

    def _taken(
        self, flight: ClusterFlight, seat: _Seat, link: _Link, future: Future[Parcel]
    ) -> None:
        link.taking = False
        if self._is_over(flight, seat, future):
            return
        parcel = future.result()
        if parcel.failure is not None:
            self._fail_at(flight, seat, parcel.failure)
            return
        for index, _ in parcel.verdicts:
            link.held.pop(index, None)
        for index in parcel.home:
            entry = link.held.pop(index, None)
            if entry is not None:
                flight.send_home(entry)
        flight.receive(parcel.verdicts)
        self._ask(flight, seat, link)
        self._pump(flight)

    def _fail_at(self, flight: ClusterFlight, seat: _Seat, failure: tuple[str, str]) -> None:
        kind, words = failure
        if kind == PoolClosedError.__name__:
            self._lose(seat, words)
            return
        where = f"node {seat.info.name}: {words}"
        if kind == SandboxUnavailableError.__name__:
            where += "; `unhack doctor` on that node says what is missing"
            flight.fail(SandboxUnavailableError(where))
        else:
            flight.fail(SandboxError(where))


def _nothing() -> None:
    """A look at the nodes is due."""


def _words(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[-3:])}"[:500]
