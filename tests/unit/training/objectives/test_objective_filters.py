"""Which rollouts take part, and what is added to their rewards."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.config.settings import ObjectiveSettings
from unhack.training.objectives import (
    PassHistory,
    active,
    refill,
    soft_overlong,
    token_rewards,
    untruncated,
)

MASK = torch.tensor([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]], dtype=torch.bool)


class TestActive:
    def test_only_keep_leaves_rollouts_without_signal_in(self) -> None:
        signal_B = torch.tensor([True, False, True])
        assert torch.equal(active(MASK, signal_B, zero_variance="keep"), MASK)
        for kind in ("drop", "refill"):
            found = active(MASK, signal_B, zero_variance=kind)
            assert found.any(1).tolist() == [True, False, True]
            assert torch.equal(found[0], MASK[0])

    def test_an_answer_is_whole_when_it_ends_with_the_stop_token(self) -> None:
        tokens = torch.tensor([[5, 6, 9, 9], [9, 0, 0, 0], [5, 6, 7, 8]])
        assert untruncated(tokens, MASK, stop=9).tolist() == [True, True, False]
        tokens[0, 2] = 7  # the 9 behind it is padding
        assert untruncated(tokens, MASK, stop=9).tolist() == [False, True, False]


class TestRefill:
    ROUNDS = (
        torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0, 0.0]),
        torch.tensor([0.0, 0.0, 0.0, 0.0, 1.0, 1.0]),
        torch.tensor([0.0, 1.0, 1.0, 0.0, 0.0, 0.5]),
    )

    def draw(self, number: int) -> tuple[str, Tensor]:
        return f"round {number}", self.ROUNDS[number]

    def test_it_draws_until_enough_prompts_have_a_signal(self) -> None:
        found = refill(self.draw, prompts=3, group=2)
        assert [(name, rows.tolist()) for name, rows in found.kept] == [
            ("round 0", [1]),
            ("round 1", []),
            ("round 2", [0, 1]),
        ]
        assert (found.drawn, found.short) == (9, 0)

    def test_it_stops_as_soon_as_it_has_them(self) -> None:
        found = refill(self.draw, prompts=1, group=2)
        assert (len(found.kept), found.drawn) == (1, 3)

    def test_it_gives_up_after_its_rounds_and_says_what_is_missing(self) -> None:
        found = refill(self.draw, prompts=3, group=2, rounds=2)
        assert (found.drawn, found.short) == (6, 2)
        with pytest.raises(UsageError, match="one round"):
            refill(self.draw, prompts=3, group=2, rounds=0)


class TestPassHistory:
    def test_a_prompt_that_is_nearly_always_solved_is_retired(self) -> None:
        history = PassHistory(threshold=0.9)
        history.observe(["easy", "hard"], torch.tensor([1, 1, 1, 1, 0, 1, 0, 0]))
        assert history.retired("easy")
        assert not history.retired("hard")
        assert not history.retired("never seen")

    def test_all_rollouts_so_far_count(self) -> None:
        history = PassHistory(threshold=0.75)
        history.observe(["a"], torch.tensor([True, False]))
        assert not history.retired("a")
        history.observe(["a"], torch.tensor([True, True]))
        assert history.retired("a")

    def test_it_goes_on_from_its_state(self) -> None:
        first, second = PassHistory(), PassHistory()
        first.observe(["a", "b"], torch.tensor([1.0, 1.0, 0.0, 1.0]))
        second.load(first.state())
        assert second.state() == {"a": [2.0, 2.0], "b": [1.0, 2.0]}
        second.observe(["b"], torch.tensor([1.0, 1.0]))
        assert first.state()["b"] == [1.0, 2.0]


class TestShaping:
    REWARDS = torch.tensor([1.0, 0.5, 0.0])
    LOGPROBS = torch.tensor([[-1.0, -2.0, -1.0, 0.0], [-1.0, 0, 0, 0], [-0.5, -0.5, -0.5, -0.5]])
    ANCHOR = torch.full((3, 4), -1.0)

    def test_nothing_is_added_by_default(self) -> None:
        found = token_rewards(self.REWARDS, MASK, settings=ObjectiveSettings(), max_new=4).sum(1)
        assert torch.equal(found, self.REWARDS)

    def test_long_answers_lose_up_to_one(self) -> None:
        settings = ObjectiveSettings(overlong_share=0.5)
        found = token_rewards(self.REWARDS, MASK, settings=settings, max_new=4).sum(1)
        assert found.tolist() == [0.5, 0.5, -1.0]

    def test_a_cache_of_nothing_is_a_hard_limit(self) -> None:
        lengths = torch.tensor([1, 4, 5])
        assert soft_overlong(lengths, longest=4, cache=0).tolist() == [0.0, 0.0, -1.0]
        with pytest.raises(UsageError, match="between 0 and 4"):
            soft_overlong(lengths, longest=4, cache=5)

    def test_the_divergence_is_taken_off_at_each_token(self) -> None:
        settings = ObjectiveSettings(kl="k1", kl_beta=0.1, kl_in_reward=True)
        found = token_rewards(
            self.REWARDS, MASK, settings=settings, max_new=4,
            logprobs_B_T=self.LOGPROBS, reference_B_T=self.ANCHOR,
        )  # fmt: skip
        expected = torch.tensor([[0, 0.1, 1.0, 0], [0.5, 0, 0, 0], [-0.05, -0.05, -0.05, -0.05]])
        torch.testing.assert_close(found, expected)

    def test_a_divergence_needs_both_log_probabilities(self) -> None:
        settings = ObjectiveSettings(kl="k1", kl_beta=0.1, kl_in_reward=True)
        with pytest.raises(UsageError, match="both log-probabilities"):
            token_rewards(
                self.REWARDS, MASK, settings=settings, max_new=4, logprobs_B_T=self.LOGPROBS
            )
