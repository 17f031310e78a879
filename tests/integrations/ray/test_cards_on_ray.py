"""Kernels judged on the cards of a Ray: one at a time on each, all at once, none twice."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from ray.cluster_utils import Cluster

from unhack.sandbox.gpu.card_queue import CardQueue
from unhack.sandbox.linux.processes import children
from unhack.tournament.record.archive import read_record
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import TournamentRecord

from .host_cards import NAME, ROOT, Turn, environ, turns
from .lost_nodes import START_S, patiently

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
RUN = (
    "run", "kernels", "--option", "device=cuda", "--option", "problem=softmax",
    "--agent", "baseline", "--rounds", "1", "--jobs", "3", "--seed", "3",
)  # fmt: skip


GIVEN = """
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return 2 * x + 1


def get_inputs():
    return [torch.randn(24, 70)]


def get_init_inputs():
    return []
"""


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

    def command(self, *words: str) -> subprocess.Popen[str]:
        """`unhack tournament` on this Ray, in a process that has no card."""
        from_here = {"RAY_ADDRESS": self.cluster.address, "PYTHONPATH": ""}
        program = str(Path(sys.executable).with_name("unhack"))
        line = [program, "tournament", *words, "--executor", "ray"]
        return subprocess.Popen(
            line, env={**os.environ, **from_here}, cwd=ROOT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def wait_for_turns(self, count: int, under_way: subprocess.Popen[str]) -> list[Turn]:
        """So many turns, once they have begun."""
        deadline = time.monotonic() + START_S
        while len(turns(self.log)) < count and under_way.poll() is None:
            assert time.monotonic() < deadline, "no card was used"
            time.sleep(0.1)
        assert under_way.poll() is None, under_way.communicate()[0]
        return turns(self.log)


@pytest.fixture
def cards(tmp_path: Path) -> Iterator[CardsOnRay]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path / "cards"
        folder.mkdir()
        made = CardsOnRay(folder, patch)
        yield made
        made.cluster.shutdown()


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


def assert_judged_once(record: TournamentRecord) -> None:
    assert record.entries
    assert all(entry.state is EntryState.COMMITTED for entry in record.entries)
    seats = [(entry.round, entry.agent) for entry in record.entries]
    assert len(seats) == len(set(seats))
    baseline = {entry.agent: entry for entry in record.entries}["control:baseline"]
    assert baseline.measured is not None
    assert baseline.measured.valid, baseline.measured.reason


def test_cards_of_several_nodes_are_used_at_once_and_a_lost_one_is_replaced(
    cards: CardsOnRay, tmp_path: Path
) -> None:
    cards.add_node(cards=1)
    cards.add_node(cards=2)
    command = cards.command(*RUN, "--out", str(tmp_path / "out"))
    begun = cards.wait_for_turns(2, command)
    assert len({turn.card for turn in begun}) == 2, "the second waited for the first one's card"
    lost = cards.node_of(begun[0].card)
    cards.kill_node(lost)
    lost_at = time.monotonic()
    ended(command)
    found = turns(cards.log)
    assert_one_at_a_time(found)
    later = [turn for turn in found if turn.begin > lost_at]
    assert later
    assert {cards.node_of(turn.card) for turn in later} == set(cards.nodes)
    assert all(CardQueue(turn.card).holder() == "" for turn in found)
    record = read_record(tmp_path / "out")
    assert_judged_once(record)
    assert record.settings.contest_settings["card"] == NAME


def test_a_driver_that_is_killed_frees_the_cards_and_can_be_resumed(
    cards: CardsOnRay, tmp_path: Path
) -> None:
    cards.add_node(cards=1)
    (tmp_path / "level1").mkdir()
    (tmp_path / "level1" / "1_Scaled.py").write_text(GIVEN)
    given = [word.replace("problem=softmax", f"kernelbench={tmp_path}") for word in RUN]
    command = cards.command(*given, "--out", str(tmp_path / "out"))
    [_, first, *_] = cards.wait_for_turns(2, command)  # after the file was tried
    command.kill()
    command.wait()
    deadline = time.monotonic() + START_S
    while CardQueue(first.card).holder() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert CardQueue(first.card).holder() == ""
    ended(cards.command("resume", str(tmp_path / "out")))
    assert_one_at_a_time(turns(cards.log))
    assert_judged_once(read_record(tmp_path / "out"))


def test_a_ray_without_a_card_is_told_before_anything_is_spent(
    cards: CardsOnRay, tmp_path: Path
) -> None:
    command = cards.command(*RUN, "--out", str(tmp_path / "out"))
    said, _ = command.communicate(timeout=START_S)
    assert command.returncode == 3, said
    assert "no node of the Ray cluster offers a GPU" in " ".join(said.split())
    assert not (tmp_path / "out").exists()
