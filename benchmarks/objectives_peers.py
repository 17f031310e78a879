"""What TRL's and verl's own functions answer on recorded inputs, for the tests of our objectives.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install torch==2.13.0
    /tmp/peers/bin/pip install trl==1.16.0 torch==2.13.0
    /tmp/peers/bin/pip install --no-deps verl==0.9.1 omegaconf tensordict \
        antlr4-python3-runtime==4.9.3 cloudpickle orjson importlib_metadata zipp pyvers
    /tmp/peers/bin/python benchmarks/objectives_peers.py

writes `tests/unit/training/objectives/objectives_peers.json`: inputs, and for each case
the peer's loss with its gradient by the log-probabilities. It imports nothing of this project.
Numbers are float64, so that a difference of 1e-6 is a difference of formulas.

verl's algorithms are one module; its packages pull in Ray on import, so bare packages stand in for
them and its settings objects are replaced by objects with the same fields. TRL's losses are methods
of trainers: real, tiny trainers are made, and only the forward pass that gives log-probabilities is
replaced by the recorded ones.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

OUT = (
    Path(__file__).resolve().parents[1]
    / "tests"
    / "unit"
    / "training"
    / "objectives"
    / "objectives_peers.json"
)
PROMPTS, GROUP, LENGTH = 3, 4, 6
LENGTHS = (6, 3, 1, 5, 2, 6, 4, 4, 3, 6, 5, 2)
REWARDS = (1.0, 0.0, 0.0, 1.0, 0.25, 0.5, 0.0, 1.0, 0.5, 0.5, 0.5, 0.5)
FAR = 1e9
"""A bound that is never reached."""


def inputs() -> dict[str, Tensor]:
    """Recorded draws. Ratios spread to both sides of every bound that the cases use."""
    rng = np.random.default_rng(5)
    shape = (PROMPTS * GROUP, LENGTH)
    mask = np.arange(LENGTH)[None, :] < np.array(LENGTHS)[:, None]
    logprobs = -np.exp(rng.normal(-0.5, 0.8, shape))
    drawn = {
        "logprobs_B_T": logprobs,
        "old_B_T": np.minimum(logprobs + rng.normal(0.0, 0.6, shape), -1e-3),
        "reference_B_T": np.minimum(logprobs + rng.normal(0.0, 0.4, shape), -1e-3),
        "advantages_B": rng.normal(0.0, 1.0, shape[0]),
        "token_rewards_B_T": rng.normal(0.0, 1.0, shape) * mask,
        "values_B_T": rng.normal(0.0, 1.0, shape),
        "old_values_B_T": rng.normal(0.0, 1.0, shape),
        "returns_B_T": rng.normal(0.0, 1.0, shape),
        "terms_B_T": rng.normal(0.0, 1.0, shape),
        "logits_B_V": rng.normal(0.0, 2.0, (shape[0], 9)),
        "chosen_B": rng.normal(-8.0, 3.0, 6),
        "rejected_B": rng.normal(-8.0, 3.0, 6),
        "reference_chosen_B": rng.normal(-8.0, 3.0, 6),
        "reference_rejected_B": rng.normal(-8.0, 3.0, 6),
    }
    tensors = {name: torch.tensor(array, dtype=torch.float64) for name, array in drawn.items()}
    tensors["rewards_B"] = torch.tensor(REWARDS, dtype=torch.float64)
    tensors["mask_B_T"] = torch.tensor(mask)
    return tensors


def with_gradient(loss: Callable[[Tensor], Tensor], logprobs_B_T: Tensor) -> dict[str, Any]:
    """A loss and its gradient at recorded log-probabilities."""
    leaf = logprobs_B_T.clone().requires_grad_(True)
    value = loss(leaf)
    value.backward()
    assert leaf.grad is not None
    return {"loss": value.item(), "gradient_B_T": leaf.grad.tolist()}


@dataclass
class Actor:
    """The fields of verl's actor settings that its losses read."""

    clip_ratio: float = 0.2
    clip_ratio_low: float | None = None
    clip_ratio_high: float | None = None
    clip_ratio_c: float = FAR
    global_batch_info: dict[str, Any] = field(default_factory=dict)

    def get(self, name: str, default: Any) -> Any:
        return getattr(self, name, default)


