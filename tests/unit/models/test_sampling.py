"""Completions drawn on the static cache, against the plain forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.models.config import Config

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from unhack.models.qwen3 import Qwen3  # noqa: E402
from unhack.models.sampling import SamplingPlan, completions, draw, pad_left, sample  # noqa: E402

SMALL = Config(vocab=31, hidden=24, layers=2, heads=4, kv_heads=2, head_dim=8, ffn=40)
FULL_HEADS = Config(vocab=31, hidden=24, layers=2, heads=3, kv_heads=3, head_dim=8, ffn=40)
ALIKE: list[list[int]] = [[5, 6, 7, 8], [9, 10, 11, 12], [1, 2, 3, 4]]
RAGGED: list[list[int]] = [[5], [6, 7, 8, 9, 10, 11, 12], [1, 2, 3]]


def _model(config: Config = SMALL, *, seed: int = 0) -> Any:
    torch.manual_seed(seed)
    model = Qwen3(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, mean=float(parameter.dim() == 1), std=0.25)
    return model.requires_grad_(False)


def _drawn(model: Any, prompts: Sequence[Sequence[int]], *, seed: int = 1, **plan: Any) -> Any:
    tokens, mask = pad_left(prompts, pad=0)
    chosen = SamplingPlan(**{"max_new": 12, "stop": 3, "pad": 0, "group": 4} | plan)
    generator = torch.Generator().manual_seed(seed)
    return sample(model, tokens, mask_N_P=mask, plan=chosen, generators=[generator])


class Counting:
    """A decoder whose rows say 7 until their place, then the stop token 3."""

    def __init__(self, stops: list[int]) -> None:
        self.stops, self.done = torch.tensor(stops), 0
        self.batches: list[int] = []
        self.first = self._logits()

    def _logits(self) -> Any:
        tokens = torch.where(self.stops == self.done, 3, 7)
        return torch.nn.functional.one_hot(tokens, 9) * 1000.0

    def step(self, tokens: Any) -> Any:
        assert tokens.shape == self.stops.shape
        self.done += 1
        self.batches.append(len(tokens))
        return self._logits()

    def narrow(self, keep: Any) -> None:
        self.stops = self.stops[keep]


class TestLogProbabilities:
    @pytest.mark.parametrize("config", [SMALL, FULL_HEADS])
    @pytest.mark.parametrize("prompts", [ALIKE, RAGGED])
    @pytest.mark.parametrize("temperature", [1.0, 0.6])
    def test_the_cache_gives_what_the_full_forward_gives(
        self, config: Config, prompts: list[list[int]], temperature: float
    ) -> None:
        model = _model(config)
        found = _drawn(model, prompts, temperature=temperature)
        compared = 0
        for row in range(found.tokens_B_T.shape[0]):
            count = int(found.mask_B_T[row].sum())
            new = found.tokens_B_T[row, :count].tolist()
            whole = torch.tensor([[*prompts[row // 4], *new]])
            logits = model(whole)[0, -count - 1 : -1]
            expected = logits.log_softmax(-1).gather(1, whole[0, -count:, None])[:, 0]
            assert (expected - found.logprobs_B_T[row, :count]).abs().max() < 1e-5
            compared += count
        assert compared > 40
        assert found.mask_B_T.float().mean() < 1.0, "no row stopped early: narrowing is not tested"

    def test_padding_on_the_left_changes_no_logit(self) -> None:
        model = _model()
        tokens, mask = pad_left(RAGGED, pad=0)
        padded = model(tokens, mask_B_T=mask)
        for row, prompt in enumerate(RAGGED):
            alone = model(torch.tensor([prompt]))[0]
            assert (padded[row, -len(prompt) :] - alone).abs().max() < 1e-5

    def test_what_stands_in_the_padding_does_not_matter(self) -> None:
        model = _model()
        tokens, mask = pad_left(RAGGED, pad=0)
        other = tokens.masked_fill(~mask, 17)
        assert not torch.equal(tokens, other)
        assert torch.equal(model(tokens, mask_B_T=mask)[mask], model(other, mask_B_T=mask)[mask])

    def test_a_mask_without_padding_changes_nothing(self) -> None:
        model = _model()
        tokens, mask = pad_left(ALIKE, pad=0)
        assert (model(tokens, mask_B_T=mask) - model(tokens)).abs().max() < 1e-5


class TestDraws:
    def test_frequencies_are_the_probabilities(self) -> None:
        logits = torch.tensor([0.0, 1.0, -1.0, 2.0, float("-inf")])
        uniform = (torch.arange(20_000) + 0.5) / 20_000
        for temperature in (1.0, 0.5):
            tokens, logprobs = draw(logits.expand(20_000, -1), uniform, temperature=temperature)
            shares = torch.bincount(tokens, minlength=5) / 20_000
            assert (shares - (logits / temperature).softmax(0)).abs().max() < 1e-3
            assert (logprobs - logits.log_softmax(0)[tokens]).abs().max() < 1e-6

    def test_the_largest_uniform_number_draws_a_possible_token(self) -> None:
        logits = torch.randn(200, 40, generator=torch.Generator().manual_seed(0))
        logits[:, 30:] = float("-inf")
        tokens, logprobs = draw(logits, torch.full((200,), 1.0 - 2.0**-24), temperature=1.0)
        assert int(tokens.max()) < 30
        assert bool(logprobs.isfinite().all())

    def test_one_seed_gives_one_sample(self) -> None:
        model = _model()
        first, second, other = (_drawn(model, RAGGED, seed=seed) for seed in (1, 1, 2))
        assert torch.equal(first.tokens_B_T, second.tokens_B_T)
        assert torch.equal(first.logprobs_B_T, second.logprobs_B_T)
        assert first.tokens_B_T.shape != other.tokens_B_T.shape or not torch.equal(
            first.tokens_B_T, other.tokens_B_T
        )

    def test_a_batch_takes_the_same_from_the_generator_whenever_it_ends(self) -> None:
        states = []
        for stop in (-1, 3):
            tokens, mask = pad_left(ALIKE, pad=0)
            generator = torch.Generator().manual_seed(7)
            plan = SamplingPlan(12, stop, 0, group=4)
            sample(_model(), tokens, mask_N_P=mask, plan=plan, generators=[generator])
            states.append(generator.get_state())
        assert torch.equal(states[0], states[1])

    def test_a_row_is_the_same_whoever_stops_beside_it(self) -> None:
        """Stopping takes rows out of the batch; the tokens of the others stay."""
        model = _model()
        stopping, endless = _drawn(model, RAGGED, stop=3), _drawn(model, RAGGED, stop=-1)
        length = stopping.tokens_B_T.shape[1]
        same = stopping.tokens_B_T == endless.tokens_B_T[:, :length]
        assert bool(same[stopping.mask_B_T].all())


class TestEnds:
    def test_a_row_ends_with_its_first_stop_token(self) -> None:
        found = _drawn(_model(), RAGGED)
        assert len(found.tokens_B_T) > 1
        for tokens, mask in zip(found.tokens_B_T.tolist(), found.mask_B_T.tolist(), strict=True):
            count = sum(mask)
            assert mask == [True] * count + [False] * (len(mask) - count)
            assert 3 not in tokens[: count - 1]
            assert tokens[count - 1] == 3 or count == 12
            assert set(tokens[count:]) <= {0}

    def test_the_loop_ends_when_all_rows_stopped(self) -> None:
        run = Counting([0, 0, 2, 2, 2, 2, 4, 4])
        found = completions(run, SamplingPlan(50, 3, 0), generators=[torch.Generator()])
        assert found.mask_B_T.sum(1).tolist() == [1, 1, 3, 3, 3, 3, 5, 5]
        assert found.tokens_B_T.tolist()[7] == [7, 7, 7, 7, 3]
        assert run.batches == [8, 8, 2, 2], "rows that stopped are still computed"

    def test_parts_stay_of_one_size_while_rows_leave(self) -> None:
        run = Counting([9, 1, 9, 1, 1, 1, 4, 1])
        plan = SamplingPlan(50, 3, 0, parts=2)
        found = completions(run, plan, generators=[torch.Generator(), torch.Generator()])
        assert found.mask_B_T.sum(1).tolist() == [10, 2, 10, 2, 2, 2, 5, 2]
        assert run.batches == [8, *[4] * 8], "a part with two rows that run needs four"

    def test_parts_that_do_not_fit_are_refused(self) -> None:
        plan = SamplingPlan(50, 3, 0, parts=2)
        with pytest.raises(UsageError, match="3 rows in 2 parts"):
            completions(Counting([1, 1, 1]), plan, generators=[torch.Generator()] * 2)

    def test_without_a_stop_token_every_row_is_full(self) -> None:
        found = _drawn(_model(), RAGGED, stop=-1)
        assert found.mask_B_T.shape == (12, 12)
        assert bool(found.mask_B_T.all())

    @pytest.mark.parametrize("plan", [{"temperature": 0.0}, {"max_new": 0}, {"group": 0}])
    def test_an_impossible_plan_is_refused(self, plan: dict[str, Any]) -> None:
        with pytest.raises(UsageError, match="above zero"):
            _drawn(_model(), ALIKE, **plan)

    @pytest.mark.parametrize("prompts", [[], [[1], []]])
    def test_an_empty_prompt_is_refused(self, prompts: list[list[int]]) -> None:
        with pytest.raises(UsageError, match="at least one"):
            pad_left(prompts, pad=0)


class TestState:
    def test_samples_can_be_used_by_autograd(self) -> None:
        model = _model().requires_grad_(True)
        found = _drawn(model, ALIKE)
        loss = (model(found.tokens_B_T).sum(-1) * found.logprobs_B_T).sum()
        loss.backward()
        assert model.lm_head.weight.grad is not None

    def test_weights_of_this_moment_are_used(self) -> None:
        model = _model()
        first = _drawn(model, ALIKE)
        model.model.layers[1].mlp.up_proj.weight.add_(0.5)
        assert not torch.equal(first.logprobs_B_T, _drawn(model, ALIKE).logprobs_B_T)
        model.model.layers[1].mlp.up_proj.weight.sub_(0.5)

    def test_a_bfloat16_model_is_sampled_too(self) -> None:
        found = _drawn(_model().to(torch.bfloat16), RAGGED)
        assert found.logprobs_B_T.dtype == torch.float32
        assert bool((found.logprobs_B_T[found.mask_B_T] < 0).all())
