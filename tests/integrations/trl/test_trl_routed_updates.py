"""What an update of a routed TRL trainer is made of: prompts, their numbers, their rewards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from unhack.core.errors import UsageError

pytest.importorskip("trl")

from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

from unhack.routing import attach, hack_gate, routed

from . import routed_run as run

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def recorded(trainer: Any) -> list[tuple[int, dict[int, set[str]]]]:
    """By backward pass: its update, and the prompts of each number that the router is given."""
    found: list[tuple[int, dict[int, set[str]]]] = []
    loss = trainer._compute_loss

    def spied(model: Any, inputs: Any) -> Any:
        seen: dict[int, set[str]] = {}
        texts = trainer.processing_class.batch_decode(inputs["prompt_ids"])
        for number, text in zip(inputs["group"].tolist(), texts, strict=True):
            seen.setdefault(number, set()).add(text)
        found.append((trainer.state.global_step, seen))
        return loss(model, inputs)

    trainer._compute_loss = spied
    return found


@pytest.mark.parametrize(
    "named",
    [
        {"gradient_accumulation_steps": 2, "steps_per_generation": 1},
        {"gradient_accumulation_steps": 4, "steps_per_generation": 2, "num_iterations": 2},
        {"gradient_accumulation_steps": 3, "steps_per_generation": 1, "num_generations": 2},
        {"gradient_accumulation_steps": 1, "steps_per_generation": 4},
    ],
    ids=["two batches", "each twice", "three batches", "a part of a batch"],
)
def test_a_number_stands_for_one_prompt_in_an_update(
    named: dict[str, Any], model: Path, tmp_path: Path
) -> None:
    settings = {"per_device_train_batch_size": 4, "max_steps": 3, **named}
    trainer = run.trainer(run.attached(model), model, run.config(tmp_path, **settings))
    passes = recorded(trainer)
    trainer.train()
    assert {step for step, _ in passes} == {0, 1, 2}
    for update in range(3):
        prompts: dict[int, set[str]] = {}
        for step, seen in passes:
            if step == update:
                for number, texts in seen.items():
                    prompts.setdefault(number, set()).update(texts)
        assert all(len(texts) == 1 for texts in prompts.values())
        assert len(prompts) == len(set.union(*prompts.values()))


@pytest.mark.parametrize("kind", ["grpo", "rloo"])
def test_flat_prompts_of_a_fractional_reward_are_not_rewarded(
    kind: str, model: Path, tmp_path: Path
) -> None:
    """Groups of eight, of which one is paid .7 throughout: TRL's mean of these is not .7."""
    trainer = trainer_of(kind, model, tmp_path, rewards=[0.7] * 8 + [0.7] * 3 + [0.0] * 5)
    found = run_batch(trainer, groups=2)
    if kind == "grpo":
        assert found["advantages"][:8].abs().max() > 0
    assert not found["signal"][:8].any()
    assert torch.equal(found["signal"][8:], found["advantages"][8:])


def test_rewards_of_two_functions_are_summed_before_they_are_compared(
    model: Path, tmp_path: Path
) -> None:
    first = [0.1, 0.7] * 8
    second = [0.6, 0.0] * 7 + [0.9, None]
    trainer = trainer_of("grpo", model, tmp_path, rewards=first, more=second)
    found = run_batch(trainer, groups=2)
    assert found["advantages"][:8].abs().max() > 0
    assert not found["signal"][:8].any()
    assert torch.equal(found["signal"][8:], found["advantages"][8:])


def test_an_infinite_reward_is_named_and_an_absent_one_is_none(model: Path, tmp_path: Path) -> None:
    rewards = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, float("inf"), 1.0]
    trainer = trainer_of("grpo", model, tmp_path, rewards=rewards, generations=4)
    started = run.blocks(trainer.quarantine)
    said = r"paid gave rollout 6 the reward inf \(prompt 1: 'Say \d+\.'\).*or None"
    with pytest.raises(UsageError, match=said):
        trainer.train()
    assert all(
        torch.equal(started[name], one) for name, one in run.blocks(trainer.quarantine).items()
    )
    rewards[6] = None
    found = run_batch(trainer, groups=2, generations=4)
    assert found["signal"][6] == 0
    assert bool(found["signal"].isfinite().all())