def verl_algorithms() -> tuple[Any, Any]:
    """(core_algos, torch_functional) of verl without its packages' imports."""
    spec = importlib.util.find_spec("verl")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    for name in ("verl", "verl.utils", "verl.trainer", "verl.trainer.ppo"):
        package = ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    settings = {"verl.trainer.config": "AlgoConfig", "verl.workers.config": "ActorConfig"}
    for name, kind in settings.items():
        sys.modules[name] = ModuleType(name)
        setattr(sys.modules[name], kind, Actor if kind == "ActorConfig" else type(kind, (), {}))
    sys.modules["verl.workers"] = ModuleType("verl.workers")
    groupwise = importlib.import_module("verl.utils.groupwise")
    sys.modules["verl.utils"].as_torch_index = groupwise.as_torch_index  # type: ignore[attr-defined]
    sys.modules["verl.utils"].group_mean_std = groupwise.group_mean_std  # type: ignore[attr-defined]
    functional = importlib.import_module("verl.utils.torch_functional")
    return importlib.import_module("verl.trainer.ppo.core_algos"), functional


def verl_cases(given: dict[str, Tensor]) -> dict[str, Any]:
    """Every function of verl that has a counterpart here."""
    core, functional = verl_algorithms()
    mask = given["mask_B_T"].double()
    index = np.repeat(np.arange(PROMPTS), GROUP)
    outcome = torch.zeros_like(mask)
    outcome[:, 0] = given["rewards_B"]
    cases: dict[str, Any] = {
        "advantages": {
            "grpo": core.compute_grpo_outcome_advantage(outcome, mask, index)[0],
            "dr_grpo": core.compute_grpo_outcome_advantage(
                outcome, mask, index, norm_adv_by_std_in_grpo=False
            )[0],
            "rloo": core.compute_rloo_outcome_advantage(outcome, mask, index)[0],
            "rloo_vectorized": core.compute_rloo_vectorized_outcome_advantage(outcome, mask, index)[
                0
            ],
        },
    }
    cases["advantages"] = {name: item[:, 0].tolist() for name, item in cases["advantages"].items()}
    whitened, returns = core.compute_gae_advantage_return(
        given["token_rewards_B_T"], given["values_B_T"], mask, 0.99, 0.95
    )
    cases["gae"] = {"advantages_B_T": whitened.tolist(), "returns_B_T": returns.tolist()}
    value, _ = core.compute_value_loss(
        given["values_B_T"], given["returns_B_T"], given["old_values_B_T"], mask, 0.5
    )
    cases["value_loss"] = value.item()
    cases["entropy_B"] = functional.entropy_from_logits(given["logits_B_V"]).tolist()
    cases["kl"] = {
        name: core.kl_penalty(given["logprobs_B_T"], given["reference_B_T"], name).tolist()
        for name in ("k1", "k2", "k3")
    }
    modes = ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm")
    cases["aggregation"] = {
        mode: core.agg_loss(given["terms_B_T"], mask, mode).item() for mode in modes
    }
    cases["loss"] = _verl_losses(core, given, mask)
    return cases


def _verl_losses(core: Any, given: dict[str, Tensor], mask: Tensor) -> dict[str, Any]:
    advantages_B_T = given["advantages_B"].unsqueeze(1) * mask
    runs = {
        "clip": ("vanilla", "seq-mean-token-mean", Actor()),
        "clip_higher": (
            "vanilla", "token-mean", Actor(clip_ratio_low=0.2, clip_ratio_high=0.28)
        ),
        "dual_clip": ("vanilla", "token-mean", Actor(clip_ratio_c=1.5)),
        "gspo": (
            "gspo", "seq-mean-token-mean", Actor(clip_ratio_low=0.1, clip_ratio_high=0.15)
        ),
        "cispo": ("cispo", "token-mean", Actor(clip_ratio_low=1.0, clip_ratio_high=0.6)),
        "dppo_tv": ("dppo_tv", "token-mean", Actor(clip_ratio=0.15)),
        "dppo_tv_capped": ("dppo_tv", "token-mean", Actor(clip_ratio=0.15, clip_ratio_c=1.2)),
        "dppo_kl": ("dppo_kl", "token-mean", Actor(clip_ratio=0.05)),
    }  # fmt: skip

    def run(name: str, mode: str, actor: Actor) -> dict[str, Any]:
        function = core.get_policy_loss_fn(name)
        return with_gradient(
            lambda leaf: function(
                old_log_prob=given["old_B_T"], log_prob=leaf, advantages=advantages_B_T,
                response_mask=mask, loss_agg_mode=mode, config=actor,
            )[0],
            given["logprobs_B_T"],
        )  # fmt: skip

    return {label: run(*arguments) for label, arguments in runs.items()}


