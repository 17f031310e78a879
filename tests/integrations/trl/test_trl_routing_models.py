"""Routing on models of other families, and on what PEFT may have made of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.routing import Quarantine, Router, TextPair, attach, hack_gate

pytest.importorskip("peft")

import transformers
from peft import LoraConfig, PeftModel, PromptTuningConfig, get_peft_model

from .routed_run import shaken

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

VOCAB = 32
SIZES = {
    "vocab_size": VOCAB, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 64,
}  # fmt: skip
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
FAMILIES: dict[str, dict[str, Any]] = {
    "Falcon": {
        "vocab_size": VOCAB, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    },
    "GPT2": {"vocab_size": VOCAB, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64},
    "Gemma2": {**SIZES, "head_dim": 8},
    "Llama": {**SIZES, "attention_bias": True, "tie_word_embeddings": True},
    "Llama4": {**SIZES, "head_dim": 8, "intermediate_size_mlp": 32, "num_local_experts": 2},
    "Mamba": {"vocab_size": VOCAB, "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4},
    "Mamba2": {
        "vocab_size": VOCAB, "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4,
        "num_heads": 4, "head_dim": 8, "n_groups": 1, "chunk_size": 8,
    },
    "Mixtral": {**SIZES, "num_local_experts": 4},
    "OPT": {
        "vocab_size": VOCAB, "hidden_size": 16, "ffn_dim": 32, "num_hidden_layers": 2,
        "num_attention_heads": 2, "max_position_embeddings": 64, "word_embed_proj_dim": 8,
        "do_layer_norm_before": False,
    },
    "Qwen2Moe": {**SIZES, **EXPERTS, "shared_expert_intermediate_size": 16},
}  # fmt: skip
SPECIAL = {
    "Llama4": ("Llama4TextConfig", "Llama4ForCausalLM"),
    "GPT2": ("GPT2Config", "GPT2LMHeadModel"),
}
PAIRS = [TextPair([5, 6, 7], [9, 9], [8, 6]), TextPair([5, 7], [9, 4], [7, 4])]
TOKENS = torch.randint(1, VOCAB, (4, 9), generator=torch.Generator().manual_seed(1))
KNOB = torch.tensor([False, True, True, False])


def model_of(family: str) -> Any:
    """A random model of a family in double precision, the same at each call."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    names = SPECIAL.get(family, (f"{family}Config", f"{family}ForCausalLM"))
    settings, kind = (getattr(transformers, name) for name in names)
    model = kind(settings(**FAMILIES[family])).double()
    if hasattr(model, "set_experts_implementation"):
        model.set_experts_implementation("eager")  # the others know no float64
    return model.eval()


def logits(model: Any) -> Tensor:
    return model(input_ids=TOKENS, use_cache=False).logits


def moved(quarantine: Quarantine) -> Quarantine:
    """Both blocks away from their start, but for maps whose weight alone is read (Mamba)."""
    idle = [item for name, site in quarantine.adapters.sites.items() if name.endswith("dt_proj")
            for item in site.parameters()]  # fmt: skip
    before = [item.detach().clone() for item in idle]
    shaken(quarantine)
    for item, value in zip(idle, before, strict=True):
        item.data = value
    return quarantine


def shifted(model: Any) -> Any:
    """A model of PEFT whose adapters are away from their start."""
    generator = torch.Generator().manual_seed(3)
    for name, item in model.named_parameters():
        if "lora_" in name or item.requires_grad:
            item.data += 0.1 * torch.randn(item.shape, generator=generator, dtype=item.dtype)
    return model.double().eval()


