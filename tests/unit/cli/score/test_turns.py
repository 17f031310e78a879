from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.cli.score.turns import PATIENCE_S, Turns, from_both_ends


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_completions_start_from_both_ends() -> None:
    assert list(from_both_ends([3, 4, 5, 6, 7])) == [3, 7, 4, 6, 5]
    assert list(from_both_ends([])) == []


@given(count=st.integers(0, 50))
def test_every_completion_starts_once(count: int) -> None:
    assert sorted(from_both_ends(range(count))) == list(range(count))


def test_verdicts_that_come_together_are_shown_in_order() -> None:
    shown: list[int] = []
    turns = Turns([(i,) for i in range(4)], shown.append, clock=Clock())
    for member in (3, 1, 0):
        turns.put(member)
    assert shown == [0, 1]
    turns.put(2)
    assert shown == [0, 1, 2, 3]


def test_endless_loops_in_front_hold_no_verdict_back_for_long() -> None:
    clock, shown = Clock(), []
    turns = Turns([(i,) for i in range(420)], shown.append, clock=clock)
    for member in range(400, 420):
        turns.put(member)
    assert shown == []
    clock.now = PATIENCE_S
    turns.look()
    assert shown == list(range(400, 420))
    for member in range(400):
        turns.put(member)
    assert shown == [*range(400, 420), *range(400)]


def test_a_group_is_shown_when_all_of_it_is_there() -> None:
    shown: list[int] = []
    turns = Turns([(0, 1), (2, 3)], shown.append, clock=Clock())
    for member in (0, 2, 3):
        turns.put(member)
    assert shown == []
    turns.put(1)
    assert shown == [0, 1]


def test_at_the_end_whole_units_are_shown_and_others_are_not() -> None:
    shown: list[int] = []
    turns = Turns([(0, 1), (2, 3), (4, 5)], shown.append, clock=Clock())
    for member in (0, 2, 3, 4, 5):
        turns.put(member)
    turns.finish()
    assert shown == [1, 2]


@pytest.mark.slow
@given(st.integers(1, 60), st.integers(1, 5), st.randoms(use_true_random=False))
def test_every_unit_is_shown_once(count: int, size: int, chance: random.Random) -> None:
    clock, shown = Clock(), []
    units = [tuple(range(at, min(at + size, count))) for at in range(0, count, size)]
    turns = Turns(units, shown.append, clock=clock)
    members = list(range(count))
    chance.shuffle(members)
    for member in members:
        clock.now += chance.choice([0.0, 0.1, 2.0, 5.0])
        turns.put(member)
        if chance.random() < 0.3:
            turns.look()
    turns.finish()
    assert sorted(shown) == list(range(len(units)))
