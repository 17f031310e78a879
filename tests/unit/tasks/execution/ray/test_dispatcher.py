"""The dispatcher and its batches, with workers of this process as nodes."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from unhack import PythonVerifier, Task, run_batch, stream_batch
from unhack.core.errors import PoolClosedError, SandboxError, SandboxUnavailableError
from unhack.core.problem import Problem
from unhack.core.verdict import Status, Verdict
from unhack.sandbox.distributions import versions
from unhack.tasks.execution.ray.batch import RayItem
from unhack.tasks.execution.ray.cluster import NodeInfo
from unhack.tasks.execution.ray.dispatcher import Dispatcher
from unhack.tasks.execution.ray.executor import RayBatch
from unhack.tasks.execution.ray.node_worker import NodeWorker, VerdictsResponse
from unhack.tasks.suite import find_task
from unhack.verifiers.function import Case, FunctionVerifier

pytestmark = pytest.mark.slow

VERSIONS = versions()
SEATS = "parsing/seat-ranges"
ONLY_PQ = """
def check(args, kwargs, output, expected):
    return {"".join(map(chr, (112, 113))): True, "".join(map(chr, (113, 112))): False}[output]
"""
"""A checker that breaks on everything but two texts that no control guesses."""


class _LocalWorker:
    """In the place of a `RayActor`: a worker on threads of this process. When it is `dead` every
    call fails, with `doubles` it answers twice."""

    def __init__(
        self,
        *,
        doubles: bool = False,
        refuses: bool = False,
        versions: Mapping[str, str] = VERSIONS,
    ) -> None:
        self.worker = NodeWorker(1)
        self.threads = ThreadPoolExecutor(8)
        self.dead = False
        self.doubles = doubles
        self.refuses = refuses
        self.versions = versions
        self.requests = 0
        self.gave = 0
        """Verdicts that it handed out."""
        self.dies_after = 1 << 30
        self.dies_at_once = False
        self.goes_on = threading.Event()
        """Cleared, the node stands still: it answers no call until it is set again."""
        self.goes_on.set()
        self.stops_after = 1 << 30

    def call(self, method: Callable[..., Any], *values: Any) -> Future[Any]:
        """See `RayActor.call`."""
        if method is NodeWorker.add:
            self.requests += 1
            self.dead = self.dead or self.dies_at_once
        return self.threads.submit(self._answer, method, *values)

    def _answer(self, method: Callable[..., Any], *values: Any) -> Any:
        if method is NodeWorker.cancel:
            return self.worker.cancel(*values)
        if self.dead:
            raise ConnectionError("the node is gone")
        changed = {NodeWorker.take: self._take, NodeWorker.handshake: lambda: self.versions}
        found = changed[method](*values) if method in changed else method(self.worker, *values)
        self.goes_on.wait(60)
        if self.dead:
            raise ConnectionError("the node is gone")
        return found

    def _take(self, batch: str, at_least: int, wait_s: float) -> VerdictsResponse:
        if self.refuses:
            return VerdictsResponse(failure=("SandboxUnavailableError", "no user namespaces"))
        found = self.worker.take(batch, at_least, wait_s)
        self.dies_after -= len(found.verdicts)
        self.gave += len(found.verdicts)
        self.dead = self.dead or self.dies_after < 0
        self.stops_after -= len(found.verdicts)
        if self.stops_after < 0:
            self.goes_on.clear()
        return VerdictsResponse(found.verdicts * (1 + self.doubles), found.local, found.failure)

    def end(self) -> None:
        """See `RayActor.end`."""
        self.dead = True
        self.worker._backend.close()  # pyright: ignore[reportPrivateUsage]
        self.threads.shutdown(wait=False)


class _Machines:
    """In the place of a `RayCluster` of such workers; also an executor."""

    def __init__(
        self, *workers: _LocalWorker, patience_s: float = 300.0, silence_s: float = 60.0
    ) -> None:
        self.workers = {str(number): worker for number, worker in enumerate(workers)}
        self.dispatcher = Dispatcher(
            self,  # type: ignore[arg-type]
            slots=None,
            patience_s=patience_s,
            silence_s=silence_s,
        )

    def nodes(self) -> Sequence[NodeInfo]:
        return [NodeInfo(k, f"host-{k}", 1) for k, one in self.workers.items() if not one.dead]

    def start(self, made: type, node: NodeInfo, slots: int, **_: Any) -> _LocalWorker:
        assert (made, slots) == (NodeWorker, node.slots)
        return self.workers[node.id]

    def begin(self) -> RayBatch:
        return RayBatch(self.dispatcher)


@pytest.fixture
def made() -> Iterator[list[_Machines]]:
    """Clusters to close."""
    clusters: list[_Machines] = []
    yield clusters
    for cluster in clusters:
        for worker in cluster.workers.values():
            worker.goes_on.set()
        cluster.dispatcher.close()


def _both(made: list[_Machines], *, silence_s: float = 60.0) -> tuple[_LocalWorker, _LocalWorker]:
    """Two nodes that both judge already."""
    nodes = _LocalWorker(), _LocalWorker()
    made.append(_Machines(*nodes, silence_s=silence_s))
    until = time.monotonic() + 60.0
    while len(made[0].dispatcher.nodes()) < 2 and time.monotonic() < until:
        _judge(made[0], 1)
    return nodes


def _texts(count: int) -> list[str]:
    return [f"def expand_seats(spec):\n    return [{index}]\n" for index in range(count)]


def _judge(cluster: _Machines, count: int) -> tuple[Verdict, ...]:
    return run_batch(find_task(SEATS), _texts(count), executor=cluster).verdicts


def test_every_item_gets_one_verdict_though_a_node_dies(made: list[_Machines]) -> None:
    weak, _ = _both(made)
    weak.dies_after = 10
    verdicts = _judge(made[0], 200)
    assert len(verdicts) == 200
    assert all(verdict.scored for verdict in verdicts)
    assert weak.dead


def test_a_verdict_that_comes_twice_counts_once(made: list[_Machines]) -> None:
    made.append(_Machines(_LocalWorker(doubles=True)))
    assert len(_judge(made[0], 40)) == 40


def test_a_node_that_cannot_isolate_is_named_with_the_command(made: list[_Machines]) -> None:
    made.append(_Machines(_LocalWorker(refuses=True)))
    with pytest.raises(SandboxUnavailableError, match=r"host-0: no user namespaces.*unhack doctor"):
        _judge(made[0], 1)


def test_without_any_node_the_batch_ends_after_the_stated_time(made: list[_Machines]) -> None:
    made.append(_Machines(patience_s=0.1))
    with pytest.raises(SandboxError, match="none alive offers a core"):
        _judge(made[0], 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unhack", "unhack-contests"])
def test_another_version_on_every_node_is_said(made: list[_Machines], name: str) -> None:
    made.append(_Machines(_LocalWorker(versions={**VERSIONS, name: "0.0.0"})))
    made[0].workers["0"].end = lambda: None  # type: ignore[method-assign]
    with pytest.raises(SandboxError, match=rf"has {name} 0\.0\.0 .this process: {VERSIONS[name]}"):
        _judge(made[0], 1)


def test_a_closed_dispatcher_takes_no_batch(made: list[_Machines]) -> None:
    cluster = _Machines(_LocalWorker())
    cluster.dispatcher.close()
    with pytest.raises(PoolClosedError, match="make a new one"):
        _judge(cluster, 1)


def test_a_batch_of_a_closed_dispatcher_can_be_cancelled(made: list[_Machines]) -> None:
    made.append(_Machines(_LocalWorker()))
    batch = made[0].begin()
    batch.add([(0, find_task(SEATS), "pass")])
    made[0].dispatcher.close()
    batch.cancel()
    with pytest.raises(PoolClosedError):
        batch.take(timeout_s=60.0)


def test_a_users_callable_is_called_here(made: list[_Machines]) -> None:
    made.append(_Machines(_LocalWorker()))
    task = Task(Problem("mine", "say yes"), PythonVerifier(lambda completion: completion == "yes"))
    assert run_batch(task, ["yes", "no"], executor=made[0]).rewards == (1.0, 0.0)
    assert made[0].workers["0"].requests == 0


@pytest.mark.slow
def test_a_node_that_stands_still_loses_its_items_and_its_late_answers_count_for_nothing(
    made: list[_Machines],
) -> None:
    still, _ = _both(made, silence_s=6.0)
    still.stops_after = 5
    found: list[int] = []
    for index, verdict in stream_batch(find_task(SEATS), _texts(120), executor=made[0]):
        assert verdict.scored
        found.append(index)
        if len(found) == 110:
            still.goes_on.set()
    assert sorted(found) == list(range(120))
    assert still.dead, "it was still used"


def test_a_node_without_work_for_long_is_not_silent(made: list[_Machines]) -> None:
    made.append(_Machines(_LocalWorker(), silence_s=6.0))
    _judge(made[0], 4)
    made[0].dispatcher._nodes["0"].silent_since -= 100.0  # pyright: ignore[reportPrivateUsage]
    time.sleep(0.1)
    _judge(made[0], 4)
    assert not made[0].workers["0"].dead


def test_an_item_that_outlives_three_nodes_is_judged_by_this_process(made: list[_Machines]) -> None:
    made.append(_Machines(*(_LocalWorker() for _ in range(3))))
    for worker in made[0].workers.values():
        worker.dies_at_once = True
    right = find_task(SEATS).problem.reference
    assert right is not None
    assert run_batch(find_task(SEATS), [right], executor=made[0]).rewards == (1.0,)
    assert [worker.requests for worker in made[0].workers.values()] == [1, 1, 1]


_NUMBERS = itertools.count()


class TestRuleTwo:
    """A verdict is the same whoever sits beside it, on this node or another."""

    def checked(self) -> Task:
        """Unlike that of any other test: equal tasks share what was judged."""
        cases = (Case((3,), expected=None),)
        return Task(
            Problem(f"spread-{next(_NUMBERS)}", ""),
            FunctionVerifier("f", cases, checker=ONLY_PQ),
        )

    def test_a_completion_that_another_node_judged_decides(self, made: list[_Machines]) -> None:
        nodes = _both(made)
        before = [node.requests for node in nodes]
        bad = [f"def f(x): return 'banana {k}'\n" for k in range(6)]
        good = "import time\ndef f(x):\n    time.sleep(1)\n    return 'pq'\n"
        batch = run_batch(self.checked(), [good, *bad], executor=made[0])
        assert batch.rewards == (1.0, *[0.0] * 6)
        assert {verdict.status for verdict in batch.verdicts[1:]} == {Status.ERROR}
        assert all(node.requests > count for node, count in zip(nodes, before, strict=True))

    def test_a_completion_that_this_process_judged_decides(self, made: list[_Machines]) -> None:
        made.append(_Machines(_LocalWorker()))
        batch, task = made[0].begin(), self.checked()
        inner = batch._batch  # pyright: ignore[reportPrivateUsage]
        good = RayItem(0, task, "import time\ndef f(x):\n    time.sleep(1)\n    return 'pq'\n")
        inner.results.expect(1)
        made[0].dispatcher.call_soon(lambda: inner.judge_locally(good))
        batch.add([(1, task, "def f(x): return 'banana'\n")])
        found = dict(batch.take(at_least=2, timeout_s=60.0))
        assert [found[at].score for at in (0, 1) if at in found] == [1.0, 0.0]

    def test_nothing_judged_on_any_node_leaves_them_unscored(self, made: list[_Machines]) -> None:
        _both(made)
        bad = [f"def f(x): return 'banana {k}'\n" for k in range(4)]
        assert run_batch(self.checked(), bad, executor=made[0]).rewards == (None,) * 4

    @pytest.mark.slow
    def test_a_control_survives_the_node_that_judged_it(self, made: list[_Machines]) -> None:
        nodes = _both(made)
        given = [node.gave for node in nodes]
        good = "def f(x): return 'pq'\n"
        late = "import time\ndef f(x):\n    time.sleep(6)\n    return 'banana'\n"
        stream = stream_batch(self.checked(), [good, late], executor=made[0])
        first = next(stream)
        [judged_on] = [n for n, count in zip(nodes, given, strict=True) if n.gave > count]
        judged_on.dead = True
        found = dict([first, *stream])
        assert [found[index].score for index in (0, 1)] == [1.0, 0.0]
        assert found[1].status is Status.ERROR
