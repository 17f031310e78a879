"""Blocks begin without effect, obey the knob, fold into the weights and can be deleted."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.unit.training import fakes_adapters as fake

from unhack.core.errors import UsageError
from unhack.training.adapters import DeploymentError, attach, proof_of_deployment
from unhack.training.config.settings import AdapterSettings

KINDS = fake.KINDS


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def plain() -> torch.Tensor:
    """Logits of the base."""
    with torch.no_grad():
        return fake.base()(fake.tokens()[0])


class TestStart:
    @pytest.mark.parametrize("knob", ["on", "off", "mixed"])
    def test_fresh_adapters_leave_the_logits_bit_for_bit(
        self, kind: str, knob: str, plain: torch.Tensor
    ) -> None:
        model, adapters = fake.adapted(kind, trained=False)
        state = {"on": True, "off": False, "mixed": fake.MIXED}[knob]
        with adapters.knob(state):
            assert torch.equal(model(fake.tokens()[0]), plain)

    def test_fresh_adapters_merge_to_the_same_weights(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, trained=False)
        before = {name: item.clone() for name, item in fake.base().named_parameters()}
        with adapters.merge(quarantine=True):
            every = [*model.named_parameters()]
            assert every
            for name, item in every:
                assert name not in before or torch.equal(item, before[name])

    def test_only_blocks_are_trained(self, kind: str) -> None:
        model, adapters = fake.adapted(kind)
        blocks = {
            id(item)
            for block in ("deployed", "quarantine")
            for items in adapters.parameters(block).values()
            for item in items
        }
        assert {id(item) for item in model.parameters() if item.requires_grad} == blocks
        assert len(adapters.names) == 14

    def test_a_seed_draws_the_same_whatever_else_is_drawn(self) -> None:
        torch.manual_seed(1)
        one = fake.adapted("lora_split", trained=False)[1].state()
        torch.manual_seed(2)
        other = fake.adapted("lora_split", trained=False)[1].state()
        third = attach(fake.base(), fake.settings("lora_split"), seed=12).state()
        assert all(torch.equal(one[name], other[name]) for name in one)
        assert not all(torch.equal(one[name], third[name]) for name in one)

    def test_targets_that_no_module_has_are_an_error_that_names_what_there_is(self) -> None:
        settings = AdapterSettings(targets=("query_key_value",))
        with pytest.raises(UsageError, match="down_proj, gate_proj, k_proj, lm_head"):
            attach(fake.base(), settings, seed=0)

    def test_only_the_named_targets_are_adapted(self) -> None:
        adapters = attach(fake.base(), AdapterSettings(targets=("o_proj",)), seed=0)
        assert adapters.names == tuple(f"model.layers.{n}.self_attn.o_proj" for n in (0, 1))

    def test_attached_adapters_satisfy_the_interface(self) -> None:
        adapters = fake.adapted("svd")[1]
        assert adapters.kind == "svd"


class TestKnob:
    def test_a_mixed_batch_has_each_rollouts_own_state(self, kind: str) -> None:
        model, adapters = fake.adapted(kind)
        tokens_B_T, _ = fake.tokens()
        logits = {}
        for name, state in (("on", True), ("off", False), ("mixed", fake.MIXED)):
            with adapters.knob(state), torch.no_grad():
                logits[name] = model(tokens_B_T)
        wanted = torch.where(fake.MIXED[:, None, None], logits["on"], logits["off"])
        assert torch.allclose(logits["mixed"], wanted, atol=1e-5)
        assert float((logits["on"] - logits["off"]).abs().max()) > 1e-2

    def test_what_others_do_in_the_batch_does_not_bleed(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        tokens_B_T, _ = fake.tokens()
        with torch.no_grad():
            with adapters.knob(fake.MIXED):
                batched = model(tokens_B_T)
            assert fake.BATCH
            for number in range(fake.BATCH):
                one = slice(number, number + 1)
                with adapters.knob(fake.MIXED[one]):
                    assert torch.allclose(model(tokens_B_T[one]), batched[one], atol=1e-12)

    def test_off_is_the_base_bit_for_bit(self, kind: str, plain: torch.Tensor) -> None:
        model, adapters = fake.adapted(kind)
        with adapters.off():
            assert torch.equal(model(fake.tokens()[0]), plain)
        assert not torch.allclose(model(fake.tokens()[0]), plain)

    def test_a_captured_forward_gives_the_logits_of_a_plain_one(self, kind: str) -> None:
        model, adapters = fake.adapted(kind)
        tokens_B_T, _ = fake.tokens()
        for state in (True, False, fake.MIXED):
            with adapters.knob(state):
                wanted = model(tokens_B_T)
                with adapters.capture(fake.BATCH):
                    assert torch.allclose(model(tokens_B_T), wanted, atol=1e-5)


class TestMerging:
    @pytest.mark.parametrize("quarantine", [True, False])
    def test_merged_weights_give_the_same_forward(self, kind: str, quarantine: bool) -> None:
        model, adapters = fake.adapted(kind)
        tokens_B_T, _ = fake.tokens()
        with torch.no_grad():
            with adapters.knob(quarantine):
                wanted = model(tokens_B_T)
            with adapters.merge(quarantine=quarantine):
                assert torch.allclose(model(tokens_B_T), wanted, atol=1e-5)

    def test_leaving_restores_every_weight_bit_for_bit_even_after_an_error(self, kind: str) -> None:
        model, adapters = fake.adapted(kind)
        before = {name: item.clone() for name, item in model.state_dict().items()}
        addresses = [item.data_ptr() for item in model.parameters()]
        with pytest.raises(ZeroDivisionError), adapters.merge(quarantine=True):
            raise ZeroDivisionError
        for name, item in model.state_dict().items():
            assert torch.equal(item, before[name])
        assert [item.data_ptr() for item in model.parameters()] == addresses

    def test_the_knob_cannot_be_turned_in_merged_weights(self) -> None:
        _, adapters = fake.adapted("svd")
        with adapters.merge(quarantine=True):
            for change in (
                lambda: adapters.knob(False),
                adapters.off,
                lambda: adapters.merge(quarantine=False),
                lambda: adapters.capture(fake.BATCH),
            ):
                with pytest.raises(UsageError), change():
                    pass
            with pytest.raises(UsageError, match="neither while merged"):
                adapters.deploy()


class TestStates:
    def test_a_state_through_a_file_restores_the_logits_bit_for_bit(
        self, kind: str, tmp_path: Path
    ) -> None:
        model, adapters = fake.adapted(kind)
        save_file(adapters.state(), tmp_path / "a.safetensors")
        other = fake.base()
        loaded = attach(other, fake.settings(kind), seed=99)
        loaded.load(load_file(tmp_path / "a.safetensors"))
        for state in (True, False):
            with adapters.knob(state), loaded.knob(state):
                assert torch.equal(other(fake.tokens()[0]), model(fake.tokens()[0]))

    def test_states_of_other_adapters_are_refused(self, kind: str) -> None:
        _, adapters = fake.adapted(kind)
        state = adapters.state()
        with pytest.raises(UsageError, match="lacks"):
            adapters.load({name: state[name] for name in list(state)[1:]})
        with pytest.raises(UsageError, match="it has"):
            adapters.load({**state, "more": torch.zeros(1)})
        if kind != "svd":
            other = attach(fake.base(), fake.settings(kind, rank=4), seed=0)
            with pytest.raises(UsageError, match="for"):
                other.load(state)

    def test_gains_of_another_base_are_refused(self) -> None:
        _, adapters = fake.adapted("svd")
        state = {
            name: item * 1.1 if name.endswith("singular") else item
            for name, item in adapters.state().items()
        }
        with pytest.raises(UsageError, match="another base"):
            adapters.load(state)

    def test_a_trained_step_changes_the_state_it_gave(self) -> None:
        _, adapters = fake.adapted("svd")
        assert not any(item.requires_grad for item in adapters.state().values())


class TestDeployment:
    def test_a_deployed_model_is_proven_clean(self, kind: str) -> None:
        model, adapters = fake.adapted(kind)
        with adapters.knob(False), torch.no_grad():
            wanted = model(fake.tokens()[0])
        adapters.deploy()
        proof = proof_of_deployment(
            model,
            adapters,
            base=fake.base,
            settings=fake.settings(kind),
            tokens_B_T=fake.tokens()[0],
        )
        assert proof.modules == 14
        assert proof.numbers == sum(item.numel() for item in adapters.state().values())
        assert torch.equal(model(fake.tokens()[0]), wanted)
        assert adapters.parameters("quarantine") == {}
        assert not any("quarantine" in name for name in model.state_dict())
        assert not any("quarantine" in name for name, _ in model.named_buffers())

    @pytest.mark.parametrize("leftover", ["module", "parameter", "weights", "nothing deleted"])
    def test_what_is_left_behind_is_found(self, kind: str, leftover: str) -> None:
        model, adapters = fake.adapted(kind)
        sites = [model.get_submodule(name) for name in adapters.names]
        hidden = sites[3].quarantine
        if leftover == "weights":
            with adapters.merge(quarantine=True):
                copy = sites[3].weight.clone()
            sites[3].weight.data.copy_(copy)
        if leftover != "nothing deleted":
            adapters.deploy()
        if leftover == "module":
            sites[3].innocent = hidden
        if leftover == "parameter":
            model.register_buffer("quarantine", torch.zeros(2))
        with pytest.raises(DeploymentError, match=r"left in|logits differ"):
            proof_of_deployment(
                model,
                adapters,
                base=fake.base,
                settings=fake.settings(kind),
                tokens_B_T=fake.tokens()[0],
            )

    def test_a_deleted_quarantine_cannot_be_used(self, kind: str) -> None:
        model, adapters = fake.adapted(kind)
        adapters.deploy()
        with pytest.raises(UsageError, match="deleted"), adapters.knob(True):
            pass
        with pytest.raises(UsageError, match="deleted"), adapters.merge(quarantine=True):
            pass
        gradients = fake.captured(model, adapters, knob=False)
        with pytest.raises(UsageError, match="deleted"):
            gradients.sums(torch.ones(fake.BATCH, 1, 1), block="quarantine")

    def test_a_deployed_model_can_be_trained_on(self, kind: str) -> None:
        model, adapters = fake.adapted(kind, dtype=torch.float64)
        adapters.deploy()
        wanted = fake.by_loops(model, adapters, knob=False)
        found = fake.rows(fake.captured(model, adapters, knob=False))
        assert max(fake.gap(found[name], wanted[name]) for name in wanted) < 1e-12

    def test_loading_what_was_deployed_deletes_the_quarantine(self, kind: str) -> None:
        model, adapters = fake.adapted(kind)
        adapters.deploy()
        other = fake.base()
        loaded = attach(other, fake.settings(kind), seed=11)
        loaded.load(adapters.state())
        assert not loaded.quarantined
        assert torch.equal(other(fake.tokens()[0]), model(fake.tokens()[0]))
        fresh = attach(fake.base(), fake.settings(kind), seed=11, quarantine=False)
        with pytest.raises(UsageError, match="more"):
            fresh.load(fake.adapted(kind)[1].state())