def trainer_of(
    kind: str, model: Path, folder: Path, *, rewards: list[Any], more: list[Any] | None = None,
    generations: int = 8,
) -> Any:  # fmt: skip
    """A routed trainer whose functions pay what is listed."""

    def paid(completions: list[str], **_: Any) -> list[Any]:
        return list(rewards[: len(completions)])

    def also(completions: list[str], **_: Any) -> list[Any]:
        return list((more or [])[: len(completions)])

    settings = {"grpo": GRPOConfig, "rloo": RLOOConfig}[kind](
        output_dir=str(folder), per_device_train_batch_size=len(rewards), max_steps=1,
        num_generations=generations, max_completion_length=4, bf16=False, use_cpu=True,
        report_to=[], gradient_checkpointing=False, save_strategy="no", disable_tqdm=True, beta=0.0,
    )  # fmt: skip
    quarantine = run.attached(model)
    return routed({"grpo": GRPOTrainer, "rloo": RLOOTrainer}[kind])(
        quarantine.model,
        reward_funcs=[paid] if more is None else [paid, also],
        args=settings,
        train_dataset=Dataset.from_list(run.ROWS),
        processing_class=AutoTokenizer.from_pretrained(model),
        quarantine=quarantine,
        gate=hack_gate(run.PAIRS),
    )


def run_batch(trainer: Any, *, groups: int, generations: int = 8) -> dict[str, Any]:
    """A scored batch as the trainer's loss takes it."""
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    rows = [row for row in run.ROWS[:groups] for _ in range(generations)]
    return trainer._generate_and_score_completions(rows)


@pytest.mark.parametrize("deployed", [True, False])
def test_save_model_writes_what_is_kept_and_checkpoints_go_on(
    deployed: bool, model: Path, tmp_path: Path
) -> None:
    quarantine = run.attached(model)
    named = {"max_steps": 2, "save_strategy": "steps", "save_steps": 1}
    trainer = run.trainer(quarantine, model, run.config(tmp_path, **named))
    trainer.train()
    assert (tmp_path / "checkpoint-1" / "routing").is_dir()
    tokens = torch.arange(18).view(2, 9)
    quarantine.model.eval()
    with torch.no_grad(), quarantine.knob(False):
        wanted = quarantine.model(tokens).logits
    if deployed:
        quarantine.deploy()
    trainer.save_model(str(tmp_path / "out"))
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "out").eval()
    with torch.no_grad():
        torch.testing.assert_close(loaded(tokens).logits, wanted, rtol=1e-4, atol=1e-5)
        assert float((wanted - run.base(model)(tokens).logits).abs().max()) > 1e-3
    assert AutoTokenizer.from_pretrained(tmp_path / "out").eos_token is not None
    if not deployed:
        resumed = run.trainer(run.attached(model), model, run.config(tmp_path, **named))
        resumed.train(resume_from_checkpoint=str(tmp_path / "checkpoint-1"))


def test_a_model_that_peft_wrapped_is_never_written_without_its_block(
    model: Path, tmp_path: Path
) -> None:
    from peft import LoraConfig, get_peft_model

    wrapped = get_peft_model(run.base(model), LoraConfig(r=2, target_modules=["q_proj"]))
    quarantine = run.shaken(attach(wrapped, rank=4, targets=["q_proj", "up_proj"]))
    tokens = torch.arange(18).view(2, 9)
    with torch.no_grad(), quarantine.knob(False):
        wanted = wrapped.eval()(tokens).logits
    with pytest.raises(UsageError, match="`to_peft` writes its LoRA and the block"):
        quarantine.save(tmp_path / "out")
    quarantine.merge()
    with pytest.raises(UsageError, match=r"merge_and_unload\(\), and save what that gives"):
        wrapped.save_pretrained(tmp_path / "out")
    wrapped.merge_and_unload().save_pretrained(tmp_path / "out")
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "out").eval()
    with torch.no_grad():
        torch.testing.assert_close(loaded(tokens).logits, wanted, rtol=1e-4, atol=1e-5)
