"""The life of a shard's process: it starts beside any program and ends with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unhack.sandbox.linux.processes import children

pytestmark = pytest.mark.slow

WITHIN_S = 60.0
HEAD = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background commands
print("the main module runs", flush=True)
from unhack import Case, FunctionVerifier, Limits, Problem, Task, run_batch, stream_batch
from unhack.tasks.execution.shards.executor import ShardsExecutor
limits = Limits(wall_s=300.0, cpu_s=300.0)
task = Task(Problem("p", ""), FunctionVerifier("f", (Case((3,), expected=9),), limits=limits))
sources = [f"def f(n): return n * n  # {k}" for k in range(8)]
"""
AT_WORK = """
executor = ShardsExecutor(shards=2, slots=2)
run_batch(task, sources, executor=executor)
if not os.fork():
    time.sleep(100)
sleeping = "import time\\ndef f(n): time.sleep(1000)  # "
stream = stream_batch(task, [*sources, *(f"{sleeping}{k}" for k in range(2))], executor=executor)
for _ in sources:
    next(stream)
print("at work", *executor.pids(), flush=True)
next(stream)
"""


def start(program: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", HEAD + program]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def family(ancestor: int) -> list[int]:
    found = [ancestor]
    for pid in found:
        found += children(pid)
    return found[1:]


def candidates(shards: list[int]) -> list[int]:
    """What runs below the servers of these shards; a shard that was slow to start may have none."""
    return [pid for shard in shards for server in children(shard) for pid in children(server)]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.05)


@pytest.mark.parametrize("stopped", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_killed_parent_leaves_no_shard_worker_or_candidate(stopped: bool) -> None:
    """Though a fork of the parent holds its ends of all sockets; a stopped shard ends too."""
    with start(AT_WORK) as parent:
        assert parent.stdout
        parent.stdout.readline()
        shards = [int(word) for word in parent.stdout.readline().split()[2:]]
        assert len(shards) == 2
        wait_until(lambda: len(candidates(shards)) >= 2)
        [fork] = set(children(parent.pid)) - set(shards)
        below = [*shards, *(pid for shard in shards for pid in family(shard))]
        if stopped:
            os.kill(shards[0], signal.SIGSTOP)
        parent.kill()
        wait_until(lambda: not [pid for pid in below if is_alive(pid)])
        assert is_alive(fork)
        os.kill(fork, signal.SIGKILL)


def test_a_program_without_a_main_guard_runs_once_and_ends_quietly() -> None:
    program = "print(run_batch(task, sources, executor=ShardsExecutor(shards=2, slots=2)))"
    with start(program) as parent:
        said, complaints = parent.communicate(timeout=WITHIN_S)
    assert (said, complaints) == (
        "the main module runs\nBatch(8: 8 passed, 0 failed, mean 1)\n",
        "",
    )
    assert parent.returncode == 0


def test_ctrl_c_reaches_the_program_and_no_shard() -> None:
    with start(AT_WORK) as parent:
        assert parent.stdout
        parent.stdout.readline()
        shards = [int(word) for word in parent.stdout.readline().split()[2:]]
        groups = {os.getpgid(pid) for pid in shards}
        assert os.getpgid(parent.pid) not in groups
        os.killpg(os.getpgid(parent.pid), signal.SIGINT)
        _, complaints = parent.communicate(timeout=WITHIN_S)
        assert complaints.rstrip().endswith("KeyboardInterrupt")
    wait_until(lambda: not [pid for pid in shards if is_alive(pid)])
