"""Claims about who gets calls: nodes that answer, as many as they have cores, and none that stands
still."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from unhack.tasks.execution.ray.cluster import NodeInfo
from unhack.tasks.execution.ray.health import HealthMonitor, Heartbeat

LOOK_S, SILENCE_S = 2.0, 30.0


class HeartbeatProcess:
    """A heartbeat of this process, which answers when it is told to."""

    def __init__(self) -> None:
        self.asked: Future[None] = Future()
        self.ended = False

    def call(self, method: Callable[..., Any]) -> Future[None]:
        """See `RayActor.call`."""
        assert method is Heartbeat.beat
        self.asked = Future()
        return self.asked

    def end(self) -> None:
        """See `RayActor.end`."""
        self.ended = True


class Machines:
    """Nodes that are told when to answer, and a clock beside them."""

    def __init__(self, **slots: int) -> None:
        self.alive = [NodeInfo(name, f"10.0.0.{name}", count) for name, count in slots.items()]
        self.heartbeats: dict[str, HeartbeatProcess] = {}
        self.still: set[str] = set()
        self.now = 1000.0
        self.monitor = HealthMonitor(self, silence_s=SILENCE_S, clock=lambda: self.now)  # type: ignore[arg-type]

    def nodes(self) -> list[NodeInfo]:
        """See `RayCluster.nodes`."""
        return self.alive

    def start(self, made: type, node: NodeInfo) -> HeartbeatProcess:
        """See `RayCluster.start`."""
        assert made is Heartbeat
        self.heartbeats[node.id] = HeartbeatProcess()
        return self.heartbeats[node.id]

    def pass_time(self, seconds: float, *, step_s: float = LOOK_S) -> float:
        """Let time pass with somebody waiting; seconds for which no node has answered."""
        alone = self.monitor.look()
        for _ in range(round(seconds / step_s)):
            for name, heartbeat in self.heartbeats.items():
                if name not in self.still and not heartbeat.asked.done():
                    heartbeat.asked.set_result(None)
            self.now += step_s
            alone = self.monitor.look()
        return alone


def test_a_node_gets_no_call_before_it_has_answered() -> None:
    machines = Machines(a=1)
    assert machines.monitor.take() is None
    machines.pass_time(4)
    assert machines.monitor.take() is not None


def test_nodes_get_as_many_calls_as_they_have_cores_the_emptiest_first() -> None:
    machines = Machines(a=1, b=3)
    machines.pass_time(4)
    taken = [machines.monitor.take() for _ in range(5)]
    names = [state.info.id for state in taken if state is not None]
    assert sorted(names) == ["a", "b", "b", "b"]
    assert set(names[:2]) == {"a", "b"}
    assert taken[0] is not None
    machines.monitor.leave(taken[0])
    again = machines.monitor.take()
    assert again is not None
    assert again.info.id == taken[0].info.id


def test_a_node_that_stands_still_loses_its_calls_and_gets_none_until_it_answers() -> None:
    machines = Machines(a=1, b=1)
    machines.pass_time(4)
    states = {state.info.id: state for _ in range(2) if (state := machines.monitor.take())}
    heartbeat = machines.heartbeats["a"]
    machines.still.add("a")
    machines.pass_time(SILENCE_S - 4)
    assert not states["a"].lost
    machines.pass_time(8)
    assert states["a"].lost == "no answer for 30 s"
    assert not states["b"].lost
    assert heartbeat.ended
    machines.monitor.leave(states["a"])
    machines.pass_time(100)
    assert machines.monitor.take() is None
    machines.still.clear()
    machines.pass_time(4)
    back = machines.monitor.take()
    assert back is not None
    assert back.info.id == "a"


def test_a_node_that_is_gone_loses_its_calls_at_once() -> None:
    machines = Machines(a=1)
    machines.pass_time(4)
    state = machines.monitor.take()
    assert state is not None
    machines.alive = []
    machines.pass_time(2)
    assert state.lost == "the node is gone"


def test_a_heartbeat_that_fails_is_a_node_that_is_lost() -> None:
    machines = Machines(a=1)
    machines.pass_time(4)
    state = machines.monitor.take()
    assert state is not None
    machines.heartbeats["a"].asked.set_exception(ConnectionError("its worker died"))
    machines.still.add("a")
    machines.pass_time(2)
    assert state.lost == "ConnectionError: its worker died"


@pytest.mark.parametrize("pauses", [1, 4])
def test_a_pause_of_this_process_is_no_silence_of_the_nodes(pauses: int) -> None:
    machines = Machines(a=1)
    machines.pass_time(4)
    state = machines.monitor.take()
    assert state is not None
    machines.still.add("a")  # its answer cannot be read while this process stands still
    machines.pass_time(600.0 * pauses, step_s=600.0)
    assert not state.lost


def test_the_time_without_any_answer_is_told() -> None:
    machines = Machines(a=1)
    machines.still.add("a")
    assert machines.pass_time(100) == pytest.approx(100.0)  # pyright: ignore[reportUnknownMemberType]
    machines.still.clear()
    assert machines.pass_time(4) == 0.0


def test_the_end_ends_every_heartbeat() -> None:
    machines = Machines(a=1, b=1)
    machines.pass_time(4)
    machines.monitor.close()
    assert all(heartbeat.ended for heartbeat in machines.heartbeats.values())


def with_cards(**cards: int) -> Machines:
    """Nodes with two cores each."""
    machines = Machines()
    machines.alive = [
        NodeInfo(name, f"10.0.0.{name}", 2, cards=count) for name, count in cards.items()
    ]
    machines.pass_time(4)
    return machines


def names_of(machines: Machines, count: int) -> list[str]:
    taken = [machines.monitor.take(card=True) for _ in range(count)]
    return sorted(state.info.id for state in taken if state is not None)


def test_calls_with_a_card_go_to_nodes_that_offer_one_and_no_more_than_it_has() -> None:
    machines = with_cards(a=0, b=1, c=2)
    assert names_of(machines, 5) == ["b", "c", "c"]
    assert machines.monitor.take() is not None


def test_a_card_is_given_back() -> None:
    machines = with_cards(b=1)
    state = machines.monitor.take(card=True)
    assert state is not None
    assert machines.monitor.take(card=True) is None
    machines.monitor.leave(state, card=True)
    assert machines.monitor.take(card=True) is state


def test_a_measurement_waits_for_no_core_and_takes_none() -> None:
    machines = with_cards(b=1)
    turns = [machines.monitor.take() for _ in range(3)]
    assert [turn is None for turn in turns] == [False, False, True]
    measurement = machines.monitor.take(card=True)
    assert measurement is not None, "a check would wait for the end of its own turn"
    assert measurement is turns[0]
    machines.monitor.leave(measurement, card=True)
    assert machines.monitor.take() is None, "the end of a measurement gave a core away"


def test_of_nodes_with_a_card_left_the_one_with_fewest_agents_measures() -> None:
    machines = with_cards(a=1, b=1)
    turn = machines.monitor.take(allows=lambda node: node.id == "a")
    assert turn is not None
    assert names_of(machines, 1) == ["b"]


def test_without_a_node_that_has_a_card_time_passes_though_others_answer() -> None:
    machines = with_cards(a=0)
    machines.pass_time(60)
    assert machines.monitor.look() <= LOOK_S
    assert machines.monitor.look(card=True) >= 60
