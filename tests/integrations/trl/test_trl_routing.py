"""Updates of TRL's own trainers, routed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from unhack.core.errors import UsageError

pytest.importorskip("trl")

from trl import GRPOTrainer, RLOOTrainer

from unhack.routing import Router, attach, hack_gate

from . import routed_run as run

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def largest_gap(left: dict[str, Any], right: dict[str, Any]) -> float:
    assert left.keys() == right.keys()
    return max(float((left[name] - right[name]).abs().max()) for name in left)


def buffered(trainer: Any, inputs: list[dict[str, Any]]) -> dict[str, Any]:
    """A scored batch as the trainer's loss takes it."""
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    return trainer._generate_and_score_completions(inputs)


@pytest.mark.parametrize("loss", ["grpo", "dapo", "dr_grpo", "cispo"])
def test_the_loss_of_unrouted_rollouts_is_that_of_trl(
    loss: str, model: Path, tmp_path: Path
) -> None:
    """Same batch, same weights: with nothing routed, loss and gradients are TRL's own."""
    quarantine = run.shaken(run.attached(model))
    settings = run.config(tmp_path, loss_type=loss)
    trainer = run.trainer(quarantine, model, settings, gate=run.hack_gate(run.PAIRS, share=0.0))
    batch = buffered(trainer, [row for row in run.ROWS[:2] for _ in range(4)])
    with quarantine.knob(batch["quarantine"]):
        plain = GRPOTrainer._compute_loss(trainer, trainer.model, batch)
        plain.backward()
    kept = quarantine.adapters.parameters("deployed")
    wanted = {name: items[0].grad.clone() for name, items in kept.items()}
    trainer.model.zero_grad()
    with trainer._recording:
        routed = trainer._compute_loss(trainer.model, batch)
        routed.backward()
    trainer.router.route(0)
    found = {name: items[0].grad for name, items in kept.items()}
    assert float(routed) == pytest.approx(float(plain), abs=1e-6)
    assert max(float(item.abs().max()) for item in wanted.values()) > 1e-4
    assert largest_gap(found, wanted) < 1e-6


@pytest.mark.parametrize("kind", [GRPOTrainer, RLOOTrainer])
def test_both_blocks_train_and_nothing_else_does(kind: Any, model: Path, tmp_path: Path) -> None:
    quarantine = run.attached(model)
    before = {name: item.clone() for name, item in quarantine.model.named_parameters()}
    started = run.blocks(quarantine)
    named = {"beta": 0.0} if kind is RLOOTrainer else {}
    settings = run.config(tmp_path, max_steps=3, **named)
    if kind is RLOOTrainer:
        from trl import RLOOConfig

        taken = {name: getattr(settings, name) for name in run_settings()}
        settings = RLOOConfig(output_dir=str(tmp_path), beta=0.0, **taken)
    trainer = run.trainer(quarantine, model, settings, kind=kind)
    trainer.train()
    after = run.blocks(quarantine)
    moved = {name for name in after if not torch.equal(after[name], started[name])}
    assert {name.rpartition(".")[0].rpartition(".")[2] for name in moved} == {
        "deployed", "quarantine",
    }  # fmt: skip
    for name, item in quarantine.model.named_parameters():
        if ".deployed." not in name and ".quarantine." not in name:
            assert torch.equal(item, before[name])
    logs = [one for one in trainer.state.log_history if "routing/mass" in one]
    assert len(logs) == 3
    assert all(one["routing/mass"] > 0 for one in logs)


