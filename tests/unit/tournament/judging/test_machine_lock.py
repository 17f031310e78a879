from __future__ import annotations

import math
import threading

import pytest

from unhack.tournament.judging.machine_lock import Clock, Machine


class Tree:
    """Remembers what was done to it."""

    def __init__(self, *, fails: bool = False) -> None:
        self.frozen = False
        self.told: list[str] = []
        self.fails = fails

    def freeze(self) -> None:
        self.told.append("freeze")
        if self.fails:
            raise RuntimeError("it does not stop")
        self.frozen = True

    def thaw(self) -> None:
        self.told.append("thaw")
        self.frozen = False


class Time:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.s = 100.0

    def __call__(self) -> float:
        return self.s


class TestTheMachineAlone:
    def test_every_tree_stands_still_meanwhile_and_no_clock_runs(self) -> None:
        time, trees = Time(), [Tree(), Tree()]
        machine = Machine(time)
        clock = Clock(machine)
        for tree in trees:
            machine.register(tree)
        time.s += 5
        with machine.alone():
            assert all(tree.frozen for tree in trees)
            time.s += 1000
            assert clock.elapsed_s() == 5
        assert not any(tree.frozen for tree in trees)
        time.s += 2
        assert clock.elapsed_s() == 7

    def test_a_tree_that_comes_in_the_middle_is_frozen_at_once(self) -> None:
        machine, tree = Machine(), Tree()
        with machine.alone(), machine.registered(tree):
            assert tree.frozen
        assert tree.told == ["freeze", "thaw"]

    def test_a_tree_that_has_gone_is_left_alone(self) -> None:
        machine, tree = Machine(), Tree()
        machine.register(tree)
        machine.unregister(tree)
        machine.unregister(tree)
        with machine.alone():
            pass
        assert tree.told == []

    def test_it_nests_in_one_thread_and_thaws_at_the_end_of_all(self) -> None:
        machine, tree = Machine(), Tree()
        with machine.registered(tree), machine.alone():
            with machine.alone():
                pass
            assert tree.frozen
        assert tree.told == ["freeze", "thaw"]

    def test_a_tree_that_does_not_stop_prevents_the_measurement(self) -> None:
        time, good, bad = Time(), Tree(), Tree(fails=True)
        machine = Machine(time)
        machine.register(good)
        machine.register(bad)
        with pytest.raises(RuntimeError, match="does not stop"), machine.alone():
            pytest.fail("it was entered")
        assert not good.frozen
        clock = Clock(machine)
        time.s += 3
        assert clock.elapsed_s() == 3

    def test_measurements_come_one_after_the_other(self) -> None:
        machine, inside, most = Machine(), [0], [0]

        def measure() -> None:
            for _ in range(50):
                with machine.alone():
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    inside[0] -= 1

        threads = [threading.Thread(target=measure) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert most[0] == 1

    def test_an_interruption_ends_the_time_of_every_clock(self) -> None:
        machine = Machine()
        clock = Clock(machine)
        machine.interrupt()
        assert clock.elapsed_s() == math.inf
        machine.go_on()
        assert math.isfinite(clock.elapsed_s())
