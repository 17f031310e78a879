"""The policy terms, aggregations and penalties: values by hand, gradients by differences."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.config.settings import ObjectiveSettings
from unhack.training.objectives import aggregation_weights, counts, policy_loss

GROUP, LENGTH = 3, 4
MASK = torch.tensor(
    [[1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0]],
    dtype=torch.bool,
)
GENERATOR = torch.Generator().manual_seed(3)
LOGPROBS = -torch.rand(6, LENGTH, generator=GENERATOR, dtype=torch.float64) * 1.5 - 0.05
OLD = LOGPROBS + torch.randn(6, LENGTH, generator=GENERATOR, dtype=torch.float64) * 0.3
OLD = OLD.clamp(max=-0.01)
REFERENCE = LOGPROBS + torch.randn(6, LENGTH, generator=GENERATOR, dtype=torch.float64) * 0.2
ADVANTAGES = torch.tensor([1.5, -0.5, -1.0, 0.7, -1.2, 0.5], dtype=torch.float64)
POLICIES = ("clip", "reinforce", "gspo", "cispo", "dppo_tv", "dppo_kl", "real")
AGGREGATIONS = ("sequence_mean", "sequence_sum", "token_mean", "constant", "prompt_mean")


def loss_of(
    logprobs_B_T: Tensor = LOGPROBS,
    *,
    old: Tensor = OLD,
    advantages: Tensor = ADVANTAGES,
    mask: Tensor = MASK,
    batch: dict[str, Any] | None = None,
    **fields: Any,
) -> Tensor:
    loss_B, _ = policy_loss(
        logprobs_B_T,
        old,
        advantages,
        mask,
        settings=ObjectiveSettings(**fields),
        group=GROUP,
        max_new=LENGTH,
        reference_B_T=REFERENCE,
        **(batch or {}),
    )
    return loss_B


def gradient(**fields: Any) -> Tensor:
    leaf = LOGPROBS.clone().requires_grad_(True)
    loss_of(leaf, **fields).sum().backward()
    assert leaf.grad is not None
    return leaf.grad


def differences(value_of: Any) -> Tensor:
    """Central differences of a scalar by every log-probability."""
    found, step = torch.zeros_like(LOGPROBS), 1e-6
    for row in range(LOGPROBS.shape[0]):
        for column in range(LENGTH):
            values = []
            for sign in (1, -1):
                moved = LOGPROBS.clone()
                moved[row, column] += sign * step
                values.append(value_of(moved).item())
            found[row, column] = (values[0] - values[1]) / (2 * step)
    return found


class TestGradients:
    @pytest.mark.parametrize("policy", ["clip", "reinforce", "gspo"])
    @pytest.mark.parametrize("aggregation", AGGREGATIONS)
    def test_they_are_the_differences_of_the_value(self, policy: str, aggregation: str) -> None:
        fields = {"policy": policy, "aggregation": aggregation, "clip_low": 0.1, "clip_high": 0.15}
        expected = differences(lambda moved: loss_of(moved, **fields).sum())
        torch.testing.assert_close(gradient(**fields), expected, rtol=1e-6, atol=1e-8)

    @pytest.mark.slow
    def test_a_penalty_has_the_gradient_of_its_value(self) -> None:
        for estimator, weighted in (("k1", True), ("k2", False), ("k3", False), ("k3", True)):
            fields = {"kl_beta": 0.3, "kl": estimator, "kl_weighted": weighted}
            expected = differences(lambda moved, fields=fields: loss_of(moved, **fields).sum())
            torch.testing.assert_close(gradient(**fields), expected, rtol=1e-6, atol=1e-8)

    @pytest.mark.parametrize("policy", ["cispo", "dppo_tv", "dppo_kl"])
    def test_a_weighted_score_has_a_constant_weight(self, policy: str) -> None:
        """-w A per token and aggregation weight, with w the ratio, bounded or masked."""
        fields = {"policy": policy, "aggregation": "token_mean", "clip_low": 0.1, "clip_high": 0.1}
        ratio, count = (LOGPROBS - OLD).exp(), MASK.sum()
        moved, m, p = LOGPROBS.exp() - OLD.exp(), OLD.exp(), LOGPROBS.exp()
        divergence = m * (m / p).log() + (1 - m) * ((1 - m) / (1 - p)).log()
        up = ADVANTAGES.unsqueeze(1) > 0
        weight = {
            "cispo": ratio.clamp(0.9, 1.1),
            "dppo_tv": ratio * ~torch.where(up, moved > 0.1, moved < -0.1),
            "dppo_kl": ratio * ~((divergence > 0.1) & (up == (p > m))),
        }[policy]
        expected = -weight * ADVANTAGES.unsqueeze(1) * MASK / count
        torch.testing.assert_close(gradient(**fields), expected, rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("policy", POLICIES)
    def test_what_is_masked_has_no_influence(self, policy: str) -> None:
        fields: dict[str, Any] = {"policy": policy, "kl_beta": 0.1}
        wild = torch.where(MASK, LOGPROBS, torch.inf)
        assert torch.equal(loss_of(wild, **fields), loss_of(**fields))
        assert not gradient(**fields)[~MASK].any()

    @pytest.mark.parametrize("policy", POLICIES)
    def test_each_rollout_has_a_gradient_of_its_own(self, policy: str) -> None:
        leaf = LOGPROBS.clone().requires_grad_(True)
        loss_of(leaf, policy=policy)[2].backward()
        assert leaf.grad is not None
        assert torch.equal(leaf.grad[2], gradient(policy=policy)[2])
        assert not leaf.grad[[0, 1, 3, 4, 5]].any()


class TestBounds:
    def one(self, ratio: float, advantage: float, **fields: Any) -> tuple[float, float]:
        """Loss and gradient of one token with this ratio (two tokens of weight 1/2)."""
        leaf = torch.tensor([[math.log(0.2)], [math.log(0.2)]], dtype=torch.float64)
        old = leaf - math.log(ratio)
        leaf.requires_grad_(True)
        loss_B, _ = policy_loss(
            leaf,
            old,
            torch.tensor([advantage, advantage], dtype=torch.float64),
            torch.ones(2, 1, dtype=torch.bool),
            settings=ObjectiveSettings(aggregation="token_mean", **fields),
            group=2,
            max_new=1,
        )
        loss_B.sum().backward()
        assert leaf.grad is not None
        return loss_B.sum().item(), leaf.grad.sum().item()

    @pytest.mark.parametrize(
        ("ratio", "advantage", "loss", "slope"),
        [
            (1.1, 2.0, -2.2, -2.2),
            (1.5, 2.0, -2.56, 0.0),
            (0.5, 2.0, -1.0, -1.0),
            (1.5, -2.0, 3.0, 3.0),
            (0.5, -2.0, 1.6, 0.0),
        ],
    )
    def test_clip_higher_is_pessimistic_on_both_sides(
        self, ratio: float, advantage: float, loss: float, slope: float
    ) -> None:
        found = self.one(ratio, advantage, clip_low=0.2, clip_high=0.28)
        assert found == pytest.approx((loss, slope))

    def test_dual_clip_bounds_what_a_bad_token_costs(self) -> None:
        assert self.one(5.0, -1.0) == pytest.approx((5.0, 5.0))
        assert self.one(5.0, -1.0, dual_clip=3.0) == pytest.approx((3.0, 0.0))
        assert self.one(2.0, -1.0, dual_clip=3.0) == pytest.approx((2.0, 2.0))

    def test_cispo_never_drops_a_token(self) -> None:
        _, slope = self.one(100.0, 1.0, policy="cispo", clip_low=1.0, clip_high=4.0)
        assert slope == pytest.approx(-5.0)
        _, slope = self.one(0.01, 1.0, policy="cispo", clip_low=1.0, clip_high=4.0)
        assert slope == pytest.approx(-0.01)

    def test_dppo_masks_only_what_has_moved_the_way_it_is_pushed(self) -> None:
        fields: dict[str, Any] = {"policy": "dppo_tv", "clip_low": 0.05, "clip_high": 0.05}
        assert self.one(4.0, 1.0, **fields)[1] == 0.0, "p 0.2, m 0.05"
        assert self.one(4.0, -1.0, **fields)[1] == pytest.approx(4.0)
        assert self.one(0.5, -1.0, **fields)[1] == 0.0, "p 0.2, m 0.4"
        assert self.one(0.5, 1.0, **fields)[1] == pytest.approx(-0.5)
        assert self.one(4.0, -1.0, **fields, ratio_cap=3.0)[1] == pytest.approx(3.0)

    def test_a_huge_ratio_stays_finite(self) -> None:
        loss, slope = self.one(1e30, -1.0)
        assert math.isfinite(loss)
        assert math.isfinite(slope)


class TestReal:
    LABELS = torch.tensor([1.0, -1.0, -1.0, 1.0, 1.0, 1.0], dtype=torch.float64)

    def formula(self, logprobs_B_T: Tensor) -> Tensor:
        scores = ((logprobs_B_T - OLD) * MASK).sum(1) / MASK.sum(1) / 0.5
        first = torch.log(1 + scores[1].exp() + scores[2].exp()) + torch.log(1 + (-scores[0]).exp())
        return first / 2  # the second prompt has no wrong rollout

    def test_value_and_gradient_are_those_of_the_formula(self) -> None:
        fields: dict[str, Any] = {"policy": "real", "advantages": self.LABELS}
        torch.testing.assert_close(loss_of(**fields).sum(), self.formula(LOGPROBS))
        torch.testing.assert_close(
            gradient(**fields), differences(self.formula), rtol=1e-6, atol=1e-9
        )

    def test_slopes_on_policy_are_those_of_the_paper(self) -> None:
        leaf = LOGPROBS.clone().requires_grad_(True)
        loss_of(leaf, old=LOGPROBS, policy="real", advantages=self.LABELS).sum().backward()
        assert leaf.grad is not None
        per_rollout = leaf.grad.sum(1) * 2  # the number of prompts
        expected = torch.tensor([-2 / 2, 2 / 3, 2 / 3, 0, 0, 0], dtype=torch.float64)
        torch.testing.assert_close(per_rollout, expected)

    def test_it_takes_no_advantages_per_token(self) -> None:
        with pytest.raises(UsageError, match="one advantage per rollout"):
            loss_of(policy="real", advantages=ADVANTAGES.unsqueeze(1).expand(6, LENGTH))


class TestAggregation:
    def test_weights_are_the_documented_constants(self) -> None:
        mask = MASK.clone()
        mask[1] = False  # a dropped rollout
        lengths, double = mask.sum(1).double(), mask.double()
        expected = {
            "sequence_mean": double / (5 * lengths.clamp(min=1)).unsqueeze(1),
            "sequence_sum": double / 5,
            "token_mean": double / 16,
            "constant": double / (6 * LENGTH),
            "prompt_mean": double
            / torch.tensor([7, 7, 7, 9, 9, 9], dtype=torch.float64).unsqueeze(1) / 2,
        }  # fmt: skip
        for kind in AGGREGATIONS:
            found = aggregation_weights(mask, kind=kind, group=GROUP, max_new=LENGTH)
            torch.testing.assert_close(found, expected[kind])

    def test_a_dropped_prompt_counts_in_the_constant_only(self) -> None:
        mask = MASK.clone()
        mask[3:] = False
        lengths, double = mask.sum(1).double(), mask.double()
        expected = {
            "sequence_mean": double / (3 * lengths.clamp(min=1)).unsqueeze(1),
            "sequence_sum": double / 3,
            "token_mean": double / 8,
            "constant": double / (6 * LENGTH),
            "prompt_mean": double / 8,
        }
        for kind in AGGREGATIONS:
            found = aggregation_weights(mask, kind=kind, group=GROUP, max_new=LENGTH)
            torch.testing.assert_close(found, expected[kind])

    @pytest.mark.parametrize("policy", ["clip", "real"])
    @pytest.mark.parametrize("aggregation", AGGREGATIONS)
    def test_parts_of_a_batch_add_up_to_the_whole(self, policy: str, aggregation: str) -> None:
        fields: dict[str, Any] = {"policy": policy, "aggregation": aggregation, "kl_beta": 0.1}
        whole = counts(MASK[:3], group=GROUP) + counts(MASK[3:], group=GROUP)
        parts = [
            policy_loss(
                LOGPROBS[rows], OLD[rows], ADVANTAGES[rows], MASK[rows],
                settings=ObjectiveSettings(**fields), group=GROUP, max_new=LENGTH,
                reference_B_T=REFERENCE[rows], whole=whole,
            )[0]
            for rows in (slice(0, 3), slice(3, 6))
        ]  # fmt: skip
        torch.testing.assert_close(torch.cat(parts), loss_of(**fields))

    def test_a_batch_without_active_tokens_has_no_loss(self) -> None:
        for aggregation in AGGREGATIONS:
            nothing = torch.zeros_like(MASK)
            assert loss_of(mask=nothing, aggregation=aggregation).tolist() == [0.0] * 6

    def test_an_unknown_aggregation_names_the_nearest(self) -> None:
        with pytest.raises(UnknownNameError, match="token_mean"):
            aggregation_weights(MASK, kind="tokens_mean", group=GROUP, max_new=LENGTH)

    def test_advantages_may_differ_by_token(self) -> None:
        wide = ADVANTAGES.unsqueeze(1).expand(6, LENGTH)
        assert torch.equal(loss_of(advantages=wide), loss_of())


class TestLog:
    def test_it_tells_of_the_ratio_and_of_both_divergences(self) -> None:
        _, log = policy_loss(
            LOGPROBS, OLD, ADVANTAGES, MASK,
            settings=ObjectiveSettings(), group=GROUP, max_new=LENGTH, reference_B_T=REFERENCE,
        )  # fmt: skip
        ratio = (LOGPROBS - OLD).exp()[MASK]
        assert log["ratio_mean"] == pytest.approx(ratio.mean().item())
        assert log["ratio_max"] == pytest.approx(ratio.max().item())
        back = (REFERENCE - LOGPROBS)[MASK]
        assert log["kl"] == pytest.approx((back.exp() - back - 1).mean().item())
        assert 0 < log["old_kl"] < 1

    def test_the_share_at_a_bound_counts_every_bound(self) -> None:
        def share(ratio: float, advantage: float, **fields: Any) -> float:
            logs = torch.full((2, 1), -1.0, dtype=torch.float64)
            _, log = policy_loss(
                logs, logs - math.log(ratio), torch.tensor([advantage, 0.0]),
                torch.ones(2, 1, dtype=torch.bool),
                settings=ObjectiveSettings(**fields), group=2, max_new=1,
            )  # fmt: skip
            return log["bounded_share"]

        assert share(1.3, 1.0) == share(0.7, -1.0) == 0.5
        assert share(1.3, -1.0) == share(0.7, 1.0) == 0.0
        assert share(5.0, -1.0, dual_clip=3.0) == 0.5
        assert share(2.0, -1.0, dual_clip=3.0) == 0.0

    def test_a_missing_reference_is_an_error_only_where_it_is_needed(self) -> None:
        def run(**fields: Any) -> dict[str, float]:
            return policy_loss(
                LOGPROBS, OLD, ADVANTAGES, MASK,
                settings=ObjectiveSettings(**fields), group=GROUP, max_new=LENGTH,
            )[1]  # fmt: skip

        assert "kl" not in run()
        assert "kl" not in run(kl_beta=0.1, kl_in_reward=True)
        with pytest.raises(UsageError, match="reference_B_T"):
            run(kl_beta=0.1)