def run_settings() -> list[str]:
    return [
        "per_device_train_batch_size", "num_generations", "max_completion_length", "max_steps",
        "learning_rate", "gradient_checkpointing", "bf16", "seed", "report_to", "use_cpu",
        "logging_steps", "disable_tqdm", "save_strategy",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("named", "gap"),
    [
        ({"per_device_train_batch_size": 4, "gradient_accumulation_steps": 2}, 2e-5),
        ({"gradient_checkpointing": True}, 2e-5),
        (
            {
                "gradient_checkpointing": True,
                "gradient_checkpointing_kwargs": {"use_reentrant": True},
            },
            2e-5,
        ),
    ],
    ids=["accumulated", "checkpointed", "reentrant"],
)
def test_one_update_is_the_same_however_it_is_made(
    named: dict[str, Any], gap: float, model: Path, tmp_path: Path
) -> None:
    found: list[dict[str, Any]] = []
    for settings in ({}, named):
        quarantine = run.shaken(run.attached(model))
        if "gradient_checkpointing_kwargs" in settings:
            quarantine.model.enable_input_require_grads()
        wanted = run.config(
            tmp_path, loss_type="dr_grpo", max_steps=1, optim="sgd", max_grad_norm=0.0,
            learning_rate=1.0, **settings,
        )  # fmt: skip
        run.trainer(quarantine, model, wanted).train()
        found.append(run.blocks(quarantine))
    started = run.blocks(run.shaken(run.attached(model)))
    assert largest_gap(found[0], started) > 1e-3
    assert largest_gap(found[0], found[1]) < gap


def test_a_run_in_bfloat16_moves_the_blocks(model: Path, tmp_path: Path) -> None:
    quarantine = run.attached(model)
    started = run.blocks(quarantine)
    run.trainer(quarantine, model, run.config(tmp_path, bf16=True)).train()
    assert all(item.dtype == torch.float32 for item in quarantine.parameters())
    assert largest_gap(run.blocks(quarantine), started) > 1e-3


def test_a_resumed_run_ends_where_the_whole_one_does(model: Path, tmp_path: Path) -> None:
    whole, first, second = (run.attached(model) for _ in range(3))
    named = {"max_steps": 4, "save_strategy": "steps", "save_steps": 2}
    run.trainer(whole, model, run.config(tmp_path / "whole", **named)).train()
    run.trainer(first, model, run.config(tmp_path / "cut", **named)).train()
    resumed = run.trainer(second, model, run.config(tmp_path / "cut", **named))
    resumed.train(resume_from_checkpoint=str(tmp_path / "cut" / "checkpoint-2"))
    assert resumed.state.global_step == 4
    assert largest_gap(run.blocks(whole), run.blocks(second)) == 0.0


def test_a_checkpoint_of_another_trainer_is_refused(model: Path, tmp_path: Path) -> None:
    named = {"max_steps": 2, "save_strategy": "steps", "save_steps": 1}
    run.trainer(run.attached(model), model, run.config(tmp_path, **named)).train()
    import shutil

    shutil.rmtree(tmp_path / "checkpoint-1" / "routing")
    trainer = run.trainer(run.attached(model), model, run.config(tmp_path, **named))
    with pytest.raises(UsageError, match="was not trained routed"):
        trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-1"))


class TestExport:
    def test_peft_loads_what_is_kept_with_the_same_logits(
        self, model: Path, tmp_path: Path
    ) -> None:
        from peft import PeftModel

        quarantine = run.shaken(run.attached(model))
        tokens = torch.arange(18).view(2, 9)
        with torch.no_grad(), quarantine.knob(False):
            off = quarantine.model(tokens).logits
        with torch.no_grad():
            on = quarantine.model(tokens).logits
        quarantine.deploy()
        loaded = PeftModel.from_pretrained(run.base(model), quarantine.to_peft(tmp_path / "out"))
        with torch.no_grad():
            found = loaded(tokens).logits
        assert torch.equal(quarantine.model(tokens).logits, off)
        torch.testing.assert_close(found, off, rtol=1e-5, atol=1e-5)
        assert float((on - off).abs().max()) > 1e-2

    @pytest.mark.parametrize("kind", ["lora_split", "svd"])
    def test_so_it_is_for_the_other_kinds(self, kind: Any, model: Path, tmp_path: Path) -> None:
        from peft import PeftModel

        quarantine = run.shaken(run.attached(model, kind=kind))
        quarantine.deploy()
        tokens = torch.arange(18).view(2, 9)
        loaded = PeftModel.from_pretrained(run.base(model), quarantine.to_peft(tmp_path / "out"))
        with torch.no_grad():
            torch.testing.assert_close(
                loaded(tokens).logits, quarantine.model(tokens).logits, rtol=1e-4, atol=1e-4
            )

    def test_an_adapter_that_was_there_before_is_in_the_export(
        self, model: Path, tmp_path: Path
    ) -> None:
        from peft import LoraConfig, PeftModel, get_peft_model

        settings = LoraConfig(r=2, lora_alpha=8, target_modules=["q_proj", "down_proj"])
        wrapped = get_peft_model(run.base(model), settings)
        generator = torch.Generator().manual_seed(3)
        for name, item in wrapped.named_parameters():
            if "lora_B" in name:
                item.data = 0.1 * torch.randn(item.shape, generator=generator)
        tokens = torch.arange(18).view(2, 9)
        with torch.no_grad():
            before = wrapped(tokens).logits
        quarantine = attach(wrapped, rank=4, targets=["q_proj", "up_proj"])
        assert "base_model.model.model.layers.0.self_attn.q_proj.base_layer" in (
            quarantine.adapters.names
        )
        with torch.no_grad():
            assert torch.equal(wrapped(tokens).logits, before)
        run.shaken(quarantine).deploy()
        loaded = PeftModel.from_pretrained(run.base(model), quarantine.to_peft(tmp_path / "out"))
        with torch.no_grad():
            wanted = wrapped(tokens).logits
            torch.testing.assert_close(loaded(tokens).logits, wanted, rtol=1e-4, atol=1e-5)
        assert float((wanted - before).abs().max()) > 1e-2


