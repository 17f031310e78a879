"""`executor="ray"` on a cluster of several raylets of this machine."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from unhack import PythonVerifier, Task, run_batch, stream_batch
from unhack.core.errors import UsageError
from unhack.core.problem import Problem
from unhack.tasks.execution.choosing import choose
from unhack.tasks.execution.cluster.ray_executor import RayExecutor
from unhack.tasks.suite import find_task

START_S = 300.0
"""Start-up of a raylet and its first actor on a busy machine."""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head that offers no core, and two nodes with one each."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        made.add_node(num_cpus=1)
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def executor(cluster: Any) -> Iterator[RayExecutor]:
    made = RayExecutor(patience_s=START_S)
    yield made
    made.close()
    assert ray.is_initialized(), "a Ray that the executor did not start was shut down"


def _completions(count: int, *, sleep_s: float = 0.0) -> list[str]:
    wait = f"    import time; time.sleep({sleep_s})\n" if sleep_s else ""
    right = find_task("parsing/seat-ranges").problem.reference
    assert right is not None
    texts = [f"def expand_seats(spec):\n{wait}    return [{index}]\n" for index in range(count)]
    return [f"{right}\n# {index}\n" if index % 5 == 0 else t for index, t in enumerate(texts)]


def test_verdicts_are_those_of_this_process_in_order(executor: RayExecutor) -> None:
    task = find_task("parsing/seat-ranges")
    texts = _completions(60)
    here = run_batch(task, texts)
    there = run_batch(task, texts, executor=executor)
    assert [v.score for v in there.verdicts] == [v.score for v in here.verdicts]
    assert [v.reason for v in there.verdicts] == [v.reason for v in here.verdicts]


def test_a_callable_of_the_user_runs_in_the_users_process(executor: RayExecutor) -> None:
    pids: list[int] = []

    def judge(completion: str) -> bool:
        pids.append(os.getpid())
        return completion == "yes"

    task = Task(Problem("mine", "say yes"), PythonVerifier(judge))
    batch = run_batch(task, ["yes", "no"], executor=executor)
    assert batch.rewards == (1.0, 0.0)
    assert set(pids) == {os.getpid()}


def test_a_closed_stream_cancels_and_the_next_batch_is_whole(executor: RayExecutor) -> None:
    task = find_task("parsing/seat-ranges")
    stream = stream_batch(task, _completions(200), executor=executor)
    next(stream)
    stream.close()
    assert len(run_batch(task, _completions(20), executor=executor).verdicts) == 20


def test_a_task_that_cannot_cross_is_named(executor: RayExecutor) -> None:
    class Locked:
        kind = "locked"

        def __init__(self) -> None:
            self.lock = threading.Lock()

        def verify(self, problem: Problem, completion: str) -> Any:
            yield []

        def canary(self) -> str:
            return ""

    task = Task(Problem("locked-one", "anything"), Locked())
    with pytest.raises(UsageError, match="locked-one"):
        run_batch(task, ["x"], executor=executor)


def test_a_killed_raylet_loses_and_doubles_no_verdict(cluster: Any, executor: RayExecutor) -> None:
    task = find_task("parsing/seat-ranges")
    victim = cluster.add_node(num_cpus=1)
    deadline = time.monotonic() + START_S
    while len(executor.desks()) < 3 and time.monotonic() < deadline:
        run_batch(task, _completions(4), executor=executor)
        time.sleep(1)
    assert victim.node_id in executor.desks(), "a node that joined is not used"
    texts = _completions(400, sleep_s=0.05)
    found: list[int] = []
    for index, verdict in stream_batch(task, texts, executor=executor):
        found.append(index)
        assert verdict.scored
        if len(found) == 40:
            [process] = victim.all_processes["raylet"]
            os.kill(process.process.pid, signal.SIGKILL)
    assert sorted(found) == list(range(400))
    assert victim.node_id not in executor.desks()


def test_the_name_uses_the_ray_that_this_process_is_in(cluster: Any) -> None:
    executor = choose(executor="ray")
    assert isinstance(executor, RayExecutor)
    assert choose(executor="ray") is executor
    executor.close()
    assert ray.is_initialized()
