"""KL estimators, by enumeration of all tokens; log-probabilities."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from unhack.core.errors import UnknownNameError
from unhack.training.config.settings import ObjectiveSettings
from unhack.training.objectives import entropy, float32_logits, kl, policy_loss, token_logprobs

LOGITS = torch.tensor([0.4, -1.0, 0.9, 0.1], dtype=torch.float64)
ANCHOR = torch.log_softmax(torch.tensor([0.0, 0.3, 0.2, -0.7], dtype=torch.float64), 0)
SAMPLER = torch.log_softmax(torch.tensor([0.9, 0.2, 0.1, 0.0], dtype=torch.float64), 0)


def exact(value_of: Any) -> Tensor:
    logits = LOGITS.clone().requires_grad_(True)
    value_of(torch.log_softmax(logits, 0)).backward()
    assert logits.grad is not None
    return logits.grad


def divergence(logs: Tensor) -> Tensor:
    return (logs.exp() * (logs - ANCHOR)).sum()


def mean_gradient(estimator: str) -> Tensor:
    """E over tokens drawn from the policy of the estimator's own gradient."""
    chances = torch.softmax(LOGITS, 0)
    return exact(lambda logs: (chances * kl(logs, ANCHOR, estimator)).sum())


class TestEstimators:
    def test_k1_and_k3_are_unbiased_and_k2_is_not(self) -> None:
        logs = torch.log_softmax(LOGITS, 0)
        means = {name: (logs.exp() * kl(logs, ANCHOR, name)).sum() for name in ("k1", "k2", "k3")}
        torch.testing.assert_close(means["k1"], divergence(logs))
        torch.testing.assert_close(means["k3"], divergence(logs))
        assert not torch.isclose(means["k2"], divergence(logs), rtol=1e-3)

    def test_as_a_loss_only_k2_has_the_gradient_of_the_divergence(self) -> None:
        wanted = exact(divergence)
        torch.testing.assert_close(mean_gradient("k1"), torch.zeros_like(LOGITS))
        torch.testing.assert_close(mean_gradient("k2"), wanted)
        assert torch.cosine_similarity(mean_gradient("k3"), wanted, dim=0) < 0.999

    @pytest.mark.parametrize("estimator", ["k1", "k3"])
    def test_times_the_ratio_the_gradient_is_exact_whoever_sampled(self, estimator: str) -> None:
        found = exact(
            lambda logs: _expected_loss(logs, kl=estimator, kl_weighted=True, kl_beta=1.0)
        )
        torch.testing.assert_close(found, exact(divergence))

    def test_k3_is_never_negative_and_k1_is(self) -> None:
        logs = torch.log_softmax(LOGITS, 0)
        assert (kl(logs, ANCHOR, "k3") >= 0).all()
        assert (kl(logs, ANCHOR, "k1") < 0).any()

    def test_a_vanished_token_does_not_make_k3_infinite(self) -> None:
        assert kl(torch.tensor([-500.0]), torch.tensor([-1.0]), "k3").isfinite().all()

    def test_an_unknown_estimator_is_refused(self) -> None:
        with pytest.raises(UnknownNameError, match="k3"):
            kl(LOGITS, ANCHOR, "k33")


def _expected_loss(logs: Tensor, *, sampler: Tensor = SAMPLER, **fields: Any) -> Tensor:
    """E over one-token answers drawn from `sampler` of the loss without advantages."""
    loss_B, _ = policy_loss(
        logs.unsqueeze(1),
        sampler.unsqueeze(1),
        torch.zeros(len(logs)),
        torch.ones(len(logs), 1, dtype=torch.bool),
        settings=ObjectiveSettings(aggregation="sequence_sum", **fields),
        group=len(logs),
        max_new=1,
        reference_B_T=ANCHOR.unsqueeze(1),
    )
    return (sampler.exp() * loss_B * len(logs)).sum()


class TestLogits:
    def test_log_probabilities_are_those_of_a_softmax(self) -> None:
        logits = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(0))
        tokens = torch.randint(7, (3, 5), generator=torch.Generator().manual_seed(1))
        expected = torch.log_softmax(logits, -1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
        torch.testing.assert_close(token_logprobs(logits, tokens), expected)
        torch.testing.assert_close(
            entropy(logits), torch.distributions.Categorical(logits=logits).entropy()
        )

    def test_a_forbidden_token_adds_no_entropy(self) -> None:
        logits = torch.tensor([0.0, 0.0, -torch.inf])
        torch.testing.assert_close(entropy(logits), torch.tensor(2.0).log())

    def test_logits_in_float32_keep_what_bfloat16_loses(self) -> None:
        generator = torch.Generator().manual_seed(2)
        hidden = torch.randn(8, 64, generator=generator).bfloat16()
        head = torch.randn(32, 64, generator=generator).bfloat16()
        wide = float32_logits(hidden, head)
        exact_logits = hidden.double() @ head.double().T
        narrow = (hidden @ head.T).float()
        assert wide.dtype == torch.float32
        assert (wide - exact_logits).abs().max() < 1e-4
        assert (narrow - exact_logits).abs().max() > 1e-3