def tiny_parts() -> tuple[Any, Any, Any]:
    """(model, tokenizer, data) on which trainers can be built without a network."""
    from datasets import Dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    words = {word: number for number, word in enumerate(["<pad>", "<eos>", *"abcdefgh"])}
    inner = Tokenizer(models.WordLevel(words, unk_token="<pad>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="<eos>", padding_side="left"
    )
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(words), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
            num_attention_heads=2, num_key_value_heads=1, head_dim=8, pad_token_id=0,
            eos_token_id=1, bos_token_id=0,
        )
    )  # fmt: skip
    rows = ["a b", "c d", "e f"]
    return model, tokenizer, Dataset.from_dict({"prompt": rows})


def _grpo_trainer(kind: str, folder: str) -> Any:
    import trl

    model, tokenizer, data = tiny_parts()
    config, trainer = {
        "grpo": (trl.GRPOConfig, trl.GRPOTrainer), "rloo": (trl.RLOOConfig, trl.RLOOTrainer),
    }[kind]  # fmt: skip
    return trainer(
        model=model,
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=config(
            output_dir=folder, per_device_train_batch_size=PROMPTS * GROUP, num_generations=GROUP,
            max_completion_length=LENGTH, use_cpu=True, bf16=False, report_to=[], beta=0.0,
        ),
        train_dataset=data,
        processing_class=tokenizer,
    )  # fmt: skip


def _trl_batch(given: dict[str, Tensor]) -> dict[str, Any]:
    rows = PROMPTS * GROUP
    return {
        "prompt_ids": torch.ones(rows, 2, dtype=torch.long),
        "prompt_mask": torch.ones(rows, 2, dtype=torch.long),
        "completion_ids": torch.ones(rows, LENGTH, dtype=torch.long),
        "completion_mask": given["mask_B_T"].long(),
        "advantages": given["advantages_B"],
        "old_per_token_logps": given["old_B_T"],
        "ref_per_token_logps": given["reference_B_T"],
        "num_items_in_batch": given["mask_B_T"].sum(),
    }


def _recorded(trainer: Any, batch: dict[str, Any], logprobs_B_T: Tensor) -> dict[str, Any]:
    """The trainer's own loss, with its forward pass answered by recorded log-probabilities."""

    def loss(leaf: Tensor) -> Tensor:
        trainer._get_per_token_logps_and_entropies = lambda *_, **__: (
            leaf, torch.zeros_like(leaf), None
        )  # fmt: skip
        return trainer._compute_loss(trainer.model, batch)

    return with_gradient(loss, logprobs_B_T)


def _trl_losses(given: dict[str, Tensor], folder: str) -> dict[str, Any]:
    trainer = _grpo_trainer("grpo", folder)
    trainer.current_gradient_accumulation_steps = trainer.args.steps_per_generation = 1
    batch, found = _trl_batch(given), {}
    runs = {
        "grpo": {"loss_type": "grpo"},
        "grpo_kl": {"loss_type": "grpo", "beta": 0.04},
        "grpo_kl_weighted": {"loss_type": "grpo", "beta": 0.04, "use_bias_correction_kl": True},
        "dapo": {"loss_type": "dapo", "epsilon_high": 0.28},
        "dual_clip": {"loss_type": "dapo", "delta": 1.5},
        "dr_grpo": {"loss_type": "dr_grpo"},
        "gspo": {
            "loss_type": "grpo", "importance_sampling_level": "sequence", "epsilon_low": 0.1,
            "epsilon_high": 0.15,
        },
        "cispo": {"loss_type": "cispo", "epsilon_high": 1.6},
    }  # fmt: skip
    usual = {
        "loss_type": "grpo", "beta": 0.0, "epsilon_low": 0.2, "epsilon_high": 0.2,
        "importance_sampling_level": "token", "use_bias_correction_kl": False, "delta": None,
    }  # fmt: skip
    for label, changes in runs.items():
        for name, value in {**usual, **changes}.items():
            owner = trainer.args if name in ("use_bias_correction_kl", "delta") else trainer
            assert hasattr(owner, name), name
            setattr(owner, name, value)
        found[label] = _recorded(trainer, batch, given["logprobs_B_T"])
    rloo = _grpo_trainer("rloo", folder)
    batch["old_logps"] = (given["logprobs_B_T"] * given["mask_B_T"]).sum(1)
    found["rloo_on_policy"] = _recorded(rloo, batch, given["logprobs_B_T"])
    return found


