"""The courier and its flights, with desks of this process as nodes."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from unhack import PythonVerifier, Task, run_batch
from unhack.core.errors import PoolClosedError, SandboxError, SandboxUnavailableError
from unhack.core.problem import Problem
from unhack.core.verdict import Verdict
from unhack.tasks.execution.cluster.courier import Courier
from unhack.tasks.execution.cluster.desk import Desk, Greeting, Order, Parcel
from unhack.tasks.execution.cluster.flight import ClusterFlight
from unhack.tasks.execution.cluster.nodes import NodeInfo
from unhack.tasks.execution.executor import Flight
from unhack.tasks.suite import find_task

VERSION = importlib.metadata.version("unhack")
SEATS = "parsing/seat-ranges"


class _Here:
    """A desk on threads of this process; `die` makes every call fail, `doubles` answers twice."""

    def __init__(self, *, doubles: bool = False, refuses: bool = False) -> None:
        self.desk = Desk(1)
        self.threads = ThreadPoolExecutor(8)
        self.dead = False
        self.doubles = doubles
        self.refuses = refuses
        self.orders = 0
        self.dies_after = 1 << 30

    def _run(self, function: Any, *values: Any) -> Future[Any]:
        def call() -> Any:
            if self.dead:
                raise ConnectionError("the node is gone")
            found = function(*values)
            if self.dead:
                raise ConnectionError("the node is gone")
            return found

        return self.threads.submit(call)

    def greet(self) -> Future[Greeting]:
        return self._run(self.desk.greet)

    def hand_in(self, flight: str, order: Order) -> Future[None]:
        self.orders += 1
        return self._run(self.desk.hand_in, flight, order)

    def take(self, flight: str, at_least: int, wait_s: float) -> Future[Parcel]:
        def take() -> Parcel:
            if self.refuses:
                return Parcel(failure=("SandboxUnavailableError", "no user namespaces"))
            parcel = self.desk.take(flight, at_least, wait_s)
            self.dies_after -= len(parcel.verdicts)
            self.dead = self.dead or self.dies_after < 0
            return Parcel(parcel.verdicts * (1 + self.doubles), parcel.home, parcel.failure)

        return self._run(take)

    def cancel(self, flight: str) -> None:
        self.desk.cancel(flight)

    def end(self) -> None:
        self.dead = True
        self.desk.close()
        self.threads.shutdown(wait=False)


class _Machines:
    """A cluster of such desks; also an executor."""

    def __init__(self, *desks: _Here, patience_s: float = 300.0, version: str = VERSION) -> None:
        self.desks = {str(number): desk for number, desk in enumerate(desks)}
        self.courier = Courier(self, patience_s=patience_s, version=version)

    def nodes(self) -> Sequence[NodeInfo]:
        return [NodeInfo(k, f"host-{k}", 1) for k, desk in self.desks.items() if not desk.dead]

    def start(self, node: NodeInfo) -> _Here:
        return self.desks[node.id]

    def begin(self) -> Flight:
        return ClusterFlight(self.courier)


@pytest.fixture
def made() -> Iterator[list[_Machines]]:
    """Clusters to close."""
    clusters: list[_Machines] = []
    yield clusters
    for cluster in clusters:
        cluster.courier.close()


def _texts(count: int) -> list[str]:
    return [f"def expand_seats(spec):\n    return [{index}]\n" for index in range(count)]


def _judge(cluster: _Machines, count: int) -> tuple[Verdict, ...]:
    return run_batch(find_task(SEATS), _texts(count), executor=cluster).verdicts


def test_every_item_gets_one_verdict_though_a_node_dies(made: list[_Machines]) -> None:
    weak = _Here()
    weak.dies_after = 10
    made.append(_Machines(weak, _Here()))
    verdicts = _judge(made[0], 200)
    assert len(verdicts) == 200
    assert all(verdict.scored for verdict in verdicts)
    assert weak.dead


def test_a_verdict_that_comes_twice_counts_once(made: list[_Machines]) -> None:
    made.append(_Machines(_Here(doubles=True)))
    assert len(_judge(made[0], 40)) == 40


def test_a_node_that_cannot_isolate_is_named_with_the_command(made: list[_Machines]) -> None:
    made.append(_Machines(_Here(refuses=True)))
    with pytest.raises(SandboxUnavailableError, match=r"host-0: no user namespaces.*unhack doctor"):
        _judge(made[0], 1)


def test_without_any_node_the_batch_ends_after_the_stated_time(made: list[_Machines]) -> None:
    made.append(_Machines(patience_s=0.1))
    with pytest.raises(SandboxError, match="none alive offers a core"):
        _judge(made[0], 1)


def test_another_version_on_every_node_is_said(made: list[_Machines]) -> None:
    made.append(_Machines(_Here(), version="0.0.0"))
    made[0].desks["0"].end = lambda: None  # type: ignore[method-assign]
    with pytest.raises(SandboxError, match=rf"unhack {VERSION}, this process 0\.0\.0"):
        _judge(made[0], 1)


def test_a_closed_courier_takes_no_batch(made: list[_Machines]) -> None:
    cluster = _Machines(_Here())
    cluster.courier.close()
    with pytest.raises(PoolClosedError, match="make a new one"):
        _judge(cluster, 1)


def test_a_users_callable_is_called_here(made: list[_Machines]) -> None:
    made.append(_Machines(_Here()))
    task = Task(Problem("mine", "say yes"), PythonVerifier(lambda completion: completion == "yes"))
    assert run_batch(task, ["yes", "no"], executor=made[0]).rewards == (1.0, 0.0)
    assert made[0].desks["0"].orders == 0
