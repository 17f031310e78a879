"""Adapters on Hugging Face models, in bfloat16, and under gradient checkpointing."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from tests.unit.training import fakes_adapters as fake
from torch import nn
from torch.utils.checkpoint import checkpoint

from unhack.training.adapters import AttachedAdapters, attach, proof_of_deployment


@pytest.fixture(params=fake.KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def hugging_face_model(dtype: torch.dtype = torch.float64) -> Any:
    """A tiny random Qwen3 of transformers."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(6)
    config = Qwen3Config(
        vocab_size=fake.VOCAB,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        intermediate_size=24,
        tie_word_embeddings=True,
    )
    return Qwen3ForCausalLM(config).to(dtype)


def adapted(kind: str, dtype: torch.dtype = torch.float64) -> tuple[Any, AttachedAdapters]:
    model = hugging_face_model(dtype)
    adapters = attach(model, fake.settings(kind), seed=4)
    fake.shake(adapters)
    return model, adapters


def checkpointed(model: Any, *, reentrant: bool) -> None:
    """Make every block of our Qwen3 recompute its forward in the backward pass."""
    embedding = model.model.embed_tokens
    embedding.register_forward_hook(lambda _, __, out: out.requires_grad_(True))
    for block in model.model.layers:

        def forward(*arguments: Any, plain: Any = block.forward, **named: Any) -> Any:
            return checkpoint(partial(plain, **named), *arguments, use_reentrant=reentrant)

        block.forward = forward


@pytest.mark.slow
class TestHuggingFace:
    def test_the_logits_stay_and_the_gradients_are_exact(self, kind: str) -> None:
        model, tokens_B_T = hugging_face_model(), fake.tokens()[0]
        with torch.no_grad():
            plain = model(tokens_B_T).logits
            adapters = attach(model, fake.settings(kind), seed=4)
            assert torch.equal(model(tokens_B_T).logits, plain)
        fake.shake(adapters)
        wanted = fake.by_loops(model, adapters, knob=fake.MIXED)
        found = fake.rows(fake.captured(model, adapters, knob=fake.MIXED))
        assert len(wanted) == 14
        assert max(fake.gap(found[name], wanted[name]) for name in wanted) < 1e-12

    def test_deployment_is_proven_there_too(self, kind: str) -> None:
        model, adapters = adapted(kind)
        adapters.deploy()
        proof = proof_of_deployment(
            model,
            adapters,
            base=hugging_face_model,
            settings=fake.settings(kind),
            tokens_B_T=fake.tokens()[0],
        )
        assert proof.logits == fake.BATCH * fake.LENGTH * fake.VOCAB

    def test_its_own_checkpointing_gives_the_same_gradients(self, kind: str) -> None:
        model, adapters = adapted(kind)
        wanted = fake.rows(fake.captured(model, adapters, knob=fake.MIXED))
        enable = getattr(model, "activation_checkpointing_enable", None)
        (enable or model.gradient_checkpointing_enable)()
        model.train()
        model.enable_input_require_grads()
        found = fake.rows(fake.captured(model, adapters, knob=fake.MIXED))
        assert all(torch.equal(found[name], wanted[name]) for name in wanted)


class TestCheckpointing:
    @pytest.mark.parametrize("reentrant", [True, False])
    @pytest.mark.parametrize("keep", [True, False])
    def test_capture_happens_on_the_recomputed_forward(
        self, kind: str, reentrant: bool, keep: bool
    ) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        wanted = fake.rows(fake.captured(model, adapters, knob=fake.MIXED, keep=keep))
        checkpointed(model, reentrant=reentrant)
        calls = 0

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        hook = model.get_submodule(adapters.names[0]).register_forward_pre_hook(count)
        found = fake.rows(fake.captured(model, adapters, knob=fake.MIXED, keep=keep))
        hook.remove()
        assert calls == 2
        assert all(torch.equal(found[name], wanted[name]) for name in wanted)

    def test_plain_training_recomputes_under_the_knob_of_its_forward(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        tokens_B_T, mask_B_T = fake.tokens()
        gradients: list[torch.Tensor] = []
        for recomputed in (False, True):
            if recomputed:
                checkpointed(model, reentrant=False)
            with adapters.knob(fake.MIXED):
                total = fake.losses(model, tokens_B_T, mask_B_T).sum()
            total.backward()
            parameters = adapters.parameters("quarantine").values()
            gradients.append(torch.cat([fake.flat(items) for items in parameters]))
            fake.clear(adapters)
        assert torch.allclose(gradients[0], gradients[1], atol=1e-12)


class TestPrecision:
    def test_a_bfloat16_base_keeps_wide_parameters_and_gradients(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.bfloat16)
        wide, wide_adapters = fake.adapted(kind)
        wide.load_state_dict({name: item.float() for name, item in model.state_dict().items()})
        if kind != "svd":
            wide_adapters.load({name: item.float() for name, item in adapters.state().items()})
        for keep in (True, False):
            found = fake.captured(model, adapters, knob=fake.MIXED, keep=keep)
            wanted = fake.captured(wide, wide_adapters, knob=fake.MIXED, keep=keep)
            for block in ("deployed", "quarantine"):
                sums = found.sums(torch.ones(fake.BATCH, 1, 1), block=block)
                truth = wanted.sums(torch.ones(fake.BATCH, 1, 1), block=block)
                assert adapters.names
                for name in adapters.names:
                    assert sums[name].dtype == torch.float32
                    cosine = nn.functional.cosine_similarity(sums[name], truth[name], dim=0)
                    assert cosine > 0.98
                adapters.assign({}, sums) if block == "quarantine" else adapters.assign(sums, {})
        for items in adapters.parameters("deployed").values():
            assert all(item.dtype == torch.float32 and item.grad is not None for item in items)

    def test_a_bfloat16_base_loses_nothing_in_routing(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.bfloat16)
        gradients = fake.captured(model, adapters, knob=fake.MIXED)
        for times in (1, fake.LENGTH):
            fractions = torch.rand(fake.BATCH, times, 1)
            kept = gradients.sums(1 - fractions, block="deployed")
            routed = gradients.sums(fractions, block="deployed")
            whole = gradients.sums(torch.ones_like(fractions), block="deployed")
            assert adapters.names
            for name in adapters.names:
                assert fake.gap(kept[name] + routed[name], whole[name]) < 1e-5

    def test_fresh_adapters_leave_bfloat16_logits_bit_for_bit(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.bfloat16, trained=False)
        with torch.no_grad(), adapters.knob(fake.MIXED):
            plain = fake.base(torch.bfloat16)(fake.tokens()[0])
            assert torch.equal(model(fake.tokens()[0]), plain)
            with adapters.off():
                assert torch.equal(model(fake.tokens()[0]), plain)

    def test_autocast_is_followed(self, kind: str) -> None:
        model, adapters = fake.adapted(kind)
        wanted = fake.rows(fake.captured(model, adapters, knob=fake.MIXED))

        def narrow(*arguments: Any) -> torch.Tensor:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return fake.losses(*arguments)

        found = fake.rows(fake.captured(model, adapters, knob=fake.MIXED, loss=narrow))
        assert adapters.names
        for name in adapters.names:
            cosine = nn.functional.cosine_similarity(found[name], wanted[name], dim=1)
            assert cosine.min() > 0.9
