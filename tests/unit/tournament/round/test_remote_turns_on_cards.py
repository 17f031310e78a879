"""Turns on nodes with cards: what agents are given there, how they measure, and where none is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tournament.hill import HILL, plan
from tests.unit.tournament.round.test_remote_turns import ANSWER, Nodes, agent, of

from unhack.agents.play import PlayEnding
from unhack.core.errors import SandboxError, SandboxUnavailableError
from unhack.sandbox.gpu import tree_card
from unhack.sandbox.gpu.cards import Card
from unhack.tasks.execution.ray.pause import NodePauses
from unhack.tasks.execution.ray.remote_calls import NodeClaim
from unhack.tournament.contest import AGENTS_DEVICE
from unhack.tournament.judging.machine_lock import Machine
from unhack.tournament.players.registry import make_player
from unhack.tournament.record.archive import read_record
from unhack.tournament.record.records import TournamentRecord
from unhack.tournament.round import judge_executor, remote_turns
from unhack.tournament.round.judge_executor import check_request
from unhack.tournament.round.remote_turns import NodeClock, RemoteTurns
from unhack.tournament.round.rounds import begin, line_up, play
from unhack.tournament.round.turn_requests import play_request


class OnCard(type(HILL)):  # type: ignore[misc]
    """The toy contest as one that measures times on a card, which agents are given, too."""

    absent = False

    @property
    def settings(self) -> Any:
        return {**super().settings, AGENTS_DEVICE: "cuda"}

    def check_card(self) -> None:
        """See `NeedsCard`."""
        if self.absent:
            raise SandboxUnavailableError("the card of this machine is another one")


@pytest.fixture
def on_card(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The contest by its name, and a card of which a tree sees the node /dev/tty."""
    hill = OnCard(**{f.name: getattr(HILL, f.name) for f in fields(HILL) if f.init})
    object.__setattr__(hill, "exclusive", True)
    monkeypatch.setattr(judge_executor, "load_contest", lambda name, options: hill)
    judge_executor._loaded.cache_clear()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(tree_card, "choose_card", lambda device: Card(0, "/dev/tty"))
    return hill


def nodes_with(**cards: int) -> Nodes:
    """Nodes of two cores that offer so many cards."""
    nodes = Nodes(*cards)
    for name, count in cards.items():
        node = nodes.known[name]
        node.info = replace(node.info, slots=2, cards=count)
    return nodes


def played_on(path: Path, nodes: Nodes, contest: Any, *agents: str) -> TournamentRecord:
    """A whole tournament on nodes with cards."""
    with begin(path, plan(*agents, rounds=1), contest, seed=3) as archive:

        def make(name: str) -> Any:
            return make_player(name, contest, options={})

        turns = RemoteTurns(nodes, archive.settings, contest, say=lambda line: None)  # type: ignore[arg-type]
        lineup = line_up(archive, contest, make=make, turns=turns)
        turns.check([place.player for place in lineup.participants])
        return play(lineup, jobs=2)


@pytest.mark.slow
def test_a_tree_has_the_card_of_its_node_and_its_check_is_a_quiet_measurement(
    tmp_path: Path, on_card: Any
) -> None:
    nodes = nodes_with(plain=0, carded=1)
    line = f"{ANSWER}; ls /dev; unhack-check; echo done"
    record = played_on(tmp_path / "out", nodes, on_card, agent(tmp_path, line))
    entry = of(record, "mine")
    assert (entry.ended, entry.note) == (PlayEnding.FINISHED, "")
    assert {each.played_on for each in record.entries} == {"carded/carded01"}
    assert nodes.cards == [True]
    assert {claim for function, claim in nodes.claims if function is check_request} == {
        NodeClaim.QUIET_CARD
    }
    assert entry.usage.checks == 1
    [transcript] = (tmp_path / "out" / "transcripts" / "0001").glob("*mine*/attempt-1")
    said = (transcript / "stdout.jsonl").read_text()
    assert "tty" in said.split()
    assert "development data" in said


