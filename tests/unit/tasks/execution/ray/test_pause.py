"""Trees of a node pause while something is measured beside them, and go on after it."""

from __future__ import annotations

from typing import Any

import pytest

from unhack.core.errors import SandboxError
from unhack.tasks.execution.ray.cluster import NodeLostError
from unhack.tasks.execution.ray.pause import NodePauses


class FakeTree:
    """In the place of a `RemoteProcessTree`: it knows who holds it."""

    def __init__(self, pid: int, fault: Exception | None = None) -> None:
        self.remote_pid, self.fault = pid, fault
        self.holders: set[str] = set()

    def freeze(self, *, holder: str = "") -> None:
        """See `RemoteProcessTree`."""
        if self.fault is not None:
            raise self.fault
        self.holders.add(holder)

    def thaw(self, *, holder: str = "") -> None:
        """See `RemoteProcessTree`."""
        self.holders.discard(holder)


def tree_of(pid: int, fault: Exception | None = None) -> Any:
    """A fake tree, whose type the pauses do not look at."""
    return FakeTree(pid, fault)


class Clock:
    """Time that is told to pass."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_trees_of_the_node_pause_and_no_others() -> None:
    pauses = NodePauses()
    one, other, elsewhere = tree_of(11), tree_of(12), tree_of(13)
    with (
        pauses.registered("a", one),
        pauses.registered("a", other),
        pauses.registered("b", elsewhere),
    ):
        with pauses.measuring("a", quiet=True) as pids:
            assert pids == (11, 12)
            assert one.holders
            assert other.holders
            assert not elsewhere.holders
        assert not one.holders
        assert not other.holders
    with pauses.measuring("a", quiet=True) as pids:
        assert pids == ()


def test_a_measurement_of_no_time_stops_nobody_and_knows_them() -> None:
    pauses = NodePauses()
    tree = tree_of(11)
    with pauses.registered("a", tree), pauses.measuring("a", quiet=False) as pids:
        assert pids == (11,)
        assert not tree.holders


def test_they_go_on_after_the_last_of_several_measurements() -> None:
    clock = Clock()
    pauses = NodePauses(clock=clock)
    tree = tree_of(11)
    with pauses.registered("a", tree):
        first = pauses.measuring("a", quiet=True)
        second = pauses.measuring("a", quiet=True)
        first.__enter__()
        clock.now += 5
        second.__enter__()
        clock.now += 5
        first.__exit__(None, None, None)
        assert tree.holders, "a card of the node is still measured on"
        assert pauses.paused_s("a") == 10.0
        clock.now += 5
        second.__exit__(None, None, None)
        assert not tree.holders
        clock.now += 100
        assert pauses.paused_s("a") == 15.0
    assert pauses.paused_s("b") == 0.0


def test_a_tree_that_begins_during_a_measurement_pauses_and_may_leave_in_it() -> None:
    pauses = NodePauses()
    tree = tree_of(11)
    with pauses.measuring("a", quiet=True):
        with pauses.registered("a", tree):
            assert tree.holders
        assert not tree.holders


def test_a_lost_node_stops_no_measurement_and_a_tree_that_cannot_be_stopped_does() -> None:
    clock = Clock()
    pauses = NodePauses(clock=clock)
    good, lost = tree_of(11), tree_of(12, NodeLostError("the node is gone"))
    with pauses.registered("a", good), pauses.registered("a", lost):
        with pauses.measuring("a", quiet=True):
            assert good.holders
        lost.fault = SandboxError("no freezer")
        with pytest.raises(SandboxError, match="no freezer"), pauses.measuring("a", quiet=True):
            raise AssertionError("it was measured beside a tree that runs")
        assert not good.holders
        clock.now += 60
        assert pauses.paused_s("a") == 0.0
        lost.fault = None
        with pauses.measuring("a", quiet=True):
            assert good.holders
            assert lost.holders
