"""Whole calls on the nodes of a Ray: one result each, though a node is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from unhack.core.errors import PoolClosedError, SandboxError
from unhack.tasks.execution.cluster.ray_errands import RayErrands
from unhack.tasks.execution.cluster.ray_executor import RayExecutor
from unhack.tasks.suite import find_task

from .lost_nodes import Victim

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def errands(cluster: Any) -> Iterator[RayErrands]:
    """Errands on the cluster at hand."""
    made = RayErrands()
    yield made
    made.close()


def test_an_error_of_the_call_names_the_node(errands: RayErrands) -> None:
    with pytest.raises(SandboxError, match=r"node .*no such task|node .*no/such"):
        errands.run(find_task, "no/such")
    assert errands.run(find_task, "parsing/seat-ranges").id == "parsing/seat-ranges"


def test_a_call_that_is_lost_with_its_node_is_made_again(
    cluster: Any, executor: RayExecutor, errands: RayErrands
) -> None:
    victim = Victim(cluster, executor)
    ended: list[float] = []

    def sleep() -> None:
        errands.run(time.sleep, 20.0)
        ended.append(time.monotonic())

    threads = [threading.Thread(target=sleep) for _ in range(6)]
    for thread in threads:
        thread.start()
    time.sleep(10.0)
    victim.kill()
    for thread in threads:
        thread.join(500.0)
    assert len(ended) == 6
    assert victim.is_gone_from(executor)


def test_closed_errands_take_nothing(cluster: Any) -> None:
    made = RayErrands()
    made.close()
    with pytest.raises(PoolClosedError, match="make a new one"):
        made.run(len, "abc")
