"""Advantages over tensors: one implementation with the core's, and what they estimate."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from unhack.core import group as core
from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.objectives import (
    DPOSettings,
    advantages,
    dpo_loss,
    pass_at_k,
    recentre,
)

NAMES = sorted(core.ESTIMATORS)


class TestOneImplementation:
    @given(
        rewards=st.lists(st.floats(0, 4, width=32), min_size=4, max_size=12),
        group=st.sampled_from([2, 4]),
        estimator=st.sampled_from(NAMES),
    )
    @settings(max_examples=60, deadline=None)
    def test_tensors_get_what_the_core_gives(
        self, rewards: list[float], group: int, estimator: str
    ) -> None:
        rewards = rewards[: len(rewards) // group * group]
        values_B, mask_B = advantages(
            torch.tensor(rewards, dtype=torch.float64), group=group, estimator=estimator
        )
        ranges = [range(start, start + group) for start in range(0, len(rewards), group)]
        expected = core.advantages(rewards, ranges, estimator=estimator)
        assert tuple(values_B.tolist()) == expected.values
        assert tuple(mask_B.tolist()) == expected.mask

    def test_an_unscored_rollout_takes_no_part(self) -> None:
        rewards_B = torch.tensor([1.0, 0.0, math.nan, 0.5])
        values_B, mask_B = advantages(rewards_B, group=4, estimator="dr_grpo")
        assert values_B.tolist() == [0.5, -0.5, 0.0, 0.0]
        assert mask_B.tolist() == [True, True, False, True]

    def test_a_group_without_variance_has_no_signal(self) -> None:
        values_B, mask_B = advantages(torch.tensor([1.0, 1.0, 0.0, 1.0]), group=2, estimator="grpo")
        assert mask_B.tolist() == [False, False, True, True]
        assert values_B[:2].tolist() == [0.0, 0.0]

    def test_unknown_names_and_crooked_batches_are_refused(self) -> None:
        rewards_B = torch.tensor([1.0, 0.0, 0.0])
        with pytest.raises(UnknownNameError, match="rloo"):
            advantages(rewards_B, group=3, estimator="rlo")
        with pytest.raises(UsageError, match="groups of 2"):
            advantages(rewards_B, group=2, estimator="rloo")
        with pytest.raises(UsageError, match="critic"):
            advantages(rewards_B, group=3, estimator="gae")
        with pytest.raises(UsageError, match="not negative"):
            advantages(-rewards_B, group=3, estimator="maxrl")


class TestKnobStates:
    REWARDS = torch.tensor([1.0, 0.0, 3.0, 0.0], dtype=torch.float64)

    def test_the_deviation_is_that_of_the_same_knob_state(self) -> None:
        knob_B = torch.tensor([True, True, False, False])
        values_B, _ = advantages(self.REWARDS, group=2, estimator="batch_std", knob_B=knob_B)
        on, _ = advantages(self.REWARDS[:2], group=2, estimator="batch_std")
        off, _ = advantages(self.REWARDS[2:], group=2, estimator="batch_std")
        assert torch.equal(values_B, torch.cat([on, off]))
        joint, _ = advantages(self.REWARDS, group=2, estimator="batch_std")
        assert not torch.allclose(values_B, joint)

    def test_recentring_on_equal_mass_changes_nothing(self) -> None:
        values_B, _ = advantages(self.REWARDS, group=2, estimator="dr_grpo")
        assert torch.equal(recentre(values_B, torch.full((4,), 0.5), group=2), values_B)

    def test_where_nothing_is_routed_shifted_advantages_stay_shifted(self) -> None:
        shifted_B = torch.tensor([-1.0, -1.0, -1.0, -1.0])
        assert torch.equal(recentre(shifted_B, torch.ones(4), group=4), shifted_B)
        kept_B = torch.tensor([0.0, 1.0, 1.0, 1.0])
        assert torch.equal(recentre(shifted_B, kept_B, group=4), shifted_B)

    def test_kept_mass_weighs_the_baseline(self) -> None:
        kept_B = torch.tensor([1.0, 0.25, 0.0, 0.0], dtype=torch.float64)
        values_B, _ = advantages(self.REWARDS, group=2, estimator="dr_grpo")
        changed_B = recentre(values_B, kept_B, group=2)
        mean = (1.0 * 1.0 + 0.25 * 0.0) / 1.25
        torch.testing.assert_close(changed_B[:2], self.REWARDS[:2] - mean)
        assert (changed_B * kept_B).sum().abs() < 1e-12
        assert changed_B[2:].tolist() == [0.0, 0.0], "nothing kept, nothing to compare with"


def expected_gradient(rewards: list[float], logits: torch.Tensor, group: int, name: str):
    """E[sum of advantage x score / group], over every draw of a group of answers."""
    probabilities = torch.softmax(logits, 0)
    total = torch.zeros_like(logits)
    for draw in itertools.product(range(len(rewards)), repeat=group):
        chance = math.prod(probabilities[item].item() for item in draw)
        values_B, _ = advantages(
            torch.tensor([rewards[item] for item in draw], dtype=torch.float64),
            group=group,
            estimator=name,
        )
        for item, value in zip(draw, values_B.tolist(), strict=True):
            score = -probabilities.clone()
            score[item] += 1.0
            total += chance * value / group * score
    return total


LOGITS = torch.tensor([0.3, -0.8, 0.5], dtype=torch.float64)


def autograd(value_of) -> torch.Tensor:
    logits = LOGITS.clone().requires_grad_(True)
    value_of(torch.softmax(logits, 0)).backward()
    assert logits.grad is not None
    return logits.grad


class TestUnbiasedness:
    REWARDS = (1.0, 0.25, 0.0)

    def test_rloo_estimates_the_gradient_of_the_mean_reward(self) -> None:
        exact = autograd(lambda p: (p * torch.tensor(self.REWARDS, dtype=torch.float64)).sum())
        found = expected_gradient(list(self.REWARDS), LOGITS, 4, "rloo")
        torch.testing.assert_close(found, exact, rtol=1e-10, atol=1e-12)

    def test_dr_grpo_falls_short_by_a_known_factor(self) -> None:
        found = expected_gradient(list(self.REWARDS), LOGITS, 4, "dr_grpo")
        whole = expected_gradient(list(self.REWARDS), LOGITS, 4, "rloo")
        torch.testing.assert_close(found * 4 / 3, whole, rtol=1e-10, atol=1e-12)

    def test_grpo_points_elsewhere(self) -> None:
        found = expected_gradient(list(self.REWARDS), LOGITS, 4, "grpo")
        whole = expected_gradient(list(self.REWARDS), LOGITS, 4, "rloo")
        assert torch.cosine_similarity(found, whole, dim=0) < 0.9999

    @pytest.mark.parametrize("group", [2, 3, 5])
    def test_maxrl_estimates_the_truncated_likelihood(self, group: int) -> None:
        """J_T = -sum over k up to T of (1 - p)^k / k, with T one below the group."""

        def truncated(p: torch.Tensor) -> torch.Tensor:
            fail = 1.0 - p[0] - p[1]
            return -sum(fail**k / k for k in range(1, group))  # type: ignore[return-value]

        found = expected_gradient([1.0, 1.0, 0.0], LOGITS, group, "maxrl")
        torch.testing.assert_close(found, autograd(truncated), rtol=1e-10, atol=1e-12)


class TestPreferences:
    def test_smoothing_mixes_the_loss_of_the_swapped_pair_in(self) -> None:
        chosen, rejected = torch.tensor([-3.0, -5.0]), torch.tensor([-4.0, -2.0])
        references = {"reference_chosen_B": chosen * 0, "reference_rejected_B": chosen * 0}
        plain, log = dpo_loss(chosen, rejected, **references)
        swapped, _ = dpo_loss(rejected, chosen, **references)
        smooth = DPOSettings(label_smoothing=0.2)
        found, _ = dpo_loss(chosen, rejected, **references, settings=smooth)
        torch.testing.assert_close(found, 0.8 * plain + 0.2 * swapped)
        assert log["accuracy"] == 0.5
        assert log["margin"] == pytest.approx(0.1 * (1.0 - 3.0) / 2)


class TestPassAtK:
    def test_it_is_the_mean_over_all_subsets(self) -> None:
        total, k = 7, 3
        found = pass_at_k(torch.arange(total + 1), total=total, k=k)
        assert len(found) == total + 1
        for passed in range(total + 1):
            answers = [1] * passed + [0] * (total - passed)
            subsets = list(itertools.combinations(answers, k))
            assert found[passed].item() == pytest.approx(sum(map(max, subsets)) / len(subsets))

    def test_the_plain_estimate_is_biased_low(self) -> None:
        assert pass_at_k(torch.tensor([2]), total=8, k=4).item() > 1 - (1 - 2 / 8) ** 4
