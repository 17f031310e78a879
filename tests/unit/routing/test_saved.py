"""What is written is what was trained: merged weights, folders, refusals where it would be lost."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tests.unit.routing.models import VOCAB, SmallModel, gate, made
from tests.unit.routing.test_quarantine import KINDS, bytes_model, shaken
from torch import Tensor, nn

from unhack.core.errors import UsageError
from unhack.routing import Quarantine, Router, attach

TOKENS = torch.arange(12).view(2, 6)
FAMILIES = ["llama", "tied", "gpt2", "bfloat16"]


def transformer(family: str) -> Any:
    """A tiny model of transformers, the same at each call."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    if family == "gpt2":
        settings = transformers.GPT2Config(vocab_size=32, n_embd=16, n_layer=1, n_head=2)
        return transformers.GPT2LMHeadModel(settings).eval()
    settings = transformers.LlamaConfig(
        vocab_size=32, hidden_size=16, intermediate_size=24, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, tie_word_embeddings=family == "tied",
        attention_bias=family == "tied",
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(settings).eval()
    return model.bfloat16() if family == "bfloat16" else model


def trained(family: str, **named: Any) -> Quarantine:
    return shaken(attach(transformer(family), rank=3, **named))


@torch.no_grad()
def deployed_logits(quarantine: Quarantine) -> Tensor:
    with quarantine.knob(False):
        return quarantine.model(TOKENS).logits


@torch.no_grad()
def loaded_logits(folder: Path) -> Tensor:
    transformers = pytest.importorskip("transformers")
    loaded, told = transformers.AutoModelForCausalLM.from_pretrained(
        folder, output_loading_info=True
    )
    assert not any(told.values()), told
    return loaded.eval()(TOKENS).logits


@pytest.mark.parametrize("deployed", [True, False])
@pytest.mark.parametrize(("family", "kind"), [
    *((family, "lora_frozen_b") for family in FAMILIES), ("llama", "lora_split"),
    ("llama", "svd"), ("gpt2", "lora_split"),
])  # fmt: skip
def test_a_saved_folder_loads_without_unhack_as_the_deployed_model(
    family: str, kind: Any, deployed: bool, tmp_path: Path
) -> None:
    quarantine = trained(family, kind=kind)
    wanted, base = deployed_logits(quarantine), transformer(family)(TOKENS).logits.detach()
    if deployed:
        quarantine.deploy()
    state = {name: item.clone() for name, item in quarantine.model.state_dict().items()}
    quarantine.save(tmp_path / "out")
    close = {"rtol": 0.1, "atol": 0.1} if family == "bfloat16" else {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(loaded_logits(tmp_path / "out"), wanted, **close)
    assert float((wanted - base).abs().max()) > 0.1
    names = set(load_file(tmp_path / "out" / "model.safetensors"))
    assert names <= set(transformer(family).state_dict())
    after = quarantine.model.state_dict()
    assert all(torch.equal(after[name], item) for name, item in state.items())
    assert torch.equal(deployed_logits(quarantine), wanted)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_merged_model_is_a_plain_one_with_the_same_logits(family: str, tmp_path: Path) -> None:
    quarantine = trained(family)
    wanted = deployed_logits(quarantine)
    quarantine.merge()
    model: Any = quarantine.model
    assert {type(item) for item in model.modules()} == {
        type(item) for item in transformer(family).modules()
    }
    assert set(model.state_dict()) == set(transformer(family).state_dict())
    close = {"rtol": 0.1, "atol": 0.1} if family == "bfloat16" else {"rtol": 1e-4, "atol": 1e-5}
    with torch.no_grad():
        torch.testing.assert_close(model(TOKENS).logits, wanted, **close)
        found = model(TOKENS).logits
    model.save_pretrained(tmp_path / "one")
    quarantine.save(tmp_path / "two")
    for name in ("one", "two"):
        torch.testing.assert_close(loaded_logits(tmp_path / name), found, **close)
    quarantine.merge()
    attach(model, rank=2)


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_a_model_of_ones_own_merges_and_keeps_its_biases_and_mode(kind: Any) -> None:
    quarantine = made(kind)
    quarantine.model.train()
    with quarantine.knob(False):
        wanted = quarantine.model(TOKENS % VOCAB)
    quarantine.merge()
    fresh = SmallModel().double()
    fresh.load_state_dict(quarantine.model.state_dict())
    torch.testing.assert_close(fresh(TOKENS % VOCAB), wanted)
    torch.testing.assert_close(quarantine.model(TOKENS % VOCAB), wanted)
    assert all(item.training for item in quarantine.model.modules())


@torch.no_grad()
def test_a_map_at_two_places_is_merged_once() -> None:
    torch.manual_seed(1)
    model = SmallModel().double()
    model.again = model.up  # type: ignore[assignment]
    quarantine = shaken(attach(model, rank=2))
    with quarantine.knob(False):
        wanted = model(TOKENS % VOCAB)
    quarantine.merge()
    assert model.again is model.up
    assert type(model.up) is nn.Linear
    torch.testing.assert_close(model(TOKENS % VOCAB), wanted)


class TestRefusals:
    def test_a_deployed_model_does_not_save_its_base_for_it(self, tmp_path: Path) -> None:
        quarantine = trained("llama")
        state = quarantine.state()
        quarantine.deploy()
        for model in (quarantine.model, copy.deepcopy(quarantine.model)):
            with pytest.raises(UsageError, match=r"without what was learnt: quarantine\.save"):
                model.save_pretrained(tmp_path / "out")  # type: ignore[operator]
        assert not (tmp_path / "out").exists()
        again = attach(transformer("llama"), rank=3)
        again.load({name: item for name, item in state.items() if ".quarantine." not in name})
        with pytest.raises(UsageError, match="without what was learnt"):
            again.model.save_pretrained(tmp_path / "out")  # type: ignore[operator]

    def test_quantised_and_tied_weights_stay_and_the_quarantine_with_them(self) -> None:
        for quarantine, words in (
            (shaken(attach(bytes_model(), rank=2)), "ByteLinear keeps its weight in a form"),
            (shaken(attach(transformer("tied"), rank=2, targets=["lm_head"])), "another module"),
        ):
            state = {name: item.clone() for name, item in quarantine.state().items()}
            with pytest.raises(UsageError, match=words):
                quarantine.merge()
            assert quarantine.adapters.quarantined
            assert all(torch.equal(quarantine.state()[name], one) for name, one in state.items())

    def test_a_model_of_ones_own_has_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"merge\(\), and save model\.state_dict"):
            made().save(tmp_path / "out")

    def test_a_merged_model_is_not_routed_or_exported(self, tmp_path: Path) -> None:
        quarantine = made()
        quarantine.merge()
        assert quarantine.device.type == "cpu"
        with pytest.raises(UsageError, match="the quarantine is deleted"):
            Router(quarantine, gate())
        with pytest.raises(UsageError, match="what was kept is in the weights"):
            quarantine.to_peft(tmp_path / "out")

    def test_nothing_is_merged_while_it_is_sampled(self) -> None:
        quarantine = made()
        with quarantine.sampling(torch.tensor([True, True])), pytest.raises(UsageError):
            quarantine.merge()
        assert quarantine.adapters.quarantined
