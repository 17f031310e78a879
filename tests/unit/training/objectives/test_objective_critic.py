"""The critic: generalised advantages by direct sums, its head, its place in a loop."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from unhack.core.errors import UsageError
from unhack.models.config import Config
from unhack.models.qwen3 import Qwen3
from unhack.training.config.settings import ObjectiveSettings
from unhack.training.objectives import critic, policy_loss

GENERATOR = torch.Generator().manual_seed(11)
SHAPE = (3, 5)
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 1, 0]], dtype=torch.bool)
REWARDS = torch.randn(SHAPE, generator=GENERATOR, dtype=torch.float64)
VALUES = torch.randn(SHAPE, generator=GENERATOR, dtype=torch.float64)


def settings(**fields: Any) -> ObjectiveSettings:
    return ObjectiveSettings(advantage="gae", **fields)


class TestGae:
    @pytest.mark.parametrize(("discount", "decay"), [(1.0, 1.0), (0.99, 0.95), (0.9, 0.0)])
    def test_it_is_the_discounted_sum_of_errors(self, discount: float, decay: float) -> None:
        found, returns = critic.gae(REWARDS, VALUES, MASK, discount=discount, decay=decay)
        assert SHAPE[0]
        for row in range(SHAPE[0]):
            length = int(MASK[row].sum())
            values = [*VALUES[row, :length].tolist(), 0.0]
            errors = [
                REWARDS[row, step].item() + discount * values[step + 1] - values[step]
                for step in range(length)
            ]
            assert length
            for step in range(length):
                total = sum(
                    (discount * decay) ** (later - step) * errors[later]
                    for later in range(step, length)
                )
                assert found[row, step].item() == pytest.approx(total)
                assert returns[row, step].item() == pytest.approx(total + values[step])

    def test_without_discount_the_return_is_the_sum_of_rewards(self) -> None:
        _, returns = critic.gae(REWARDS, VALUES, MASK, discount=1.0, decay=1.0)
        expected = (REWARDS * MASK).flip(1).cumsum(1).flip(1)
        torch.testing.assert_close(returns, expected * MASK)

    def test_padding_neither_gives_nor_takes(self) -> None:
        wild = torch.where(MASK, VALUES, 1e6)
        kept = critic.gae(REWARDS, VALUES, MASK, discount=0.9, decay=0.9)
        found = critic.gae(REWARDS, wild, MASK, discount=0.9, decay=0.9)
        assert kept
        for one, other in zip(kept, found, strict=True):
            assert torch.equal(one, other)
            assert not one[~MASK].any()

    def test_whitening_leaves_mean_zero_and_variance_one(self) -> None:
        found = critic.whiten(REWARDS, MASK)[MASK]
        torch.testing.assert_close(found.mean(), torch.tensor(0.0, dtype=torch.float64))
        torch.testing.assert_close(found.var(), torch.tensor(1.0, dtype=torch.float64))
        alone = torch.zeros_like(MASK)
        alone[0, 0] = True
        assert not critic.whiten(REWARDS, alone).any()


class TestValueLoss:
    def test_a_value_that_moved_too_far_has_no_gradient_towards_its_target(self) -> None:
        old, target = torch.zeros(1, 2), torch.tensor([[2.0, 2.0]])
        values = torch.tensor([[0.3, 0.7]], requires_grad=True)
        loss = critic.value_loss(values, old, target, torch.ones(1, 2, dtype=torch.bool), clip=0.5)
        assert loss.item() == pytest.approx(0.5 * ((2 - 0.3) ** 2 + (2 - 0.5) ** 2) / 2)
        loss.backward()
        assert values.grad is not None
        assert values.grad.tolist() == [[pytest.approx(-0.85), 0.0]]


class TestCritic:
    STATES = torch.randn(3, 5, 8, generator=GENERATOR)

    def test_it_begins_at_zero_so_the_first_returns_are_the_rewards(self) -> None:
        made = critic.make_critic(8, settings=settings(), seed=0)
        found = made.estimate(self.STATES, REWARDS, MASK)
        assert not found.values_B_T.any()
        expected = (REWARDS * MASK).flip(1).cumsum(1).flip(1) * MASK
        torch.testing.assert_close(found.returns_B_T, expected.float())

    def test_its_draw_depends_on_the_seed_alone(self) -> None:
        before = torch.random.get_rng_state()
        first = critic.make_critic(8, settings=settings(), seed=4)
        assert torch.equal(torch.random.get_rng_state(), before)
        torch.rand(3)
        second = critic.make_critic(8, settings=settings(), seed=4)
        for one, other in zip(first.head.parameters(), second.head.parameters(), strict=True):
            assert torch.equal(one, other)

    @pytest.mark.slow
    def test_it_learns_the_returns_and_then_explains_them(self) -> None:
        made = critic.make_critic(8, settings=settings(value_clip=100.0), seed=0)
        made.optimiser.param_groups[0]["lr"] = 0.02
        returns = self.STATES[..., 0]
        target = critic.Estimate(torch.zeros(SHAPE), returns, torch.zeros(SHAPE))
        logs = [made.learn(self.STATES, target, MASK) for _ in range(150)]
        assert abs(logs[0]["value_explained"]) < 1e-6
        assert logs[-1]["value_explained"] > 0.9
        assert logs[-1]["value_loss"] < 0.1 * logs[0]["value_loss"]

    def test_it_goes_on_bit_for_bit_from_its_state(self) -> None:
        def run(made: critic.Critic, steps: int) -> None:
            for _ in range(steps):
                made.learn(self.STATES, made.estimate(self.STATES, REWARDS, MASK), MASK)

        whole, first = (critic.make_critic(8, settings=settings(), seed=0) for _ in range(2))
        run(whole, 6)
        run(first, 3)
        second = critic.make_critic(8, settings=settings(), seed=9)
        second.load(first.state())
        run(second, 3)
        assert whole.state().keys() == second.state().keys()
        for name, item in whole.state().items():
            assert torch.equal(item, second.state()[name]), name

    def test_ranks_may_average_its_gradients(self) -> None:
        seen: list[int] = []

        def reduce(gradients: list[Tensor]) -> None:
            seen.append(len(gradients))
            for item in gradients:
                item.zero_()

        made = critic.make_critic(8, settings=settings(), seed=0)
        before = [item.clone() for item in made.head.parameters()]
        made.learn(self.STATES, made.estimate(self.STATES, REWARDS, MASK), MASK, reduce=reduce)
        assert seen == [len(before)]
        for one, other in zip(before, made.head.parameters(), strict=True):
            assert torch.equal(one, other)


class TestInALoop:
    def test_hidden_states_before_each_token_reach_it(self) -> None:
        torch.manual_seed(0)
        model = Qwen3(Config(vocab=13, hidden=8, layers=1, heads=2, kv_heads=1, head_dim=4, ffn=8))
        tokens = torch.randint(13, (3, 7), generator=torch.Generator().manual_seed(1))
        with critic.hidden_states(model) as states:
            model(tokens[:2])
            model(tokens[2:])
        found = states.before(3, 4)
        torch.testing.assert_close(found, model.hidden(tokens)[:, 2:6].detach())
        assert not found.requires_grad
        with critic.hidden_states(model) as none:
            pass
        with pytest.raises(UsageError, match="inside hidden_states"):
            none.before(3, 4)

    def test_a_model_without_a_last_norm_is_refused(self) -> None:
        with pytest.raises(UsageError, match=r"model\.norm"), critic.hidden_states(nn.Linear(2, 2)):
            pass

    def test_ppo_with_a_critic_solves_a_bandit(self) -> None:
        """Answers are one token; token 2 pays. Everything goes through the published recipe."""
        torch.manual_seed(0)
        recipe = ObjectiveSettings(recipe="ppo", kl_beta=0.001)
        logits = nn.Parameter(torch.zeros(4))
        optimiser = torch.optim.SGD([logits], lr=2.0)
        made = critic.make_critic(3, settings=recipe, seed=0)
        made.optimiser.param_groups[0]["lr"] = 0.05
        mask, states = torch.ones(16, 1, dtype=torch.bool), torch.ones(16, 1, 3)
        for _ in range(40):
            logs = torch.log_softmax(logits, 0)
            drawn = torch.multinomial(logs.exp().detach(), 16, replacement=True)
            rewards = (drawn == 2).float().unsqueeze(1)
            estimate = made.estimate(states, rewards, mask)
            chosen = logs[drawn].unsqueeze(1)
            loss_B, _ = policy_loss(
                chosen, chosen.detach(), estimate.advantages_B_T, mask,
                settings=recipe, group=4, max_new=1,
            )  # fmt: skip
            optimiser.zero_grad()
            loss_B.sum().backward()
            optimiser.step()
            made.learn(states, estimate, mask)
            assert estimate.advantages_B(mask).shape == (16,)
        assert torch.softmax(logits, 0)[2] > 0.9
