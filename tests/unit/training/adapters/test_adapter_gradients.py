"""One backward pass gives every rollout's own gradient, and sums of them lose nothing."""

from __future__ import annotations

import pytest
import torch
from tests.unit.training import fakes_adapters as fake
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.adapters import site
from unhack.training.adapters.forms import Solid

KINDS = fake.KINDS
KNOBS: dict[str, bool | Tensor] = {"on": True, "off": False, "mixed": fake.MIXED}
EXACT = 1e-12


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


class TestRollouts:
    @pytest.mark.parametrize("knob", KNOBS)
    @pytest.mark.parametrize("keep", [True, False])
    def test_one_pass_gives_what_a_loop_over_rollouts_gives(
        self, kind: str, knob: str, keep: bool
    ) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        wanted = fake.by_loops(model, adapters, knob=KNOBS[knob])
        found = fake.rows(fake.captured(model, adapters, knob=KNOBS[knob], keep=keep))
        assert set(found) == set(adapters.names)
        assert max(fake.gap(found[name], wanted[name]) for name in wanted) < EXACT

    @pytest.mark.parametrize("knob", KNOBS)
    def test_float32_is_exact_to_a_millionth(self, kind: str, knob: str) -> None:
        model, adapters = fake.adapted(kind, trained=False)
        fake.shake(adapters, size=0.01)
        wanted = torch.cat([*fake.by_loops(model, adapters, knob=KNOBS[knob]).values()], dim=1)
        gradients = fake.captured(model, adapters, knob=KNOBS[knob])
        found = torch.cat([*fake.rows(gradients).values()], dim=1)
        assert ((found - wanted).norm(dim=1) / wanted.norm(dim=1)).max() < 1e-6

    def test_many_small_runs_of_the_knob_are_as_exact_as_few(
        self, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        folded = fake.rows(fake.captured(model, adapters, knob=fake.MIXED))
        monkeypatch.setattr(site, "MAX_RUNS", 0)
        factored = fake.rows(fake.captured(model, adapters, knob=fake.MIXED))
        assert max(fake.gap(factored[name], folded[name]) for name in folded) < EXACT

    def test_a_rollout_in_a_batch_has_the_gradient_it_has_alone(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        batched = fake.rows(fake.captured(model, adapters, knob=fake.MIXED))
        tokens_B_T, mask_B_T = fake.tokens()
        signs_B = torch.linspace(-1.0, 1.6, fake.BATCH, dtype=torch.float64)
        assert fake.BATCH
        for number in range(fake.BATCH):
            one = slice(number, number + 1)
            with adapters.capture(1) as gradients:
                with adapters.knob(fake.MIXED[one]):
                    loss = fake.losses(model, tokens_B_T[one], mask_B_T[one])
                (loss * -signs_B[number]).sum().backward()
            alone = gradients.sums(torch.ones(1, 1, 1), block="deployed")
            assert gradients.names
            for name in gradients.names:
                assert fake.gap(alone[name], batched[name][number]) < EXACT

    def test_the_probe_is_right_where_the_adapter_is_still_zero(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64, trained=False)
        wanted = fake.by_loops(model, adapters, knob=True)
        found = fake.rows(fake.captured(model, adapters, knob=True))
        assert max(fake.gap(found[name], wanted[name]) for name in wanted) < EXACT
        assert all(float(rows.abs().max()) > 0 for rows in found.values())

    def test_inner_products_and_norms_are_those_of_the_rows(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        rows = fake.by_loops(model, adapters, knob=fake.MIXED)
        direction = {name: torch.randn(rows[name].shape[1]).double() for name in adapters.names}
        for keep in (True, False):
            gradients = fake.captured(model, adapters, knob=fake.MIXED, keep=keep)
            dots_B_M, norms_B_M = gradients.dots_B_M(direction), gradients.norms_B_M()
            assert adapters.names
            for number, name in enumerate(adapters.names):
                assert torch.allclose(dots_B_M[:, number], rows[name] @ direction[name])
                assert torch.allclose(norms_B_M[:, number], rows[name].norm(dim=1))

    def test_differences_are_those_of_neighbours(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        rows = fake.by_loops(model, adapters, knob=False)
        for keep in (True, False):
            found = fake.captured(model, adapters, knob=False, keep=keep)
            squares_P_M, sums = found.differences()
            assert adapters.names
            for number, name in enumerate(adapters.names):
                apart = rows[name][0::2] - rows[name][1::2]
                assert torch.allclose(squares_P_M[:, number], apart.square().sum(1))
                assert torch.allclose(sums[name], apart.sum(0))

    def test_a_rank_beyond_the_length_takes_the_ghost_norm(self) -> None:
        assert fake.LENGTH * (64 + 16) < 64 * 16
        for kind in ("lora_frozen_b", "lora_split"):
            model, adapters = fake.adapted(kind, dtype=torch.float64, rank=64)
            rows = fake.by_loops(model, adapters, knob=True)
            for keep in (True, False):
                gradients = fake.captured(model, adapters, knob=True, keep=keep)
                norms_B_M = gradients.norms_B_M()
                direction = {name: torch.ones(item.shape[1]) for name, item in rows.items()}
                dots_B_M = gradients.dots_B_M(direction)
                for number, name in enumerate(adapters.names):
                    assert torch.allclose(norms_B_M[:, number], rows[name].norm(dim=1))
                    assert torch.allclose(dots_B_M[:, number], rows[name].sum(1), atol=1e-9)


class TestTokens:
    def test_tokens_add_up_to_their_rollout(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        gradients = fake.captured(model, adapters, knob=fake.MIXED)
        rows = fake.rows(gradients)
        direction = {name: torch.randn(item.shape[1]).double() for name, item in rows.items()}
        dots = gradients.dots_B_T_M(direction)
        assert dots.shape == (fake.BATCH, fake.LENGTH, len(adapters.names))
        assert torch.allclose(dots.sum(1), gradients.dots_B_M(direction))
        total = gradients.sums(torch.ones(fake.BATCH, fake.LENGTH, 1), block="deployed")
        for name in adapters.names:
            assert torch.allclose(total[name], rows[name].sum(0))

    def test_what_comes_after_the_end_has_no_gradient(self, kind: str) -> None:
        model, adapters = fake.adapted(kind)
        _, mask_B_T = fake.tokens()
        norms = fake.captured(model, adapters, knob=True).norms_B_T_M()
        ends_B = mask_B_T.int().cumsum(1).argmax(1)
        assert len(ends_B) == fake.BATCH
        for number, end in enumerate(ends_B):
            assert norms[number, end:].abs().max() == 0
            assert norms[number, :end].abs().max() > 0

    def test_a_single_token_has_the_norm_of_its_own_sum(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        gradients = fake.captured(model, adapters, knob=True)
        norms = gradients.norms_B_T_M()
        one = torch.zeros(fake.BATCH, fake.LENGTH, 1)
        one[2, 4] = 1.0
        alone = gradients.sums(one, block="deployed")
        assert adapters.names
        for number, name in enumerate(adapters.names):
            assert torch.allclose(alone[name].norm(), norms[2, 4, number])

    def test_without_tokens_asking_for_them_is_an_error(self, kind: str) -> None:
        model, adapters = fake.adapted(kind)
        gradients = fake.captured(model, adapters, knob=True, keep=False)
        with pytest.raises(UsageError, match="tokens=True"):
            gradients.norms_B_T_M()
        with pytest.raises(UsageError, match="tokens=True"):
            gradients.sums(torch.ones(fake.BATCH, fake.LENGTH, 1), block="deployed")

    @pytest.mark.parametrize("block", ["deployed", "quarantine"])
    def test_without_tokens_only_rows_are_held(self, kind: str, block: str) -> None:
        model, adapters = fake.adapted(kind)
        record = fake.captured(model, adapters, knob=fake.MIXED, keep=False)._record
        assert all(isinstance(form, Solid) for form in getattr(record, block).values())


class TestRouting:
    @pytest.mark.parametrize("shape", ["rollout", "module", "token", "both"])
    def test_what_is_routed_and_what_is_kept_make_the_plain_gradient(
        self, kind: str, shape: str
    ) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        gradients = fake.captured(model, adapters, knob=fake.MIXED)
        times = fake.LENGTH if shape in {"token", "both"} else 1
        modules = len(adapters.names) if shape in {"module", "both"} else 1
        fractions = torch.rand(fake.BATCH, times, modules).double()
        plain = fake.by_loops(model, adapters, knob=fake.MIXED)
        kept = gradients.sums(1 - fractions, block="deployed")
        routed = gradients.sums(fractions, block="deployed")
        assert adapters.names
        for name in adapters.names:
            assert torch.allclose(kept[name] + routed[name], plain[name].sum(0), atol=1e-10)
        if kind != "lora_split":
            shared = gradients.sums(fractions, block="quarantine")
            assert all(torch.equal(shared[name], routed[name]) for name in adapters.names)

    def test_rollouts_with_the_knob_on_teach_the_quarantine_as_autograd_does(
        self, kind: str
    ) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        wanted = fake.by_loops(model, adapters, knob=fake.MIXED, block="quarantine")
        for keep in (True, False):
            gradients = fake.captured(model, adapters, knob=fake.MIXED, keep=keep)
            found = fake.rows(gradients, block="quarantine")
            assert adapters.names
            for name in adapters.names:
                assert fake.gap(found[name][fake.MIXED], wanted[name][fake.MIXED]) < EXACT
                assert wanted[name][~fake.MIXED].abs().max() == 0
                assert found[name][~fake.MIXED].abs().max() > 0

    def test_a_split_quarantine_that_was_off_gets_the_gradient_it_would_have_at_its_start(
        self,
    ) -> None:
        model, adapters = fake.adapted("lora_split", dtype=torch.float64, trained=False)
        wanted = fake.by_loops(model, adapters, knob=True, block="quarantine")
        for knob in (False, fake.MIXED):
            found = fake.rows(fake.captured(model, adapters, knob=knob), block="quarantine")
            assert adapters.names
            for name in adapters.names:
                assert fake.gap(found[name], wanted[name]) < EXACT

    def test_given_gradients_are_those_of_autograd(self, kind: str) -> None:
        model, adapters = fake.adapted(kind)
        gradients = fake.captured(model, adapters, knob=True)
        ones = torch.ones(fake.BATCH, 1, 1)
        for _ in range(2):
            adapters.assign(
                gradients.sums(ones, block="deployed"), gradients.sums(ones, block="quarantine")
            )
        found = {
            (block, name): fake.flat(parameters)
            for block in ("deployed", "quarantine")
            for name, parameters in adapters.parameters(block).items()
        }
        fake.clear(adapters)
        with adapters.knob(True):
            (fake.losses(model, *fake.tokens()).sum() * 2).backward()
        for block in ("deployed", "quarantine"):
            every = adapters.parameters(block)
            assert every
            for name, parameters in every.items():
                assert fake.gap(found[block, name], fake.flat(parameters)) < 1e-5

    def test_weights_that_fit_nothing_are_an_error(self) -> None:
        model, adapters = fake.adapted("svd")
        gradients = fake.captured(model, adapters, knob=True)
        with pytest.raises(UsageError, match=r"\[B, 1 or T, 1 or M\]"):
            gradients.sums(torch.ones(fake.BATCH), block="deployed")
        with pytest.raises(UsageError, match="no deployed block"):
            adapters.assign({"nowhere": torch.ones(3)}, {})


class TestMisuse:
    def test_gradients_before_the_backward_pass_are_an_error(self) -> None:
        _, adapters = fake.adapted("svd")
        with adapters.capture(fake.BATCH) as gradients:
            pass
        with pytest.raises(UsageError, match="no backward pass"):
            gradients.norms_B_M()

    def test_two_backward_passes_in_one_capture_are_an_error(self) -> None:
        model, adapters = fake.adapted("svd")
        with adapters.capture(fake.BATCH):
            fake.losses(model, *fake.tokens()).sum().backward()
            with pytest.raises(UsageError, match="second backward pass"):
                fake.losses(model, *fake.tokens()).sum().backward()

    def test_a_batch_of_another_size_is_an_error(self) -> None:
        model, adapters = fake.adapted("svd")
        tokens_B_T, _ = fake.tokens()
        with adapters.capture(2), pytest.raises(UsageError, match="2 rollouts"):
            model(tokens_B_T)
        with adapters.knob(fake.MIXED[:3]), pytest.raises(UsageError, match="3 rollouts"):
            model(tokens_B_T)

    def test_the_reference_may_be_computed_inside_a_capture(self) -> None:
        model, adapters = fake.adapted("lora_split")
        tokens_B_T, mask_B_T = fake.tokens()
        wanted = fake.rows(fake.captured(model, adapters, knob=True))
        with adapters.capture(fake.BATCH) as gradients:
            with adapters.knob(True):
                total = fake.losses(model, tokens_B_T, mask_B_T).sum()
            with adapters.off(), torch.no_grad():
                model(tokens_B_T)
            total.backward()
        found = fake.rows(gradients)
        assert all(torch.equal(found[name], wanted[name]) for name in wanted)
