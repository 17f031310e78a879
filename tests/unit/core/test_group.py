from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unhack.core.errors import UnknownNameError
from unhack.core.group import (
    ESTIMATORS,
    Rewards,
    advantages,
    group_report,
    has_no_signal,
    pass_at_k,
)

REWARD = st.floats(0.0, 1.0, allow_subnormal=False)
GROUP = st.lists(REWARD, min_size=2, max_size=12).filter(lambda group: len(set(group)) > 1)


def _single(rewards: Rewards, estimator: str) -> tuple[float, ...]:
    return advantages(rewards, [range(len(rewards))], estimator=estimator).values


class TestHandComputed:
    REWARDS = (1.0, 0.0, 0.0, 1.0, 0.5)
    # mean 0.5, squared deviations 4 * 0.25, sample variance 0.25, deviation 0.5

    def test_grpo_divides_by_the_sample_deviation_plus_epsilon(self) -> None:
        unit = 0.5 / (0.5 + 1e-6)
        assert _single(self.REWARDS, "grpo") == pytest.approx([unit, -unit, -unit, unit, 0.0])

    def test_dr_grpo_subtracts_the_mean_only(self) -> None:
        assert _single(self.REWARDS, "dr_grpo") == (0.5, -0.5, -0.5, 0.5, 0.0)

    def test_rloo_subtracts_the_mean_of_the_others(self) -> None:
        assert _single(self.REWARDS, "rloo") == pytest.approx([0.625, -0.625, -0.625, 0.625, 0.0])

    def test_maxrl_divides_by_the_mean(self) -> None:
        assert _single(self.REWARDS, "maxrl") == pytest.approx([1.0, -1.0, -1.0, 1.0, 0.0])

    def test_batch_std_divides_by_the_deviation_of_the_whole_batch(self) -> None:
        rewards = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0]
        result = advantages(rewards, [[0, 1], [2, 3], [4, 5]], estimator="batch_std")
        deviation = math.sqrt(6 * 0.25 / 5)
        unit = 0.5 / (deviation + 1e-6)
        assert result.values == pytest.approx([unit, -unit, 0.0, 0.0, 0.0, 0.0])
        assert result.mask == (True, True, False, False, False, False)

    def test_each_group_has_its_own_baseline(self) -> None:
        result = advantages([1.0, 0.0, 0.25, 0.75], [[0, 1], [2, 3]], estimator="dr_grpo")
        assert result.values == (0.5, -0.5, -0.25, 0.25)

    def test_maxrl_survives_rewards_whose_mean_underflows(self) -> None:
        assert math.isfinite(_single([0.0, 5e-324], "maxrl")[1])

    def test_maxrl_refuses_negative_rewards(self) -> None:
        with pytest.raises(ValueError, match="not negative"):
            _single([-1.0, 1.0], "maxrl")


@pytest.mark.slow
class TestLaws:
    @pytest.mark.slow
    @given(GROUP)
    def test_advantages_of_a_group_sum_to_zero(self, group: list[float]) -> None:
        for estimator in ("dr_grpo", "rloo"):
            assert math.fsum(_single(group, estimator)) == pytest.approx(0.0, abs=1e-9)
        assert math.fsum(_single(group, "grpo")) == pytest.approx(0.0, abs=1e-6)

    @given(GROUP)
    def test_rloo_is_dr_grpo_times_g_over_g_minus_one(self, group: list[float]) -> None:
        factor = len(group) / (len(group) - 1)
        expected = [factor * value for value in _single(group, "dr_grpo")]
        assert _single(group, "rloo") == pytest.approx(expected, abs=1e-12)

    @given(GROUP, st.sampled_from(sorted(ESTIMATORS)), st.randoms(use_true_random=False))
    def test_the_order_within_a_group_does_not_matter(
        self, group: list[float], estimator: str, rng: random.Random
    ) -> None:
        order = list(range(len(group)))
        rng.shuffle(order)
        straight = _single(group, estimator)
        shuffled = _single([group[index] for index in order], estimator)
        assert shuffled == tuple(straight[index] for index in order)

    @given(GROUP, st.sampled_from(sorted(ESTIMATORS)), st.data())
    def test_unscored_items_take_no_part(
        self, group: list[float], estimator: str, data: st.DataObject
    ) -> None:
        holes = sorted(data.draw(st.sets(st.integers(0, len(group)), max_size=4)), reverse=True)
        rewards: list[float | None] = list(group)
        for position in holes:
            rewards.insert(position, None)
        result = advantages(rewards, [range(len(rewards))], estimator=estimator)
        kept = [v for v, reward in zip(result.values, rewards, strict=True) if reward is not None]
        assert tuple(kept) == _single(group, estimator)
        for value, mask, reward in zip(result.values, result.mask, rewards, strict=True):
            assert mask is (reward is not None)
            assert reward is not None or value == 0.0

    @given(GROUP, st.floats(-100, 100))
    def test_a_shift_of_all_rewards_changes_no_centred_advantage(
        self, group: list[float], shift: float
    ) -> None:
        moved = [reward + shift for reward in group]
        assume(len(set(moved)) > 1)
        for estimator in ("dr_grpo", "rloo"):
            assert _single(moved, estimator) == pytest.approx(_single(group, estimator), abs=1e-9)

    @given(GROUP)
    def test_a_better_reward_never_has_a_smaller_advantage(self, group: list[float]) -> None:
        assert ESTIMATORS
        for estimator in ESTIMATORS:
            pairs = sorted(zip(group, _single(group, estimator), strict=True))
            values = [value for _, value in pairs]
            assert all(a <= b + 1e-12 for a, b in itertools.pairwise(values))


