"""Shaping: the law over random decision processes, and what breaks it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.errors import UsageError
from unhack.core.shaping import check_weight, newly_passing, shaped, shaping_reward

TREES = 2_000
DEEPEST = 4
"""Turns at which a limit cuts an episode."""


@dataclass(slots=True)
class Node:
    """A state of a random decision process; every edge is an action."""

    potential: float
    children: list[Node] = field(default_factory=list["Node"])
    expected_rewards: list[float] = field(default_factory=list[float])
    cut: bool = False
    """True where the limit ends the episode rather than the process itself."""


def _tree(rng: random.Random, depth: int = 0) -> Node:
    """Two or three actions a state; a third of the states below the start end the episode."""
    node = Node(rng.random())
    if depth == DEEPEST:
        node.cut = True
    elif depth == 0 or rng.random() > 1 / 3:
        for _ in range(rng.choice((2, 3))):
            node.children.append(_tree(rng, depth + 1))
            node.expected_rewards.append(0.25 * rng.random())
    return node


ExpectedReward = Callable[[Node, Node], float]


def _best(
    node: Node, expected_reward: ExpectedReward, *, gamma: float
) -> tuple[float, tuple[int, ...]]:
    """Best discounted return from a state, and the actions that reach it."""
    if not node.children:
        return 0.0, ()
    options: list[tuple[float, tuple[int, ...]]] = []
    for action, (child, reward) in enumerate(
        zip(node.children, node.expected_rewards, strict=True)
    ):
        later, rest = _best(child, expected_reward, gamma=gamma)
        options.append((reward + expected_reward(node, child) + gamma * later, (action, *rest)))
    return max(options)


def _share_kept(paid_back: Callable[[Node], bool], *, gamma: float) -> float:
    """Share of trees in which the best policy with shaping is the best one without."""
    rng = random.Random(20)

    def expected_reward(before: Node, after: Node) -> float:
        ended = not after.children and paid_back(after)
        return shaping_reward(before.potential, after.potential, gamma=gamma, ended=ended)

    kept = 0
    for _ in range(TREES):
        root = _tree(rng)
        plain = _best(root, lambda before, after: 0.0, gamma=gamma)[1]
        kept += _best(root, expected_reward, gamma=gamma)[1] == plain
    return kept / TREES


@pytest.mark.parametrize("weight", [math.nan, math.inf, -math.inf, -0.5])
def test_no_reward_has_a_weight_that_is_negative_or_not_finite(weight: float) -> None:
    with pytest.raises(UsageError, match="the weight of progress is"):
        check_weight(weight, "progress")
    check_weight(0.0, "progress")


class TestTheLaw:
    @pytest.mark.parametrize("gamma", [1.0, 0.95])
    def test_rewarded_back_at_every_end_the_best_policy_is_always_kept(self, gamma: float) -> None:
        assert _share_kept(lambda end: True, gamma=gamma) == 1.0

    @pytest.mark.parametrize("gamma", [1.0, 0.95])
    def test_a_cut_that_rewards_nothing_back_loses_most_best_policies(self, gamma: float) -> None:
        kept = _share_kept(lambda end: not end.cut, gamma=gamma)
        assert 0.2 < kept < 0.35

    @pytest.mark.parametrize("gamma", [1.0, 0.95])
    def test_ends_that_reward_nothing_back_lose_most_best_policies(self, gamma: float) -> None:
        kept = _share_kept(lambda end: False, gamma=gamma)
        assert 0.2 < kept < 0.35

    @pytest.mark.slow
    @given(
        potentials=st.lists(st.floats(0, 1), min_size=2, max_size=30),
        gamma=st.floats(0.5, 1.0),
    )
    def test_every_episode_is_rewarded_the_same_in_all(
        self, potentials: list[float], gamma: float
    ) -> None:
        total = math.fsum(
            gamma**t * expected_reward
            for t, expected_reward in enumerate(shaped(potentials, gamma=gamma))
        )
        assert total == pytest.approx(-potentials[0], abs=1e-9)

    def test_breaking_and_mending_earns_nothing_and_pumps_what_is_naive(self) -> None:
        """One test in ten, broken and fixed twenty times."""
        loop = [1.0] + [0.9, 1.0] * 20
        assert math.fsum(shaped(loop)) == pytest.approx(-1.0)
        assert math.fsum(newly_passing(loop)) == pytest.approx(2.0)


class TestMeasuredRewards:
    def test_a_turn_is_rewarded_the_difference_and_the_last_one_rewards_it_back(self) -> None:
        assert shaped([0.0, 0.5, 1.0]) == [0.5, -0.5]
        assert shaped([0.2, 0.9]) == [-0.2]
        assert shaped([0.5, 0.5, 1.0, 1.0], gamma=0.5) == [-0.25, 0.0, -1.0]

    def test_an_episode_needs_a_state_before_and_after(self) -> None:
        for law in (shaped, newly_passing):
            with pytest.raises(UsageError, match="at least two potentials"):
                law([1.0])

    def test_naive_rewards_are_the_rises_alone(self) -> None:
        assert newly_passing([0.5, 1.0, 0.25]) == [0.5, 0.0]
        assert [max(0.0, b - a) for a, b in pairwise([0.5, 1.0, 0.25])] == [0.5, 0.0]
