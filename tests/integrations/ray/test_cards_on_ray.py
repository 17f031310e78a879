"""Kernels judged on the cards of a Ray: one at a time on each, all at once, none twice."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

pytest.importorskip("torch")

from unhack.sandbox.gpu.card_queue import CardQueue
from unhack.tournament.record.archive import read_record
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import TournamentRecord

from .card_cluster import CardsOnRay, assert_one_at_a_time, ended
from .host_cards import NAME, turns
from .lost_nodes import START_S

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


def assert_judged_once(record: TournamentRecord) -> None:
    assert record.entries
    assert all(entry.state is EntryState.COMMITTED for entry in record.entries)
    participants = [(entry.round, entry.agent) for entry in record.entries]
    assert len(participants) == len(set(participants))
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