class TestMask:
    @given(REWARD, st.integers(1, 8), st.sampled_from(sorted(ESTIMATORS)))
    def test_a_group_of_equal_rewards_is_masked(
        self, reward: float, size: int, estimator: str
    ) -> None:
        result = advantages([reward] * size, [range(size)], estimator=estimator)
        assert result.values == (0.0,) * size
        assert result.mask == (False,) * size

    def test_equality_is_exact(self) -> None:
        close = (0.5, math.nextafter(0.5, 1.0))
        assert advantages(close, [[0, 1]]).mask == (True, True)
        assert advantages((0.5, 0.5), [[0, 1]]).mask == (False, False)

    @pytest.mark.parametrize("rewards", [(), (None,), (1.0,), (None, 1.0), (None, None)])
    def test_fewer_than_two_scored_rewards_are_masked(self, rewards: Rewards) -> None:
        result = advantages(rewards, [range(len(rewards))])
        assert result.mask == (False,) * len(rewards)
        assert result.values == (0.0,) * len(rewards)

    def test_items_in_no_group_are_masked(self) -> None:
        assert advantages([0.0, 1.0, 1.0], [[0, 1]]).mask == (True, True, False)

    def test_signal_is_any_difference(self) -> None:
        assert has_no_signal([])
        assert has_no_signal([0.3])
        assert has_no_signal([0.3, 0.3, 0.3])
        assert not has_no_signal([0.3, 0.3, 0.4])

    def test_an_unknown_estimator_names_the_nearest(self) -> None:
        with pytest.raises(UnknownNameError, match="did you mean grpo"):
            advantages([1.0], [[0]], estimator="gpro")


class TestPassAtK:
    @pytest.mark.slow
    @given(st.integers(1, 8), st.data())
    def test_it_is_the_share_of_draws_that_hold_a_pass(
        self, total: int, data: st.DataObject
    ) -> None:
        passed = data.draw(st.integers(0, total))
        k = data.draw(st.integers(1, total))
        draws = list(itertools.combinations(range(total), k))
        lucky = sum(any(index < passed for index in draw) for draw in draws)
        assert pass_at_k(total, passed, k) == pytest.approx(lucky / len(draws), abs=1e-12)

    def test_known_values_come_out(self) -> None:
        assert pass_at_k(10, 3, 1) == pytest.approx(0.3)
        assert pass_at_k(5, 2, 2) == pytest.approx(0.7)
        assert pass_at_k(4, 0, 4) == 0.0
        assert pass_at_k(4, 1, 4) == 1.0

    def test_a_large_group_neither_overflows_nor_leaves_the_unit_interval(self) -> None:
        assert 0.0 < pass_at_k(200_000, 3, 100) < 1.0

    @pytest.mark.parametrize(("total", "k"), [(3, 0), (3, 4), (0, 1), (3, -1)])
    def test_k_must_lie_between_one_and_the_samples(self, total: int, k: int) -> None:
        with pytest.raises(ValueError, match="k must lie"):
            pass_at_k(total, 0, k)


class TestReport:
    def test_shares_count_groups_that_have_a_reward(self) -> None:
        rewards = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.5, 0.5, None, None, 1.0, None]
        groups = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]
        report = group_report(rewards, groups)
        assert report.groups == 6
        assert report.all_pass == pytest.approx(2 / 5)
        assert report.all_fail == pytest.approx(1 / 5)
        assert report.no_signal == pytest.approx(4 / 5)
        assert report.unscored == 3
        assert report.mean_reward == pytest.approx(5.0 / 9)

    def test_an_empty_batch_has_no_mean(self) -> None:
        assert group_report([], []).mean_reward is None
        assert group_report([None], [[0]]).mean_reward is None