@pytest.mark.slow
def test_an_agent_of_another_contest_has_no_card_on_a_node_that_offers_one(
    tmp_path: Path, on_card: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_executor, "load_contest", lambda name, options: HILL)
    nodes = nodes_with(carded=1)
    played_on(tmp_path / "out", nodes, HILL, agent(tmp_path, f"{ANSWER}; ls /dev"))
    assert nodes.cards == [False]
    [transcript] = (tmp_path / "out" / "transcripts" / "0001").glob("*mine*/attempt-1")
    assert "tty" not in (transcript / "stdout.jsonl").read_text().split()


@pytest.mark.slow
def test_embedded_agents_compute_here_and_measure_on_their_node(
    tmp_path: Path, on_card: Any
) -> None:
    nodes = nodes_with(carded=1)
    record = played_on(tmp_path / "out", nodes, on_card, "search")
    entry = of(record, "search")
    assert entry.played_on == "carded/carded01"
    assert play_request not in nodes.called
    assert nodes.called.count(check_request) == entry.usage.checks > 1


def test_an_agent_pays_for_no_second_that_its_node_stands_still(
    tmp_path: Path, on_card: Any
) -> None:
    now = [100.0]
    machine = Machine(lambda: now[0])
    nodes = nodes_with(carded=1)
    nodes.pauses = NodePauses(clock=lambda: now[0])
    player = make_player("search", on_card, options={})
    with begin(tmp_path / "out", plan("search", rounds=1), on_card, seed=3) as archive:
        turns = RemoteTurns(nodes, archive.settings, on_card, say=lambda line: None)  # type: ignore[arg-type]
        with turns.slot(player, machine) as slot:
            clock = slot.start_clock(machine)
            now[0] += 20
            with nodes.pauses.measuring(nodes.known["carded"].info.id, quiet=True):
                now[0] += 600
                assert clock.elapsed_s() == 20.0
            with nodes.pauses.measuring("another", quiet=True):
                now[0] += 5
            assert clock.elapsed_s() == 25.0


def test_a_node_with_another_card_gets_no_turn_and_without_any_nothing_begins(
    tmp_path: Path, on_card: Any
) -> None:
    object.__setattr__(on_card, "absent", True)
    with pytest.raises(SandboxUnavailableError, match=r"no node can run null.*is another one"):
        played_on(tmp_path / "out", nodes_with(carded=1), on_card, "search")
    assert not read_record(tmp_path / "out").entries


def test_a_turn_that_lost_three_nodes_is_not_played_without_a_card(
    tmp_path: Path, on_card: Any
) -> None:
    names = ("a", "b", "c", "d")
    nodes = nodes_with(**dict.fromkeys(names, 1))
    ask = nodes.ask

    def lose(info: Any, function: Callable[[Any], Any], value: Any, **rest: Any) -> Any:
        if function is check_request:
            nodes.known[info.name].lost = "the node is gone"
        return ask(info, function, value, **rest)

    nodes.ask = lose  # type: ignore[method-assign]
    with pytest.raises(SandboxError, match="3 nodes were lost with a turn of search"):
        played_on(tmp_path / "out", nodes, on_card, "search")
    assert sum(bool(node.lost) for node in nodes.known.values()) == 3


@pytest.mark.slow
def test_where_no_node_with_a_card_is_left_the_tournament_stops_and_can_go_on(
    tmp_path: Path, on_card: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_turns, "_PATIENCE_S", 3.0)
    nodes = nodes_with(plain=0, carded=1)
    ask = nodes.ask

    def lose(info: Any, function: Callable[[Any], Any], value: Any, **rest: Any) -> Any:
        if function is check_request:
            nodes.known[info.name].lost = "the node is gone"
        return ask(info, function, value, **rest)

    nodes.ask = lose  # type: ignore[method-assign]
    with pytest.raises(SandboxError, match="no node with a card is left that can run search"):
        played_on(tmp_path / "out", nodes, on_card, "search")


def test_a_node_clock_stands_still_with_its_node_and_ends_with_the_agents_time() -> None:
    still = [7.0]
    elapsed = [0.0]

    class Base:
        def elapsed_s(self) -> float:
            return elapsed[0]

    clock = NodeClock(Base(), lambda: still[0])
    elapsed[0] = 20.0
    assert clock.elapsed_s() == 20.0
    still[0] += 15.0
    assert clock.elapsed_s() == 5.0
    elapsed[0] = float("inf")
    assert clock.elapsed_s() == float("inf")
