"""A Ray whose nodes have cards of host memory, and tournaments on it."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster

from unhack.sandbox.linux.processes import children

from .host_cards import ROOT, Turn, environ, turns
from .lost_nodes import START_S, patiently


class CardsOnRay:
    """A head without a core, one node without a card, and nodes with one or two."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        for name, text in environ(folder).items():
            patch.setenv(name, text)
        self.log = folder / "log.jsonl"
        head = {"num_cpus": 0, "num_gpus": 0, "include_dashboard": False}
        self.cluster = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
        self.plain = patiently(lambda: self.cluster.add_node(num_cpus=1, num_gpus=0))
        self.nodes: dict[str, Any] = {}
        self.commands: list[subprocess.Popen[str]] = []

    def add_node(self, *, cards: int) -> None:
        """A node with so many cards, each with two cores."""
        node = patiently(lambda: self.cluster.add_node(num_cpus=2 * cards, num_gpus=cards))
        self.nodes[node.node_id[:12]] = node

    def node_of(self, card: str) -> str:
        """The node of a card."""
        return card.removeprefix("GPU-").rpartition("-")[0]

    def kill_node(self, name: str) -> None:
        """End every process of a node, as a machine that loses its power."""
        [raylet] = self.nodes.pop(name).all_processes["raylet"]
        os.kill(raylet.process.pid, signal.SIGSTOP)
        for pid in (*children(raylet.process.pid), raylet.process.pid):
            os.kill(pid, signal.SIGKILL)

    def command(self, *words: str, executor: str = "ray") -> subprocess.Popen[str]:
        """`unhack tournament` on this Ray, in a process that has no card; or here, in one that has
        a card of its own."""
        path = "" if executor == "ray" else f"{self.log.parent / 'here'}:{ROOT}"
        from_here = {"RAY_ADDRESS": self.cluster.address, "PYTHONPATH": path}
        program = str(Path(sys.executable).with_name("unhack"))
        line = [program, "tournament", *words, "--executor", executor]
        self.commands.append(subprocess.Popen(
            line, env={**os.environ, **from_here}, cwd=ROOT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ))  # fmt: skip
        return self.commands[-1]

    def close(self) -> None:
        """End what is left of it."""
        for command in self.commands:
            command.kill()
        self.cluster.shutdown()

    def wait_for_turns(self, count: int, under_way: subprocess.Popen[str]) -> list[Turn]:
        """So many turns, once they have begun."""
        deadline = time.monotonic() + START_S
        while len(turns(self.log)) < count and under_way.poll() is None:
            assert time.monotonic() < deadline, "no card was used"
            time.sleep(0.1)
        assert under_way.poll() is None, under_way.communicate()[0]
        return turns(self.log)

    def wait_at_work(self, out: Path, under_way: subprocess.Popen[str]) -> str:
        """The node of the agent `mine`, once it has printed something there."""
        deadline = time.monotonic() + START_S
        while under_way.poll() is None and time.monotonic() < deadline:
            logs = out.glob("transcripts/*/*mine*/attempt-1/stdout.jsonl")
            if any(path.read_text() for path in logs):
                lines = (out / "events.jsonl").read_text().splitlines()
                [*_, line] = [line for line in lines if '"entry.running"' in line]
                return json.dumps(json.loads(line)).partition('"node": "')[2].partition('"')[0]
            time.sleep(0.2)
        under_way.kill()
        raise AssertionError(under_way.communicate()[0])


def ended(command: subprocess.Popen[str]) -> str:
    """What a command said, once it has ended well."""
    said, _ = command.communicate(timeout=2 * START_S)
    assert command.returncode == 0, said
    return said


def assert_one_at_a_time(found: list[Turn]) -> None:
    by_card: dict[str, list[Turn]] = defaultdict(list)
    for turn in found:
        by_card[turn.card].append(turn)
    for those in by_card.values():
        whole = [turn for turn in those if turn.end < float("inf")]
        assert all(a.end <= b.begin for a, b in itertools.pairwise(whole))
