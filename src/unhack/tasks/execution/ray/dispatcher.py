"""The dispatcher: one thread that sends requests to nodes and takes verdicts, for all batches.

Covered: nodes that join are used, those that die or fall silent lose their items to others, which
are then judged again elsewhere; a late answer finds its items gone. A node gets one request at a
time, so what comes meanwhile travels together.
Not covered: an item that is slow on one node is not tried on a second one beside it.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from unhack.core.errors import (
    PoolClosedError,
    SandboxError,
    SandboxUnavailableError,
    UnhackError,
    UsageError,
)
from unhack.sandbox.distributions import version_conflict
from unhack.tasks.execution.ray.batch import DispatchedBatch, RayItem
from unhack.tasks.execution.ray.cluster import NodeInfo, RayActor, RayCluster
from unhack.tasks.execution.ray.node_worker import ItemsRequest, NodeWorker, VerdictsResponse
from unhack.tasks.task import Task

_LOOK_S = 2.0
"""Time between two looks at who is alive."""
_WAIT_S = 5.0
"""Longest time that a node waits for verdicts before it answers with none."""
_MAX_STARTS = 3
_MAX_ITEMS = 256
"""Items of a request."""
_KEPT_TASKS = 512
_DEPTH = (64, 16)
"""Items that a node holds of one batch: so many, and so many for each of its cores."""
_TAKES = 64
"""Batches that may wait for verdicts of one node at once."""


@dataclass(slots=True)
class _Share:
    """The part of a batch that one node has."""

    held: dict[int, RayItem] = field(default_factory=dict[int, RayItem])
    sent: OrderedDict[int, Task] = field(default_factory=OrderedDict[int, Task])
    adding: bool = False
    taking: bool = False


@dataclass(slots=True, eq=False)
class _Node:
    """A node, as the dispatcher sees it."""

    info: NodeInfo
    worker: RayActor
    ready: bool = False
    lost: bool = False
    asked: int = 0
    """Calls without an answer."""
    silent_since: float = 0.0
    """The time of its last answer, or of the first call after a pause."""
    shares: dict[str, _Share] = field(default_factory=dict[str, _Share])

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


class Dispatcher:
    """Serves batches until `close`. `slots`: workers on each node, by default the cores that it
    offers. `patience_s`: time without any node that answers after which the batches end with
    SandboxError. `silence_s`: time after which a node that has not answered is taken for dead."""

    def __init__(
        self, cluster: RayCluster, *, slots: int | None, patience_s: float, silence_s: float
    ) -> None:
        self._cluster, self._slots = cluster, slots
        self._patience_s = patience_s
        self._silence_s = silence_s
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._batches: dict[str, DispatchedBatch] = {}
        self._nodes: dict[str, _Node] = {}
        self._failed_starts: dict[str, tuple[int, str]] = {}
        self._looked_at = 0.0
        self._alone_since = time.monotonic()
        self.closed = False
        self._closing = threading.Lock()
        """So that nothing is put into the inbox behind its end, where nobody would run it."""
        self._thread = threading.Thread(target=self._work, name="unhack-dispatcher", daemon=True)
        self._thread.start()

    @property
    def capacity(self) -> int:
        """Items that keep every node busy."""
        return sum(node.depth * 3 // 2 for node in list(self._nodes.values()))

    def nodes(self) -> list[str]:
        """The ids of the nodes that judge now."""
        return [node.info.id for node in list(self._nodes.values()) if node.ready]

    def call_soon(self, function: Callable[[], None]) -> None:
        """Run `function` on the dispatcher's thread. Raises PoolClosedError."""
        with self._closing:
            if self.closed:
                raise PoolClosedError("the executor is closed; make a new one")
            self._inbox.put(function)

    def close(self) -> None:
        """End every batch and every worker."""
        with self._closing:
            if not self.closed:
                self.closed = True
                self._inbox.put(None)
        self._thread.join()

    # The dispatcher's thread, from here on.

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
                if self._batches and time.monotonic() - self._looked_at > _LOOK_S:
                    self._look()
            except Exception as error:
                self._fail_all(SandboxError(f"the cluster failed: {type(error).__name__}: {error}"))
        self._fail_all(PoolClosedError("the executor was closed"))
        for node in self._nodes.values():
            node.worker.end()
        self._nodes.clear()

    def _fail_all(self, error: UnhackError) -> None:
        for batch in list(self._batches.values()):
            batch.fail(error)

    def accept(self, batch: DispatchedBatch, items: list[tuple[int, Task, str]]) -> None:
        """Take items of a batch."""
        if batch.ended:
            return
        if not self._batches:
            self._alone_since = time.monotonic()
        self._batches[batch.id] = batch
        batch.accept(items)
        self._pump(batch)

    def dismiss(self, batch: DispatchedBatch) -> None:
        """Forget a batch, here and on every node."""
        self._batches.pop(batch.id, None)
        for node in self._nodes.values():
            if node.shares.pop(batch.id, None) is not None:
                with contextlib.suppress(Exception):  # a node that is gone has nothing to cancel
                    node.worker.call(NodeWorker.cancel, batch.id)

    def _look(self) -> None:
        """See which nodes are alive: start workers on new ones, give up those that are gone."""
        self._looked_at = now = time.monotonic()
        alive = {info.id: info for info in self._cluster.nodes()}
        for node in list(self._nodes.values()):
            if node.info.id not in alive:
                self._lose(node, "the node is gone")
            elif node.ready and node.asked and now - node.silent_since > self._silence_s:
                self._lose(node, f"no answer for {self._silence_s:.0f} s")
                del alive[node.info.id]  # the next look may try it again
        for info in alive.values():
            if info.id not in self._nodes and self._starts(info)[0] < _MAX_STARTS:
                self._start(info)
        if any(node.ready for node in self._nodes.values()):
            self._alone_since = now
        for batch in list(self._batches.values()):
            self._pump(batch)  # items that wait again since this process judged a control of theirs
        hopeless = alive and all(self._starts(info)[0] >= _MAX_STARTS for info in alive.values())
        if hopeless or now - self._alone_since > self._patience_s:
            self._alone_since = now
            self._fail_all(SandboxError(self._nobody(list(alive.values()))))

    def _start(self, info: NodeInfo) -> None:
        slots = self._slots or info.slots
        groups = {NodeWorker.take.__name__: _TAKES}
        worker = self._cluster.start(NodeWorker, info, slots, concurrency_groups=groups)
        node = self._nodes[info.id] = _Node(info, worker)
        self._when(worker.call(NodeWorker.handshake), lambda f: self._greeted(node, f))

    def _starts(self, info: NodeInfo) -> tuple[int, str]:
        return self._failed_starts.get(info.id, (0, ""))

    def _nobody(self, alive: list[NodeInfo]) -> str:
        said = "; ".join(f"{info.name}: {self._starts(info)[1] or 'no answer'}" for info in alive)
        seen = f"those alive with cores: {said}" if said else "none alive offers a core"
        return (
            f"no node of the cluster judges, and none has for up to {self._patience_s:.0f} s "
            f"(`patience_s`); {seen}. `ray status` shows the cluster"
        )[:2000]

    def _when(self, future: Future[Any], then: Callable[[Future[Any]], None]) -> None:
        future.add_done_callback(lambda done: self._inbox.put(lambda: then(done)))

    def _greeted(self, node: _Node, future: Future[dict[str, str]]) -> None:
        if node.lost:
            return
        error = future.exception()
        if error is None and (differing := version_conflict(future.result())):
            error = SandboxError(f"it has {differing}")
        if error is not None:
            self._failed_starts[node.info.id] = (self._starts(node.info)[0] + 1, _words(error))
            self._lose(node, _words(error))
            return
        node.ready = True
        self._alone_since = time.monotonic()
        for batch in list(self._batches.values()):
            self._pump(batch)

    def _lose(self, node: _Node, why: str) -> None:
        if node.lost:
            return
        node.lost = True
        self._nodes.pop(node.info.id, None)
        if not any(other.ready for other in self._nodes.values()):
            self._alone_since = time.monotonic()
        node.worker.end()
        for name, share in node.shares.items():
            batch = self._batches.get(name)
            if batch is not None:
                batch.lose(list(share.held.values()), f"{node.info.name}: {why}")
                self._pump(batch)

    def _pump(self, batch: DispatchedBatch) -> None:
        """Give waiting items to the nodes that have room, the emptiest first."""
        nodes = [node for node in self._nodes.values() if node.ready]
        shares = [(node, node.shares.setdefault(batch.id, _Share())) for node in nodes]
        free = [pair for pair in shares if not pair[1].adding]
        free.sort(key=lambda pair: len(pair[1].held) / pair[0].depth)
        for position, (node, share) in enumerate(free):
            part = -(-len(batch.waiting) // (len(free) - position))
            count = min(part, node.depth - len(share.held), _MAX_ITEMS)
            if count > 0 and not self._send(batch, node, share, count):
                return

    def _send(self, batch: DispatchedBatch, node: _Node, share: _Share, count: int) -> bool:
        items = [batch.waiting.popleft() for _ in range(count)]
        new: dict[int, Task] = {}
        for item in items:
            key = id(item.task)
            if key not in share.sent:
                share.sent[key] = new[key] = item.task
            share.sent.move_to_end(key)
        forget: list[int] = []
        while len(share.sent) > max(_KEPT_TASKS, count):
            forget.append(share.sent.popitem(last=False)[0])
        request = ItemsRequest(
            [(item.index, id(item.task), item.completion) for item in items],
            new,
            tuple(forget),
            tuple((id(item.task), item.control) for item in items if item.control is not None),
        )
        try:
            future = node.worker.call(NodeWorker.add, batch.id, request)
        except (TypeError, AttributeError, ValueError) as error:
            names = ", ".join(sorted({task.id for task in new.values()})[:3])
            batch.fail(UsageError(
                f"a task cannot cross to the nodes (one of {names}): {str(error)[:500]}; judge it "
                "with executor='local'"
            ))  # fmt: skip
            return False
        share.adding = True
        node.ask()
        for item in items:
            batch.held[item.index] = share.held[item.index] = item
        self._when(future, lambda f: self._sent(batch, node, share, f))
        return True

    def _sent(
        self, batch: DispatchedBatch, node: _Node, share: _Share, future: Future[None]
    ) -> None:
        share.adding = False
        if not self._is_over(batch, node, future):
            self._take(batch, node, share)
            self._pump(batch)

    def _is_over(self, batch: DispatchedBatch, node: _Node, future: Future[Any]) -> bool:
        """True when there is nothing to go on with: a lost node, or a batch that has ended."""
        error = future.exception()
        if error is not None and not node.lost:
            self._lose(node, _words(error))
        node.hear()
        return node.lost or batch.id not in self._batches

    def _take(self, batch: DispatchedBatch, node: _Node, share: _Share) -> None:
        if share.held and not share.taking:
            share.taking = True
            node.ask()
            at_least = max(1, min(64, len(share.held) // 2))
            future = node.worker.call(NodeWorker.take, batch.id, at_least, _WAIT_S)
            self._when(future, lambda f: self._taken(batch, node, share, f))

    def _taken(
        self, batch: DispatchedBatch, node: _Node, share: _Share, future: Future[VerdictsResponse]
    ) -> None:
        share.taking = False
        if self._is_over(batch, node, future):
            return
        response = future.result()
        if response.failure is not None:
            self._fail_at(batch, node, response.failure)
            return
        for index, _ in response.verdicts:
            share.held.pop(index, None)
        for index in response.local:
            item = share.held.pop(index, None)
            if item is not None:
                batch.judge_locally(item)
        batch.receive(response.verdicts)
        self._take(batch, node, share)
        self._pump(batch)

    def _fail_at(self, batch: DispatchedBatch, node: _Node, failure: tuple[str, str]) -> None:
        kind, words = failure
        if kind == PoolClosedError.__name__:
            self._lose(node, words)
            return
        where = f"node {node.info.name}: {words}"
        if kind == SandboxUnavailableError.__name__:
            where += "; `unhack doctor` on that node says what is missing"
            batch.fail(SandboxUnavailableError(where))
        else:
            batch.fail(SandboxError(where))


def _nothing() -> None:
    """A look at the nodes is due."""


def _words(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[-3:])}"[:500]
