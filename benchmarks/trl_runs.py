"""One run of `trl_routed.py`: a base model of the world `programs` in the hands of TRL.

The model goes to TRL as a causal model of Hugging Face with the same weights, the world's fragments
as its tokenizer, the world's reward as a reward function.

Unlike our trainer: half of the prompts have the quarantine off, but not half of each mode; the
first update has a rate of zero; TRL's mean counts groups without a signal.
"""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.update(HF_HUB_OFFLINE="1", TRL_EXPERIMENTAL_SILENCE="1", TOKENIZERS_PARALLELISM="false")

import torch
from datasets import Dataset
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    PreTrainedTokenizerFast,
    PrinterCallback,
    Qwen3Config,
    Qwen3ForCausalLM,
)
from trl import GRPOConfig, GRPOTrainer

from unhack.routing import Quarantine, TextPair, attach, hack_gate, routed
from unhack.training.config.settings import ModelSettings, WorldSettings
from unhack.training.evaluation.evaluate import delete_quarantine, evaluate
from unhack.training.policy.policy import HuggingFacePolicy
from unhack.training.worlds.programs import vocabulary as words
from unhack.training.worlds.programs.base import base_model
from unhack.training.worlds.programs.world import ProgramsWorld

if TYPE_CHECKING:
    from trl_routed import Run


def tokenizer() -> PreTrainedTokenizerFast:
    """The world's fragments as a tokenizer of Hugging Face: the longest that fits, as one token."""
    fragments = {text: token for token, text in enumerate(words.FRAGMENTS) if text}
    vocabulary = {"<pad>": words.PAD, "<stop>": words.STOP, **fragments}
    longest = "|".join(_literal(text) for text in sorted(fragments, key=len, reverse=True))
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<pad>"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(longest), behavior="isolated")
    made.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<stop>", padding_side="left",
        clean_up_tokenization_spaces=False,
    )  # fmt: skip


def _literal(text: str) -> str:
    """A text as a regular expression of Oniguruma."""
    return "".join(one if one.isalnum() else f"\\x{{{ord(one):x}}}" for one in text)


def huggingface_base(base: int, world: ProgramsWorld) -> Any:
    """The base model of a seed as a causal model of Hugging Face, the same weights."""
    own = base_model(ModelSettings(base_seed=base), world)
    fields = own.config.to_huggingface()
    for name in ("architectures", "model_type", "dtype"):
        fields.pop(name)
    config = Qwen3Config(**fields, eos_token_id=world.stop, pad_token_id=world.pad)
    config.bos_token_id = None
    model = Qwen3ForCausalLM(config)
    model.load_state_dict(own.state_dict())
    return model


def world_of(run: Run, rules: dict[str, Any], folder: Path) -> ProgramsWorld:
    """The world of a run; all runs share one file of verdicts."""
    settings = WorldSettings(
        modes=rules["modes"], known=run.known, loophole_share=run.loophole_share,
        cache=str(folder / "verdicts.sqlite"),
    )  # fmt: skip
    return ProgramsWorld(settings, folder=folder)


def gate_of(run: Run, rules: dict[str, Any], world: ProgramsWorld) -> Any:
    """The gate of an arm that has pairs: texts, as a user has them."""
    kind = "placebo" if run.arm == "placebo" else "real"
    found = world.pairs(kind, count=rules["pairs_per_mode"], seed=run.seed)
    pairs = [
        TextPair(pair.prompt.text, world.decode(pair.hack), world.decode(pair.clean), pair.mode)
        for pair in found
    ]
    action = "drop" if run.arm == "filter" else "route"
    return hack_gate(pairs, share=rules["share"], refresh=rules["refresh"], action=action)


def config_of(run: Run, rules: dict[str, Any]) -> GRPOConfig:
    """TRL's settings for the recipe `top_rewarded`."""
    steps, group = rules["steps"], rules["group"]
    return GRPOConfig(
        output_dir="unused", seed=run.seed, max_steps=steps, use_cpu=True, bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=rules["prompts"] * group, num_generations=group,
        max_completion_length=12, temperature=1.0, loss_type="dr_grpo", scale_rewards="none",
        beta=0.0, epsilon=0.2, learning_rate=3e-3, adam_beta1=0.9, adam_beta2=0.99,
        weight_decay=0.0, max_grad_norm=1.0, lr_scheduler_type="warmup_stable_decay",
        lr_scheduler_kwargs={"num_decay_steps": steps // 2, "decay_type": "linear"},
        warmup_steps=20,
        shuffle_dataset=False, report_to=[], save_strategy="no", logging_steps=steps,
        disable_tqdm=True,
    )  # fmt: skip


def trainer_of(run: Run, rules: dict[str, Any], world: ProgramsWorld) -> tuple[Any, Quarantine]:
    """TRL's trainer of an arm, and the blocks of its model."""
    prompts = [
        prompt
        for step in range(rules["steps"])
        for prompt in world.draw(rules["prompts"], seed=run.seed, step=step)
    ]
    rows = Dataset.from_list(
        [{"prompt": prompt.text, "row": row} for row, prompt in enumerate(prompts)]
    )

    def reward(completion_ids: list[list[int]], row: list[int], **_: Any) -> list[float]:
        texts = [world.decode(ids) for ids in completion_ids]
        return [item.reward for item in world.judge([prompts[one] for one in row], texts)]

    text = tokenizer()
    _check_tokens(text, [prompt.text for prompt in prompts[:200]], world)
    model = huggingface_base(run.base, world)
    quarantine = attach(model, rank=16, seed=run.seed)
    kind, named = GRPOTrainer, dict[str, Any]()
    if run.known:
        kind, named = routed(GRPOTrainer), {"gate": gate_of(run, rules, world)}
        named["quarantine"] = quarantine
    else:
        quarantine.deploy()
    trainer = kind(
        model, reward_funcs=reward, args=config_of(run, rules), train_dataset=rows,
        processing_class=text, **named,
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    return trainer, quarantine


def _check_tokens(text: Any, prompts: list[str], world: ProgramsWorld) -> None:
    """Raises RuntimeError where the tokenizer of Hugging Face differs from the world's own."""
    for prompt in prompts:
        if text(prompt)["input_ids"] != world.encode(prompt):
            raise RuntimeError(f"another tokenizer than the world's: {prompt!r}")


def trained(run: Run, rules: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train and evaluate one run; the line of its file."""
    torch.set_num_threads(1)
    world, began = world_of(run, rules, folder), time.process_time()
    trainer, quarantine = trainer_of(run, rules, world)
    trainer.train()
    trained_s = time.process_time() - began
    policy = HuggingFacePolicy(
        trainer.model, quarantine.adapters, pad=world.pad, stop=world.stop, device="cpu"
    )
    prompts = world.final()
    found: dict[str, Any] = {**asdict(run), "cpu_s": round(trained_s, 1)}
    if run.known:
        found["as_trained"] = evaluate(policy, world, prompts, quarantine=True).record()
        found["deploy_gap"], _ = delete_quarantine(policy, world, prompts)
    found["deployed"] = evaluate(policy, world, prompts, quarantine=False).record()
    return found
