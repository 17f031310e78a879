"""Completions to judge, and a node that is lost meanwhile."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import ray

from unhack import run_batch
from unhack.sandbox.linux.processes import children
from unhack.tasks.execution.ray.executor import RayExecutor
from unhack.tasks.suite import find_task

START_S = 600.0
"""Start-up of a raylet and its first actor on a busy machine."""


def patiently(start: Callable[[], Any]) -> Any:
    """Ray gives a raylet 30 s to come up; on a busy machine it may take another try."""
    for left in (2, 1, 0):
        try:
            return start()
        except Exception:
            if not left:
                raise
    return None


def right_and_wrong(count: int, *, sleep_s: float = 0.0) -> list[str]:
    """Completions of parsing/seat-ranges, of which every fifth is right."""
    wait = f"    import time; time.sleep({sleep_s})\n" if sleep_s else ""
    right = find_task("parsing/seat-ranges").problem.reference
    assert right is not None
    texts = [f"def expand_seats(spec):\n{wait}    return [{index}]\n" for index in range(count)]
    return [f"{right}\n# {index}\n" if index % 5 == 0 else t for index, t in enumerate(texts)]


class Victim:
    """A further node, which already judges."""

    def __init__(self, cluster: Any, executor: RayExecutor) -> None:
        node = cluster.add_node(num_cpus=1)
        self.id: str = node.node_id
        [raylet] = node.all_processes["raylet"]
        self.raylet: int = raylet.process.pid
        deadline = time.monotonic() + START_S
        while self.id not in executor.nodes() and time.monotonic() < deadline:
            run_batch(find_task("parsing/seat-ranges"), right_and_wrong(4), executor=executor)
            time.sleep(1)
        assert self.id in executor.nodes(), "a node that joined is not used"
        self.stopped: list[int] = []
        self.killed = False

    def kill(self) -> None:
        """End every process of it, as a machine that loses its power."""
        self.stop()
        for pid in self.stopped:
            os.kill(pid, signal.SIGKILL)
        self.stopped, self.killed = [], True

    def remove(self) -> None:
        """Take it out of the cluster for good: one that stood still would come back to it."""
        if not self.killed:
            with contextlib.suppress(ProcessLookupError):  # Ray may have ended it by now
                self.kill()
        deadline = time.monotonic() + START_S
        while self.id in _alive() and time.monotonic() < deadline:
            time.sleep(1)
        assert self.id not in _alive(), "Ray still takes it for alive"

    def is_gone_from(self, executor: RayExecutor) -> bool:
        """Tell whether the executor gives it up, when it has work at all."""
        deadline = time.monotonic() + START_S
        while self.id in executor.nodes() and time.monotonic() < deadline:
            run_batch(find_task("parsing/seat-ranges"), right_and_wrong(8), executor=executor)
            time.sleep(1)
        return self.id not in executor.nodes()

    def stop(self) -> None:
        """Let every process of it stand still, as a machine that hangs."""
        self.stopped = [self.raylet]
        for pid in self.stopped:
            os.kill(pid, signal.SIGSTOP)
            self.stopped += children(pid)

    def go_on(self) -> None:
        """Let them go on."""
        for pid in self.stopped:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                continue


def _alive() -> set[str]:
    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}
