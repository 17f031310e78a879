"""Whole calls on the nodes of a Ray: one result each, though a node is lost."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import PoolClosedError, SandboxError
from unhack.sandbox.linux.processes import children
from unhack.tasks.execution.ray.executor import RayExecutor
from unhack.tasks.execution.ray.remote_calls import RemoteCalls
from unhack.tasks.suite import find_task

from .lost_nodes import START_S, Victim

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def calls(cluster: Any) -> Iterator[RemoteCalls]:
    """Remote calls on the cluster at hand, for which a node that is silent for 30 s is lost."""
    made = RemoteCalls(patience_s=START_S, silence_s=30.0)
    yield made
    made.close()


def test_an_error_of_the_call_names_the_node(calls: RemoteCalls) -> None:
    with pytest.raises(SandboxError, match=r"node .*no such task|node .*no/such"):
        calls.run(find_task, "no/such")
    assert calls.run(find_task, "parsing/seat-ranges").id == "parsing/seat-ranges"


@pytest.mark.parametrize("way", ["killed", "stopped"])
def test_a_call_that_is_lost_with_its_node_is_made_again(
    cluster: Any, executor: RayExecutor, calls: RemoteCalls, tmp_path: Path, way: str
) -> None:
    victim = Victim(cluster, executor)
    begun = tmp_path / "begun"
    work = ["sh", "-c", f"echo $PPID >> {begun}; sleep 15"]  # of Ray's worker
    done: list[int] = []

    def call() -> None:
        done.append(calls.run(subprocess.call, work))

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + START_S
    while not _has_begun(begun, victim) and time.monotonic() < until:
        time.sleep(0.2)
    victim.kill() if way == "killed" else victim.stop()
    lost = time.monotonic()
    for thread in threads:
        thread.join(START_S)
    print(f"{way}: all were done {time.monotonic() - lost:.0f} s after")
    assert done == [0] * 6
    assert len(begun.read_text().split()) > 6, "no call was lost"
    assert victim.is_gone_from(executor)
    victim.remove()


def _has_begun(begun: Path, victim: Victim) -> bool:
    """True when a call runs on that node."""
    workers = begun.read_text().split() if begun.exists() else []
    below = [victim.raylet]
    for pid in below:
        below += children(pid)
    return any(int(pid) in below for pid in workers)


def test_closed_connection_takes_nothing(cluster: Any) -> None:
    made = RemoteCalls()
    made.close()
    with pytest.raises(PoolClosedError, match="make a new one"):
        made.run(len, "abc")
