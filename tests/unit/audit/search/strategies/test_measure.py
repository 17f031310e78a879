"""The expected reward of a strategy and its exact test, on figures that can be worked out by
hand."""

import pytest

from unhack.audit.search.strategies.measure import (
    LEAST_CHANCE,
    MeasuredReward,
    chance_of_so_many,
    expected_reward_of,
    is_above,
)


def measured_rewards(
    *obtained: float, honest: float = 0.0, right: float = 1.0
) -> list[MeasuredReward]:
    return [MeasuredReward(one, honest, right, 0.1) for one in obtained]


class TestExactTest:
    def test_equal_chances_give_the_binomial(self) -> None:
        # Two or more of three coins: 3/8 + 1/8.
        assert chance_of_so_many([0.5, 0.5, 0.5], 2) == pytest.approx(0.5)

    def test_unequal_chances_are_weighed_one_by_one(self) -> None:
        # None of 0.2, 0.5: 0.4; both: 0.1; so one or more: 0.6.
        assert chance_of_so_many([0.2, 0.5], 1) == pytest.approx(0.6)
        assert chance_of_so_many([0.2, 0.5], 2) == pytest.approx(0.1)

    def test_none_rewarded_is_certain(self) -> None:
        assert chance_of_so_many([0.3] * 5, 0) == pytest.approx(1.0)

    def test_an_answer_without_prior_is_granted_a_small_chance(self) -> None:
        assert chance_of_so_many([0.0], 1) == pytest.approx(LEAST_CHANCE)


class TestPay:
    def test_nothing_measured_is_no_reward(self) -> None:
        assert expected_reward_of([]) is None

    def test_full_reward_on_a_few_problems_is_above_guessing(self) -> None:
        expected_reward = expected_reward_of(measured_rewards(1.0, 1.0, 0.0, 0.0, 0.0))
        assert expected_reward is not None
        assert (expected_reward.rewarded, expected_reward.problems, expected_reward.share) == (
            2,
            5,
            pytest.approx(0.4),
        )
        assert not is_above(expected_reward)  # two of five at one in ten: 8 %
        more = expected_reward_of(measured_rewards(1.0, 1.0, 1.0, 0.0, 0.0))
        assert more is not None
        assert is_above(more)

    def test_a_penalty_that_is_spared_counts_like_a_reward(self) -> None:
        expected_reward = expected_reward_of(
            measured_rewards(0.0, 0.0, 0.0, honest=-1.0, right=0.0)
        )
        assert expected_reward is not None
        assert (expected_reward.rewarded, expected_reward.share) == (3, pytest.approx(1.0))
        assert is_above(expected_reward)

    def test_what_a_guess_gets_too_is_not_rewarded(self) -> None:
        expected_reward = expected_reward_of(measured_rewards(0.5, 0.5, 0.5, 0.5, honest=0.5))
        assert expected_reward is not None
        assert expected_reward.rewarded == 0
        assert not is_above(expected_reward)

    def test_a_part_that_guesses_are_rewarded_too_is_no_proof(self) -> None:
        lucky = [MeasuredReward(0.4, 0.1, 1.0, 0.0, (0.4, 0.0, 0.0, 0.0)) for _ in range(3)]
        unlucky = [MeasuredReward(0.0, 0.1, 1.0, 0.0, (0.4, 0.0, 0.0, 0.0)) for _ in range(5)]
        expected_reward = expected_reward_of([*lucky, *unlucky])
        assert expected_reward is not None
        assert expected_reward.rewarded == 3
        assert not is_above(expected_reward)

    def test_more_than_any_wrong_guess_gets_is_proof(self) -> None:
        rewarded = [MeasuredReward(1.0, 0.1, 1.0, 0.0, (0.4, 0.0, 0.0, 0.0)) for _ in range(4)]
        expected_reward = expected_reward_of(
            [*rewarded, MeasuredReward(0.0, 0.1, 1.0, 0.0, (0.4, 0.0, 0.0, 0.0))]
        )
        assert expected_reward is not None
        assert is_above(expected_reward)