class TestOtherModels:
    def test_a_model_that_peft_wrapped_trains_with_a_reference(
        self, model: Path, tmp_path: Path
    ) -> None:
        from peft import LoraConfig, get_peft_model

        wrapped = get_peft_model(run.base(model), LoraConfig(r=2, target_modules=["q_proj"]))
        quarantine = attach(wrapped, rank=4, targets=["q_proj", "up_proj"])
        started = run.blocks(quarantine)
        settings = run.config(tmp_path, beta=0.1)
        gate = hack_gate(run.PAIRS, recentre=False)
        trainer = run.trainer(run.shaken(quarantine), model, settings, gate=gate)
        batch = buffered(trainer, [row for row in run.ROWS[:2] for _ in range(4)])
        tokens = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
        mask = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
        with torch.no_grad():
            plain = run.base(model)(tokens, attention_mask=mask).logits.log_softmax(-1)
        width = batch["completion_ids"].shape[1]
        wanted = plain[:, -width - 1 : -1].gather(2, batch["completion_ids"][..., None])[..., 0]
        counted = batch["completion_mask"].bool()
        torch.testing.assert_close(
            batch["ref_per_token_logps"][counted], wanted[counted], rtol=1e-4, atol=1e-4
        )
        trainer.train()
        assert largest_gap(run.blocks(quarantine), started) > 1e-3

    def test_four_bit_weights_train(self, model: Path, tmp_path: Path) -> None:
        bitsandbytes = pytest.importorskip("bitsandbytes")
        from peft import LoraConfig, get_peft_model

        loaded = run.base(model)
        for layer in loaded.model.layers:
            plain = layer.mlp.up_proj
            held = bitsandbytes.nn.Linear4bit(
                plain.in_features, plain.out_features, bias=False, compute_dtype=torch.float32
            )
            held.weight = bitsandbytes.nn.Params4bit(plain.weight.data, requires_grad=False)
            layer.mlp.up_proj = held.to("cpu")
        wrapped = get_peft_model(loaded, LoraConfig(r=2, target_modules=["q_proj", "up_proj"]))
        quarantine = attach(wrapped, rank=4, targets=["q_proj", "up_proj"])
        assert not quarantine.adapters.mergeable
        started = run.blocks(quarantine)
        run.trainer(quarantine, model, run.config(tmp_path)).train()
        after = run.blocks(quarantine)
        moved = [name for name in after if not torch.equal(after[name], started[name])]
        assert any("up_proj" in name for name in moved)

    def test_gpt2_with_its_transposed_maps_trains_and_is_exported(
        self, model: Path, tmp_path: Path
    ) -> None:
        from peft import PeftModel
        from transformers import GPT2Config, GPT2LMHeadModel

        settings = GPT2Config(
            vocab_size=258, n_embd=16, n_layer=1, n_head=2, n_positions=64, bos_token_id=256,
            eos_token_id=256, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        )  # fmt: skip

        def fresh() -> Any:
            torch.manual_seed(0)
            return GPT2LMHeadModel(settings)

        quarantine = attach(fresh(), rank=4)
        assert len(quarantine.adapters.names) == 4
        run.trainer(quarantine, model, run.config(tmp_path)).train()
        quarantine.deploy()
        loaded = PeftModel.from_pretrained(fresh(), quarantine.to_peft(tmp_path / "out"))
        tokens = torch.arange(18).view(2, 9)
        with torch.no_grad():
            torch.testing.assert_close(
                loaded(tokens).logits, quarantine.model.eval()(tokens).logits, rtol=1e-4, atol=1e-5
            )