def _trl_advantages(given: dict[str, Tensor], folder: str) -> dict[str, Any]:
    """What the trainers make of recorded rewards, with real generation around it."""
    prompts = [{"prompt": text} for text in ("a b", "c d", "e f") for _ in range(GROUP)]
    found = {}
    for label, kind, scale in (
        ("group", "grpo", "group"), ("none", "grpo", "none"), ("batch", "grpo", "batch"),
        ("rloo", "rloo", ""),
    ):  # fmt: skip
        trainer = _grpo_trainer(kind, folder)
        trainer.scale_rewards = scale
        trainer._calculate_rewards = lambda *_: given["rewards_B"].unsqueeze(1)
        found[label] = trainer._generate_and_score_completions(prompts)["advantages"].tolist()
    return found


def _trl_dpo(given: dict[str, Tensor], folder: str) -> dict[str, Any]:
    import trl
    from datasets import Dataset

    model, tokenizer, _ = tiny_parts()
    data = Dataset.from_dict({"prompt": ["a b"], "chosen": [" c"], "rejected": [" d"]})
    trainer = trl.DPOTrainer(
        model=model,
        ref_model=tiny_parts()[0],
        args=trl.DPOConfig(output_dir=folder, use_cpu=True, bf16=False, report_to=[], beta=0.1),
        train_dataset=data,
        processing_class=tokenizer,
    )
    trainer.precompute_ref_logps = True
    both = torch.cat([given["chosen_B"], given["rejected_B"]])
    rows = len(both)
    batch = {
        "input_ids": torch.ones(rows, 2, dtype=torch.long),
        "attention_mask": torch.ones(rows, 2, dtype=torch.long),
        "completion_mask": torch.tensor([[0, 1]] * rows),
        "ref_chosen_logps": given["reference_chosen_B"],
        "ref_rejected_logps": given["reference_rejected_B"],
    }

    def loss(leaf: Tensor) -> Tensor:
        def forward(**_: Any) -> SimpleNamespace:
            zeros = torch.zeros(rows, 1)
            return SimpleNamespace(
                log_probs=leaf.unsqueeze(1), entropy=zeros, mean_logits=zeros, is_top1=zeros.bool()
            )

        return trainer._compute_loss(forward, dict(batch), False)

    return with_gradient(loss, both)


def trl_cases(given: dict[str, Tensor]) -> dict[str, Any]:
    """Every loss, advantage and reward of TRL that has a counterpart here."""
    from trl.rewards import get_soft_overlong_punishment

    with tempfile.TemporaryDirectory() as folder:
        lengths = list(range(26))
        punish = get_soft_overlong_punishment(20, 5)
        return {
            "loss": _trl_losses(given, folder),
            "advantages": _trl_advantages(given, folder),
            "dpo": _trl_dpo(given, folder),
            "soft_overlong": {
                "lengths": lengths,
                "penalties": punish([[1] * length for length in lengths]),
            },
        }


def main() -> int:
    """Run both peers and write the file."""
    os.environ.update(HF_HUB_OFFLINE="1", TRL_EXPERIMENTAL_SILENCE="1")
    torch.set_num_threads(1)
    given = inputs()
    record = {
        "versions": {name: version(name) for name in ("torch", "trl", "verl", "transformers")},
        "group": GROUP,
        "max_new": LENGTH,
        "inputs": {name: item.tolist() for name, item in given.items()},
        "trl": trl_cases(given),
        "verl": verl_cases(given),
    }
    OUT.write_text(json.dumps(record, separators=(",", ":")).replace('},"', '},\n"') + "\n")
    print(f"{OUT}: {OUT.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