def losses_B(model: Any) -> Tensor:
    logprobs = logits(model)[:, :-1].log_softmax(-1)
    return -logprobs.gather(2, TOKENS[:, 1:, None]).squeeze(2).sum(1)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_of_any_family_is_routed_deployed_and_exported(family: str, tmp_path: Path) -> None:
    model = model_of(family)
    before = logits(model).detach()
    quarantine = attach(model, rank=4)
    assert torch.equal(logits(model), before)
    moved(quarantine)
    states: list[Tensor] = []
    with torch.no_grad():
        for state in (False, True):
            with quarantine.knob(state):
                states.append(logits(model))
        wanted = torch.where(KNOB[:, None, None], states[1], states[0])
        for knob_B in (KNOB, KNOB.sort().values, KNOB & False, KNOB | True):
            with quarantine.sampling(knob_B):
                mixed = torch.where(knob_B[:, None, None], states[1], states[0])
                torch.testing.assert_close(logits(model), mixed, rtol=1e-8, atol=1e-8)
        with quarantine.knob(KNOB):
            torch.testing.assert_close(logits(model), wanted, rtol=1e-8, atol=1e-8)
    assert float((states[1] - states[0]).abs().max()) > 1e-3

    advantages_B = torch.tensor([1.0, -0.5, 0.7, -0.2]).double()
    router = Router(quarantine, hack_gate(PAIRS, share=0.0, recentre=False))
    with router.record(advantages_B, KNOB):
        (advantages_B * losses_B(model)).mean().backward()
    router.route()
    kept = [item for items in quarantine.adapters.parameters("deployed").values() for item in items]
    found = [item.grad for item in kept]
    with quarantine.knob(KNOB):
        loss = (advantages_B * losses_B(model)).mean()
    exact = torch.autograd.grad(loss, kept, materialize_grads=True)
    for one, other in zip(found, exact, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-8)

    quarantine.deploy()
    assert torch.equal(logits(model), states[0])
    loaded = PeftModel.from_pretrained(model_of(family), quarantine.to_peft(tmp_path)).double()
    torch.testing.assert_close(logits(loaded.eval()), states[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", ["GPT2", "OPT"])
def test_a_saved_model_loads_as_its_base(family: str, tmp_path: Path) -> None:
    model = model_of(family)
    before = logits(model).detach()
    moved(attach(model, rank=2))
    model.save_pretrained(tmp_path)
    loaded = type(model).from_pretrained(tmp_path, dtype=torch.float64).eval()
    assert torch.equal(logits(loaded), before)


def test_maps_that_peft_would_leave_out_are_named(tmp_path: Path) -> None:
    family = "Qwen3Next"
    FAMILIES[family] = {
        **SIZES, **EXPERTS, "head_dim": 8, "shared_expert_intermediate_size": 16,
        "linear_num_value_heads": 2, "linear_num_key_heads": 2, "linear_key_head_dim": 8,
        "linear_value_head_dim": 8, "layer_types": ["linear_attention", "full_attention"],
    }  # fmt: skip
    try:
        quarantine = attach(model_of(family), rank=2)
        with pytest.warns(UserWarning, match=r"without 6 of them .*mlp.shared_expert.down_proj"):
            quarantine.to_peft(tmp_path / "all")
        quarantine = moved(attach(model_of(family), rank=2, targets=["q_proj", "out_proj"]))
        quarantine.deploy()
        loaded = PeftModel.from_pretrained(
            model_of(family), quarantine.to_peft(tmp_path / "some")
        ).double()
    finally:
        del FAMILIES[family]
    wanted = logits(quarantine.model)
    torch.testing.assert_close(logits(loaded.eval()), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("settings", [
    {}, {"use_rslora": True}, {"rank_pattern": {"q_proj": 5}}, {"layers_to_transform": [1]},
    {"bias": "lora_only", "target_modules": ["up_proj"]},
])  # fmt: skip
def test_plain_loras_of_every_setting_are_in_the_export(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    lora = LoraConfig(**{"r": 3, "target_modules": ["q_proj", "down_proj"], **settings})
    wrapped = shifted(get_peft_model(model_of("Gemma2"), lora))
    quarantine = moved(attach(wrapped, rank=2))
    quarantine.deploy()
    loaded = PeftModel.from_pretrained(model_of("Gemma2"), quarantine.to_peft(tmp_path)).double()
    torch.testing.assert_close(logits(loaded.eval()), logits(wrapped), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("settings", [
    LoraConfig(r=3, target_modules=["q_proj"], use_dora=True),
    LoraConfig(r=3, target_modules=["q_proj"], lora_bias=True),
    LoraConfig(r=3, target_modules=["q_proj"], bias="lora_only"),
    LoraConfig(r=3, target_modules=["q_proj"], modules_to_save=["lm_head"]),
    LoraConfig(r=3, target_modules=["q_proj", "embed_tokens"]),
    PromptTuningConfig(num_virtual_tokens=2, task_type="CAUSAL_LM"),
])  # fmt: skip
def test_an_adapter_that_is_no_plain_lora_trains_and_is_refused_by_the_export(
    settings: Any, tmp_path: Path
) -> None:
    wrapped = shifted(get_peft_model(model_of("Llama"), settings))
    before = logits(wrapped).detach()
    quarantine = moved(attach(wrapped, rank=2))
    assert not any("lm_head" in name for name in quarantine.adapters.names)
    with torch.no_grad():
        with quarantine.base():
            assert torch.equal(logits(wrapped), before)
        for state in (False, True):
            with quarantine.knob(state):
                wanted = logits(wrapped)
            with quarantine.sampling(torch.full((4,), state)):
                torch.testing.assert_close(logits(wrapped), wanted, rtol=1e-8, atol=1e-8)
    with pytest.raises(UsageError, match=r"keep `quarantine.state\(\)`"):
        quarantine.to_peft(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_loras_on_fused_experts_are_refused_by_the_export(tmp_path: Path) -> None:
    lora = LoraConfig(
        r=2, target_modules=["q_proj"], target_parameters=["mlp.experts.gate_up_proj"]
    )
    quarantine = attach(get_peft_model(model_of("Mixtral"), lora), rank=2)
    with pytest.raises(UsageError, match="experts: only LoRA layers of linear maps"):
        quarantine.to_peft(tmp_path / "out")
