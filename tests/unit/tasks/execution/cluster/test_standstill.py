"""Trees of a node stand still while something is measured beside them, and go on after it."""

from __future__ import annotations

import pytest

from unhack.core.errors import SandboxError
from unhack.tasks.execution.cluster.nodes import NodeLostError
from unhack.tasks.execution.cluster.standstill import Standstill


class Tree:
    """A tree that knows who holds it."""

    def __init__(self, pid: int, fault: Exception | None = None) -> None:
        self.far_pid, self.fault = pid, fault
        self.holders: set[str] = set()

    def freeze(self, *, holder: str = "") -> None:
        """See `StillTree`."""
        if self.fault is not None:
            raise self.fault
        self.holders.add(holder)

    def thaw(self, *, holder: str = "") -> None:
        """See `StillTree`."""
        self.holders.discard(holder)


class Clock:
    """Time that is told to pass."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_trees_of_the_node_stand_still_and_no_others() -> None:
    standstill = Standstill()
    one, other, away = Tree(11), Tree(12), Tree(13)
    with (
        standstill.registered("a", one),
        standstill.registered("a", other),
        standstill.registered("b", away),
    ):
        with standstill.measuring("a", quiet=True) as pids:
            assert pids == (11, 12)
            assert one.holders
            assert other.holders
            assert not away.holders
        assert not one.holders
        assert not other.holders
    with standstill.measuring("a", quiet=True) as pids:
        assert pids == ()


def test_a_measurement_of_no_time_stops_nobody_and_knows_them() -> None:
    standstill = Standstill()
    tree = Tree(11)
    with standstill.registered("a", tree), standstill.measuring("a", quiet=False) as pids:
        assert pids == (11,)
        assert not tree.holders


def test_they_go_on_after_the_last_of_several_measurements() -> None:
    clock = Clock()
    standstill = Standstill(clock=clock)
    tree = Tree(11)
    with standstill.registered("a", tree):
        first = standstill.measuring("a", quiet=True)
        second = standstill.measuring("a", quiet=True)
        first.__enter__()
        clock.now += 5
        second.__enter__()
        clock.now += 5
        first.__exit__(None, None, None)
        assert tree.holders, "a card of the node is still measured on"
        assert standstill.still_s("a") == 10.0
        clock.now += 5
        second.__exit__(None, None, None)
        assert not tree.holders
        clock.now += 100
        assert standstill.still_s("a") == 15.0
    assert standstill.still_s("b") == 0.0


def test_a_tree_that_begins_during_a_measurement_stands_still_and_may_leave_in_it() -> None:
    standstill = Standstill()
    tree = Tree(11)
    with standstill.measuring("a", quiet=True):
        with standstill.registered("a", tree):
            assert tree.holders
        assert not tree.holders


def test_a_lost_node_stops_no_measurement_and_a_tree_that_cannot_be_stopped_does() -> None:
    clock = Clock()
    standstill = Standstill(clock=clock)
    good, lost = Tree(11), Tree(12, NodeLostError("the node is gone"))
    with standstill.registered("a", good), standstill.registered("a", lost):
        with standstill.measuring("a", quiet=True):
            assert good.holders
        lost.fault = SandboxError("no freezer")
        with pytest.raises(SandboxError, match="no freezer"), standstill.measuring("a", quiet=True):
            raise AssertionError("it was measured beside a tree that runs")
        assert not good.holders
        clock.now += 60
        assert standstill.still_s("a") == 0.0
        lost.fault = None
        with standstill.measuring("a", quiet=True):
            assert good.holders
            assert lost.holders