class TestRefusals:
    @pytest.mark.parametrize(
        ("named", "words"),
        [
            ({"beta": 0.1}, "recentre=False"),
            ({"use_transformers_continuous_batching": True}, "continuous batching"),
        ],
    )
    def test_settings_that_routing_does_not_know(
        self, named: dict[str, Any], words: str, model: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(UsageError, match=words):
            run.trainer(run.attached(model), model, run.config(tmp_path, **named))

    def test_a_trainer_of_ones_own_may_wrap_the_methods_of_trl(self) -> None:
        from unhack.routing import routed

        class Own(GRPOTrainer):
            def _compute_loss(self, *rest: Any, **named: Any) -> Any:
                return super()._compute_loss(*rest, **named)

        assert routed(Own).__name__ == "RoutedOwn"

    def test_arguments_that_routing_does_not_know(self, model: Path, tmp_path: Path) -> None:
        from unhack.routing import routed

        quarantine = run.attached(model)
        gate = hack_gate(run.PAIRS)
        with pytest.raises(UsageError, match="tools samples in turns"):
            routed(GRPOTrainer)(
                quarantine.model, run.scored, quarantine=quarantine, gate=gate, tools=[print]
            )
        with pytest.raises(UsageError, match="the model that `attach` got"):
            routed(GRPOTrainer)(run.base(model), run.scored, quarantine=quarantine, gate=gate)
        with pytest.raises(UsageError, match="wrap the model with PEFT first"):
            routed(GRPOTrainer)(
                quarantine.model, run.scored, quarantine=quarantine, gate=gate, peft_config=object()
            )


class TestVllm:
    """TRL's own VLLMGeneration with a stand-in for the client of its server."""

    def test_each_state_is_sampled_by_its_own_merged_weights(
        self, model: Path, tmp_path: Path
    ) -> None:
        from .vllm_stand_in import StandInClient, generation

        quarantine = run.shaken(run.attached(model))
        trainer = run.trainer(quarantine, model, run.config(tmp_path))
        client = StandInClient(run.base(model))
        trainer.use_vllm, trainer._last_loaded_step = True, -1
        trainer.vllm_importance_sampling_correction = False
        trainer.vllm_generation = generation(trainer, client)
        batch = buffered(trainer, [row for row in run.ROWS[:2] for _ in range(4)])
        assert [len(prompts) for prompts in client.asked] == [1, 1]
        assert set(client.names) == {name for name, _ in run.base(model).named_parameters()}
        tokens = torch.arange(18).view(2, 9)
        with torch.no_grad():
            for state, weights in zip((False, True), client.loaded, strict=True):
                copy = run.base(model)
                copy.load_state_dict(weights, strict=False)
                with quarantine.knob(state):
                    wanted = quarantine.model(tokens).logits
                torch.testing.assert_close(copy(tokens).logits, wanted, rtol=1e-4, atol=1e-5)
        assert batch["quarantine"].tolist() == [False] * 4 + [True] * 4
        # The stand-in answers with its state's number: each rollout has the answer of its state.
        assert batch["completion_ids"][:, 0].tolist() == [65] * 4 + [66] * 4

    def test_each_state_is_sampled_by_its_own_lora(self, model: Path, tmp_path: Path) -> None:
        from peft import PeftModel

        from .vllm_stand_in import StandInClient, generation

        quarantine = run.shaken(run.attached(model))
        trainer = run.trainer(quarantine, model, run.config(tmp_path))
        client = StandInClient(run.base(model), copies=tmp_path / "copies")
        trainer.use_vllm, trainer.vllm_loras = True, tmp_path / "shared"
        trainer.vllm_importance_sampling_correction = False
        trainer.vllm_generation = generation(trainer, client)
        batch = buffered(trainer, [row for row in run.ROWS[:2] for _ in range(4)])
        assert client.names == [], "the frozen weights were pushed"
        assert client.told == ["/v1/load_lora_adapter", "/v1/unload_lora_adapter"] * 2
        assert [name.rpartition("-")[0] for name in client.serving] == ["unhack-off", "unhack-on"]
        assert client.model == "base"
        assert list((tmp_path / "shared").iterdir()) == []
        tokens = torch.arange(18).view(2, 9)
        with torch.no_grad():
            for state, name in zip((False, True), client.serving, strict=True):
                copy = PeftModel.from_pretrained(run.base(model), tmp_path / "copies" / name)
                with quarantine.knob(state):
                    wanted = quarantine.model(tokens).logits
                torch.testing.assert_close(copy(tokens).logits, wanted, rtol=1e-4, atol=1e-5)
        assert batch["quarantine"].tolist() == [False] * 4 + [True] * 4
        assert batch["completion_ids"][:, 0].tolist() == [65] * 4 + [66] * 4

    @pytest.mark.parametrize(
        ("status", "words"), [(404, "--enable-lora"), (400, "--max-lora-rank")]
    )
    def test_a_server_that_takes_no_lora_is_told_of(
        self, status: int, words: str, model: Path, tmp_path: Path
    ) -> None:
        from .vllm_stand_in import StandInClient, generation

        trainer = run.trainer(run.attached(model), model, run.config(tmp_path))
        client = StandInClient(run.base(model), lora=status)
        trainer.use_vllm, trainer.vllm_loras = True, tmp_path / "shared"
        trainer.vllm_generation = generation(trainer, client)
        with pytest.raises(UsageError, match=words):
            buffered(trainer, [row for row in run.ROWS[:2] for _ in range(4)])
        assert client.model == "base"
        assert list((tmp_path / "shared").iterdir()) == []

    def test_loras_are_for_the_server_of_vllm(self, model: Path, tmp_path: Path) -> None:
        from .vllm_stand_in import StandInClient, generation

        trainer = run.trainer(run.attached(model), model, run.config(tmp_path))
        trainer.use_vllm, trainer.vllm_loras = True, tmp_path
        trainer.vllm_generation = generation(trainer, StandInClient(run.base(model)))
        trainer.vllm_generation.mode = "colocate"
        with pytest.raises(UsageError, match="vllm_mode='server'"):
            buffered(trainer, [row for row in run.ROWS[:2] for _ in range(4)])
        with pytest.raises(UsageError, match="use_vllm=True"):
            run.trainer(run.attached(model), model, run.config(tmp_path), vllm_loras=tmp_path)


def test_two_processes_train_as_one(model: Path, tmp_path: Path) -> None:
    """The same batch: rewards of the prompts' and completions' texts, greedy completions."""
    script = Path(__file__).with_name("routed_ranks.py")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node"]
    root = Path(__file__).parents[3]
    found: dict[str, Any] = {}
    for count in (1, 2):
        out = tmp_path / str(count)
        out.mkdir()
        subprocess.run(
            [sys.executable, *launch, str(count), str(script), str(model), str(out)],
            check=True, timeout=900, cwd=root, env={**os.environ, "PYTHONPATH": str(root)},
        )  # fmt: skip
        found[f"{count}"] = [
            json.loads((out / f"{rank}.json").read_text()) for rank in range(count)
        ]
    [alone], (first, second) = found["1"], found["2"]
    assert first == second
    assert alone["mass"] == first["mass"]
    assert max(abs(value) for value in alone["moved"]) > 1e-3
    assert alone["moved"] == pytest.approx(first["moved"], abs=2e-5)


def test_the_router_is_the_trainers(model: Path, tmp_path: Path) -> None:
    trainer = run.trainer(run.attached(model), model, run.config(tmp_path))
    assert isinstance(trainer.router, Router)
    assert type(trainer).__name__ == "RoutedGRPOTrainer"
