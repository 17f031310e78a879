"""`executor="ray"` on a cluster of several raylets of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from typing import Any

import pytest
import ray

from unhack import PythonVerifier, Task, run_batch, stream_batch
from unhack.core.errors import UsageError
from unhack.core.problem import Problem
from unhack.tasks.execution.choosing import choose
from unhack.tasks.execution.ray.executor import RayExecutor
from unhack.tasks.suite import find_task
from unhack.verifiers.function import Case, FunctionVerifier

from .lost_nodes import START_S, Victim, right_and_wrong

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_verdicts_are_those_of_this_process_in_order(executor: RayExecutor) -> None:
    task = find_task("parsing/seat-ranges")
    texts = right_and_wrong(60)
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
    stream = stream_batch(task, right_and_wrong(200), executor=executor)
    next(stream)
    stream.close()
    assert len(run_batch(task, right_and_wrong(20), executor=executor).verdicts) == 20


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


@pytest.mark.parametrize("way", ["killed", "stopped"])
def test_a_node_that_is_lost_loses_and_doubles_no_verdict(
    cluster: Any, executor: RayExecutor, way: str
) -> None:
    victim = Victim(cluster, executor)
    found: list[int] = []
    stream = stream_batch(
        find_task("parsing/seat-ranges"), right_and_wrong(400, sleep_s=0.05), executor=executor
    )
    for index, verdict in stream:
        found.append(index)
        assert verdict.scored
        assert verdict.passed is (index % 5 == 0)
        if len(found) == 40:
            victim.kill() if way == "killed" else victim.stop()
        if len(found) == 390:
            victim.go_on()
    assert sorted(found) == list(range(400))
    assert victim.is_gone_from(executor)
    victim.remove()


def test_a_breaking_completion_is_judged_by_what_another_node_judged(
    executor: RayExecutor,
) -> None:
    checker = """
def check(args, kwargs, output, expected):
    return {"".join(map(chr, (112, 113))): True}[output]
"""
    task = Task(
        Problem("p", ""), FunctionVerifier("f", (Case((3,), expected=None),), checker=checker)
    )
    good = "import time\ndef f(x):\n    time.sleep(1)\n    return 'pq'\n"
    bad = [f"def f(x): return 'banana {number}'\n" for number in range(6)]
    assert run_batch(task, [good, *bad], executor=executor).rewards == (1.0, *[0.0] * 6)
    fresh = replace(task, problem=Problem("unseen", ""))
    assert run_batch(fresh, bad[:4], executor=executor).rewards == (None,) * 4
    assert run_batch(task, bad[:4], executor=executor).rewards == (0.0,) * 4


def test_a_process_elsewhere_judges_through_rays_client(cluster: Any, client_port: int) -> None:
    code = f"""
from unhack import run_batch
from unhack.tasks.execution.ray.executor import RayExecutor
from unhack.tasks.suite import find_task

task = find_task("parsing/seat-ranges")
executor = RayExecutor("ray://127.0.0.1:{client_port}", patience_s={START_S})
print(run_batch(task, [task.problem.reference, "pass"], executor=executor).rewards)
executor.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, timeout=START_S, check=True
    )
    assert done.stdout.split("\n")[-2] == "(1.0, 0.0)"


def test_the_name_uses_the_ray_that_this_process_is_in(cluster: Any) -> None:
    executor = choose(executor="ray")
    assert isinstance(executor, RayExecutor)
    assert choose(executor="ray") is executor
    executor.close()
    assert ray.is_initialized()
